/*
 * Priorities by which a container's processes run, or reach disks, before all others of the host
 * (sched(7), ioprio_set(2), getrlimit(2); the kernel's admin-guide/cgroup-v2, io.prio.class), and
 * processors (cpuset.cpus.partition and .exclusive there) and parts of their cache (the kernel's
 * resctrl) that others do without. Only root may set them, and a low-level runtime does so for the
 * container. Pure.
 */
#ifndef SHIM_REALTIME_H
#define SHIM_REALTIME_H

#include "base/buf.h"
#include "base/json/json.h"

/*
 * Appends what a process of config.json, or of an exec, asks for: "RLIMIT_RTPRIO (--ulimit rtprio),
 * process.scheduler". A value that is not understood counts as the highest. Nothing for a NULL or
 * for ordinary priorities.
 */
void realtime_print_process(const struct json *process, struct buf *out);

/* As realtime_print_process, for `linux` of config.json: its cgroup, and its class in resctrl. */
void realtime_print_linux(const struct json *linux_part, struct buf *out);

/* As realtime_print_process, for `linux.resources` of config.json, or the file of an update. */
void realtime_print_resources(const struct json *resources, struct buf *out);

#endif
