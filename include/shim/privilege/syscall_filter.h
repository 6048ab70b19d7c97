/*
 * What a container's seccomp filter (linux.seccomp: runtime-spec, config-linux.md) lets through.
 *
 * The filter is built with libseccomp, as the runtimes do it, but only as far as it says something
 * about the calls that are asked for, and all ways through its program are followed (shim/bpf.h),
 * on each of its architectures. A call counts as allowed if one of them does not end in a refusal:
 * SCMP_ACT_TRACE asks a tracer, which may be in the container, and SCMP_ACT_NOTIFY a program of
 * whoever wrote the filter.
 */
#ifndef SHIM_SYSCALL_FILTER_H
#define SHIM_SYSCALL_FILTER_H

#include "base/json/json.h"

/* True for a name of a system call on some architecture. */
bool syscall_filter_knows(const char *name);

/* True if it forbids nothing: it is missing, or everything in it allows. */
bool syscall_filter_is_empty(const struct json *filter);

/*
 * Appends those of `names` that it allows, "mount, bpf". A filter that cannot be built is
 * ERR_FORMAT.
 */
int syscall_filter_allowed(const struct json *filter, const char *const *names, size_t count,
                           struct buf *out, struct err *err) must_check;

#endif
