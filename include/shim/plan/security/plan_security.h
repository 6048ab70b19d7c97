/* Judges what a container would be on the host, by the policy's "security". */
#ifndef SHIM_PLAN_SECURITY_H
#define SHIM_PLAN_SECURITY_H

#include "shim/plan/operation/plan_build.h"

/* Returns a key of the policy that keeps containers from the host, and its place; NULL: none. */
const char *security_judge(const struct policy *policy, const struct policy_place **place);

/* Adds an operation for each thing that is denied or taken away. Fails only without memory. */
int plan_add_security(struct planner *p) must_check;

/*
 * Returns true for a device that engines give to every container, that "devices" allows, or that
 * "gpus" judges. -1 is any number.
 */
bool plan_allows_device(const struct planner *p, bool block, int64_t major, int64_t minor);

/*
 * Denies annotations that the policy denies, and those by which runc or crun would replace what the
 * policy judges, also without "security". Fails only without memory.
 */
int plan_add_annotations(struct planner *p) must_check;

/*
 * Denies a linux.cgroupsPath that is the root of the hierarchy or leads upwards, where the policy
 * keeps containers from the host: the runtime sets limits and rules for devices there, which are
 * then those of all processes in it; likewise one that has processes. Denies one in a cgroup that
 * security.cgroups does not name. Fails only without memory.
 */
int plan_add_cgroup(struct planner *p) must_check;

/*
 * Denies what would have the low-level runtime change the host by path, where the policy keeps
 * containers from it (host_places.h): a link /dev in the container's root, nodes in a mount or
 * behind a link, and a working directory that is missing in a bind mount. Fails only without
 * memory.
 */
int plan_add_places(struct planner *p) must_check;

/*
 * Denies mounts with the option "remount", which change a mount that was judged: runc would make a
 * read-only one writable, and the host's file system with it. No engine writes it. Fails only
 * without memory.
 */
int plan_add_remounts(struct planner *p) must_check;

/*
 * Denies options of mounts of cgroups that are not of the mount alone, where the policy keeps
 * containers from the host: in its namespace of cgroups they become those of all its mounts, and
 * stay. Fails only without memory.
 */
int plan_add_cgroup_mounts(struct planner *p) must_check;

/*
 * Denies the first file of cgroups that linux.resources names and no container needs
 * (cgroup_files.h), where the policy keeps containers from the host: runc and crun write to it as
 * root, and cgroup.procs takes the pid of any process of the host. Fails only without memory.
 */
int plan_add_cgroup_files(struct planner *p) must_check;

/*
 * Denies a linux.intelRdt.closID that is a path, where the policy keeps containers from the host:
 * crun joins it to /sys/fs/resctrl, and makes a directory and writes files there as root. runc
 * refuses it. Fails only without memory.
 */
int plan_add_cache_class(struct planner *p) must_check;

#endif
