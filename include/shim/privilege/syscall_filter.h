/*
 * The system calls that a container's seccomp filter lets through (linux.seccomp: runtime-spec,
 * config-linux.md).
 *
 * The filter is built with libseccomp, as the runtimes build it, but only from the parts about the
 * calls in question, and all paths through the program are followed (bpf.h), on each of its
 * architectures. A call counts as allowed if one path does not end in a refusal: SCMP_ACT_TRACE
 * asks a tracer, which may be in the container, and SCMP_ACT_NOTIFY a program that the filter's
 * author chose.
 */
#ifndef SHIM_SYSCALL_FILTER_H
#define SHIM_SYSCALL_FILTER_H

#include "base/json/json.h"

/* Returns true for a name of a system call on some architecture. */
bool syscall_filter_knows(const char *name);

/* Returns true if the filter forbids nothing: it is missing, or everything in it allows. */
bool syscall_filter_is_empty(const struct json *filter);

/*
 * Appends those of `names` that the filter allows, such as "mount, bpf". ERR_FORMAT for a filter
 * that cannot be built.
 */
int syscall_filter_allowed(const struct json *filter, const char *const *names, size_t count,
                           struct buf *out, struct err *err) must_check;

/*
 * Returns true if the filter lets processes without capabilities make user namespaces, or enter
 * others (unshare, clone, clone3, setns): true as well for one that cannot be built.
 */
bool syscall_filter_makes_namespaces(const struct json *filter);

/*
 * Returns the name of a system call that the filter skips while the low-level runtime takes it for
 * done, or NULL: SCMP_ACT_ERRNO with the error number 0, and with EINVAL for prctl(2). A container
 * that is not limited by no_new_privileges gets its filter before the runtime gives up its rights
 * (runc, crun): one that fakes setuid(2), capset(2) or PR_CAPBSET_DROP leaves root, or
 * capabilities, to the container.
 */
const char *syscall_filter_faked(const struct json *filter);

#endif
