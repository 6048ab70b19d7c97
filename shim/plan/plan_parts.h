/*
 * The parts of a plan, each in a source of its name, in the order in which plan_make calls them.
 * Each adds its operations, and fails only without memory.
 */
#ifndef SHIM_PLAN_PARTS_H
#define SHIM_PLAN_PARTS_H

#include "shim/plan/operation/plan_build.h"

/*
 * Mounts the volumes, unless the input says `no_volumes`, in the order of their targets' depth:
 * `always` ones and those asked for. Denies mounts of the container whose source is below
 * PIN_DIRECTORY.
 */
int plan_add_volumes(struct planner *p) must_check;

/* Adds the variables of every mount that will be there. */
int plan_add_env(struct planner *p) must_check;

/* Judges the mounts that the user brought. */
int plan_add_binds(struct planner *p) must_check;

/* Judges the container's GPUs. */
int plan_add_gpus(struct planner *p) must_check;

/* Gives the container's user names, HOME and groups, as the policy's "user" says. */
int plan_add_user(struct planner *p) must_check;

/* Returns true for a mount of a generated file, from an edit before this one, which writes it anew.
 */
bool plan_is_user_file(const struct planner *p, const struct spec_mount *mount);

/* Adds to each denial that has no hint what is allowed, or what to do instead. */
int plan_add_hints(struct planner *p) must_check;

/*
 * Returns true for the host's /sys, read-only in its place, in an engine without root: it mounts it
 * where it has no network namespace of its own, and its user sees it anyway.
 */
bool plan_is_users_sys(const struct planner *p, size_t i);

/* Returns what to do instead of a mount that is denied for its target. Static. */
const char *plan_hint_target(const struct plan_op *op);

/* Adds to a denied mount the volumes and paths that are allowed. -1 without memory. */
int plan_hint_allowed(struct planner *p, struct plan_op *op) must_check;

/* Judges how many layers the container's root has. */
int plan_add_rootfs(struct planner *p) must_check;

/* Returns the denied path that the mount of that index would replace on `target`, whole or in part;
 * NULL if none. */
const char *plan_denied_target(const struct planner *p, size_t i, const char *target);

/* Returns true for a file system of the kernel in the place where engines mount it. */
bool plan_is_engines_own(const struct spec_mount *mount);

/* Returns the option by which mounts in the container reach the host, or NULL. */
const char *plan_shared_option(const struct json *options);

/* Denies a mount whose type may show anything, and names the engine's option for it. */
int plan_deny_type(struct planner *p, struct plan_op *op,
                   const struct spec_mount *mount) must_check;

/* Judges the propagation of the container's root, which all mounts in it have. */
int plan_judge_root_propagation(struct planner *p) must_check;

/*
 * Returns true for a mount by which podman without root gives a device to a container (--device, a
 * CDI specification): a device file of the host, on a path in /dev that is not the runtime's.
 * "devices" judges it then, and nothing else of "binds". Pure.
 */
bool plan_is_given_device(const struct planner *p, size_t i);

/* Decides about such a mount, by "devices" and "gpus". Fails only without memory. */
int plan_judge_given_device(struct planner *p, struct plan_op *op) must_check;

#endif
