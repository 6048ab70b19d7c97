/*
 * The administrator's policy: /etc/flatbed/policy.json, then the files of policy.d in name order.
 *
 * Each file says "version": 1. A later file overrides and adds: members of objects one by one, at
 * any depth; arrays and plain values are replaced. A key that this version does not know is an
 * error, never ignored. Errors read "FILE:LINE:COLUMN: reason".
 *
 * A file is trusted only if it must have been written by root (trust.h): a regular file, owned by
 * root, not writable by group or others, in a directory in which only root can replace it. Neither
 * a file nor policy.d may be a symbolic link; the directory that holds them may be reached through
 * one (the directory itself is checked). There is no policy only if the name does not exist.
 *
 * A policy owns its documents; every text in it lives until policy_free.
 */
#ifndef SHIM_POLICY_H
#define SHIM_POLICY_H

#include "base/arena.h"
#include "base/json/json.h"
#include "shim/oci/lowlevel.h"

#include <sys/types.h>

enum policy_mode {
    POLICY_ENFORCE,    /* a denial fails the launch */
    POLICY_PERMISSIVE, /* a denied operation is left out */
    POLICY_OFF,        /* nothing is judged */
    POLICY_MODES,
};

enum { POLICY_WAIT = 60 }; /* seconds, the largest `wait` */
enum { POLICY_PROFILES = 256 };
enum { POLICY_PRESETS = 1 };
enum { POLICY_FILES = 64, POLICY_FILE_BYTES = 1024 * 1024 };

/* One file of the policy. */
struct policy_file {
    char *path;
    struct json_doc *doc;
};

/* A place in the policy. `file` is NULL for built-in rules. */
struct policy_place {
    const struct policy_file *file;
    size_t offset;
};

struct policy_text {
    const char *text; /* NULL: not given */
    struct policy_place place;
};

struct policy_list {
    const char **items;
    size_t count;
    bool given;
    struct policy_place place;
};

enum policy_carrier { CARRIER_ANNOTATIONS, CARRIER_MOUNTS, CARRIER_ENVIRONMENT, POLICY_CARRIERS };

enum policy_access { ACCESS_RO, ACCESS_RW };

enum policy_idmap { IDMAP_NEVER, IDMAP_ASK, IDMAP_ALWAYS };

enum policy_owner {
    OWNER_PROCESS,  /* the container's process, as the host sees it */
    OWNER_IDENTITY, /* the container's owner: {uid} and {gid} */
    OWNER_FIXED,    /* "UID:GID" */
};

struct policy_create {
    bool wanted;
    mode_t mode;
    enum policy_owner owner;
    uid_t uid; /* for OWNER_FIXED */
    gid_t gid;
    struct policy_place place;
};

struct policy_env {
    const char *name;
    struct policy_text value; /* a template */
};

/* The room that a store keeps. Both 0: not given. */
struct policy_free {
    uint64_t bytes;
    unsigned percent; /* of the file system */
};

/* Wishes of a container, by the annotation flatbed.stage. */
enum stage_wish {
    STAGE_OFF,  /* the source itself */
    STAGE_WAIT, /* no start before there is a copy */
    STAGE_NOW,  /* no waiting */
    STAGE_WISHES
};

enum policy_else { ELSE_SOURCE, ELSE_DENY };

/* Copies of a class's sources on a faster disk. */
struct policy_stage {
    struct policy_text cache; /* the directory of copies; not given: none are made */
    uint64_t max, per_owner;  /* bytes; 0: no limit */
    struct policy_free free;
    unsigned wait;              /* seconds that a launch waits for a copy */
    enum policy_else otherwise; /* if there is none by then */
    bool verify;                /* content is read again and compared */
    uint64_t bandwidth;         /* bytes a second; 0: no limit */
    unsigned recheck;           /* seconds after which a copy is compared with its source again */
    struct policy_list include; /* globs of names in the class; not given: all */
    unsigned ask;               /* bits of enum stage_wish: what containers may ask for */
};

/* A class of volumes. */
struct policy_volume {
    const char *name;
    struct policy_place place;
    struct policy_text source, target; /* templates */
    struct policy_text pool;           /* a template: the layers below; not given: a plain bind */
    unsigned source_vars, target_vars; /* bits of enum template_var */
    enum policy_access access;         /* the most that may be asked for */
    struct policy_place access_place;
    struct policy_list names;        /* globs; not given: any name (or the presets) */
    bool always;                     /* mounted without asking */
    struct policy_list always_names; /* for these names; empty if `always` is just true */
    struct policy_place always_place;
    bool optional; /* a missing source is skipped */
    unsigned wait; /* seconds until a source that does not answer is given up; 0: for ever */
    enum policy_idmap idmap;
    struct policy_create create;
    struct policy_list options; /* of mount(8) */
    struct policy_list presets;
    struct policy_stage stage;
    struct policy_env *env;
    size_t env_count;
};

/* The access that a mount from the user may have. */
enum bind_access { BIND_ALLOW, BIND_RO, BIND_DENY };

struct policy_bind_rule {
    struct policy_place place;
    struct policy_text path; /* a template, without {name} and {target} */
    enum bind_access access;
    const char *say;            /* what to use instead, or NULL */
    struct policy_list options; /* nosuid, nodev, noexec */
    bool says_require_access, require_access;
    bool named_volumes; /* for the engine's directory of volumes; `path` is only a name for it */
};

struct policy_bind_rules {
    struct policy_bind_rule *list;
    size_t count;
};

/* A feature that is allowed unless the policy denies it. */
struct policy_switch {
    bool deny;
    struct policy_place place;
};

struct policy_binds {
    bool given;
    enum bind_access fallback;      /* if no rule matches */
    struct policy_place place;      /* of "default", or of the section */
    struct policy_bind_rule *rules; /* all of the following, in this order */
    size_t rule_count;
    struct policy_bind_rules preset;       /* less those whose path is in `own` */
    struct policy_bind_rule named_volumes; /* `path` not given: none */
    struct policy_bind_rules own;
    bool require_access;
    struct policy_list targets_deny;
    struct policy_switch propagation; /* denied: mounts in the container reach the host */
};

struct policy_capabilities {
    bool given; /* a list is given, perhaps an empty one */
    uint64_t set;
    struct policy_place place;
};

/* A hook that "hooks" allows. */
struct policy_hook {
    const char *path;
    struct policy_list args; /* globs, one for each argument; "..." as the last: any more */
};

/* "security": the rights that a container may have, beside its mounts. */
struct policy_security {
    bool given;
    struct policy_switch privileged, hooks, system_paths, root;
    const char *root_say;        /* what to do instead, or NULL */
    struct policy_switch groups; /* denied: those that are not the user's own on the host */
    struct policy_capabilities max, drop;
    struct policy_switch privileges; /* denied: no_new_privileges */
    struct policy_switch unfiltered; /* denied: seccomp.require */
    struct policy_text profile;      /* seccomp.profile */
    struct policy_list syscalls;     /* seccomp.deny */
    unsigned host_namespaces;        /* bits of enum namespace_kind: may be the host's */
    unsigned own_namespaces;         /* bits: cgroup and user, if they must not be the host's */
    struct policy_place namespaces;  /* `file` NULL: not given */
    struct policy_list devices;      /* globs of host paths */
    struct policy_list annotations;  /* globs of keys that are denied */
    bool annotations_of_preset;      /* that list is the preset's, so that the next one beats it */
    struct policy_hook *hook_rules;  /* further ones that are allowed where `hooks` is denied */
    size_t hook_rule_count;
    struct policy_list annotations_allowed; /* globs of keys that are not denied all the same */
    struct policy_list cgroup_parents;      /* globs of cgroups and slices */
    struct policy_switch realtime;          /* denied: priorities before all others of the host */
};

/* The result for a container that asks for all GPUs, where that is denied. */
enum gpus_default { GPUS_NONE, GPUS_REFUSE, GPUS_LISTED };

/* "gpus": the GPUs of NVIDIA that a container may have. */
struct policy_gpus {
    bool given;
    struct policy_place place; /* of the section */
    bool limited;              /* `max` is given */
    uint64_t max;
    struct policy_place max_place;
    struct policy_list devices; /* numbers, ranges, and globs of UUIDs; not given: any */
    bool allow_all;             /* "all": "allow" */
    struct policy_place all_place;
    enum gpus_default fallback;
    struct policy_text names; /* GPUS_LISTED: "0,1" */
    struct policy_place fallback_place;
};

/* The parts of the plan from which a container may opt out. */
enum policy_opt_out { OPT_OUT_MOUNTS, OPT_OUT_TUNING, POLICY_OPT_OUTS };

/* "audit.alerts": the limits that `flatbed monitor` compares with. 0: not given. */
/* The mark by which a container says that it is ready. */
enum policy_ready_kind { READY_NONE, READY_HEALTH, READY_FILE, READY_LOG };
struct policy_ready {
    enum policy_ready_kind kind;
    const char *text; /* a clean absolute path in the container; an extended regular expression */
};

struct policy_alerts {
    uint64_t upper_bytes;  /* blocks of a container's upper directory */
    uint64_t copyup_bytes; /* of these, copies of files of the image */
    struct policy_free store_free;
    uint64_t start_seconds; /* until a container is ready; with `ready` */
    struct policy_ready ready;
    struct policy_list command; /* a program with its arguments, for each alert */
};

/* The "audit" section. */
struct policy_audit {
    struct policy_text file, metrics; /* clean absolute paths; not given: none */
    bool syslog;
    bool required;     /* a launch that cannot be audited fails */
    uint64_t max_size; /* bytes of a file, before it is rotated */
    unsigned keep;     /* rotated files */
    struct policy_alerts alerts;
};

struct policy_uid_range {
    uid_t first, last;
};

struct policy_annotation {
    const char *key;
    struct policy_list values; /* globs */
};

/* The containers that a profile is for. Every given list must match, by one of its items. */
struct policy_match {
    struct policy_list image, namespaces; /* globs */
    struct policy_uid_range *uids;
    size_t uid_count;
    struct policy_annotation *annotations;
    size_t annotation_count;
};

struct policy_profile {
    const char *name;
    struct policy_place place;
    struct policy_match match;
    struct policy
        *policy; /* with the profile's overrides; owned by the policy that has the profile */
};

/* The kinds of "tuning". A container may ask for those before TUNING_ASKABLE. */
enum tuning_kind {
    TUNING_SHM,
    TUNING_MEMLOCK,
    TUNING_WORKERS,
    TUNING_ASKABLE,
    TUNING_NOFILE = TUNING_ASKABLE,
    TUNING_STACK,
    TUNING_KINDS
};

struct policy_amount {
    bool given;
    bool share;      /* `number` is a percentage: of the memory (shm), of the CPUs (workers) */
    uint64_t number; /* bytes or pieces; UINT64_MAX: unlimited */
};

struct policy_tune {
    struct policy_amount value; /* for a container that asks for none */
    struct policy_amount most;  /* that may be asked for; not given: `value` */
    struct policy_place place;
};

struct policy_tuning {
    bool given;
    struct policy_tune of[TUNING_KINDS];
    bool threads;
    struct policy_place threads_place;
    uint64_t worker_memory; /* bytes for each worker; 0: the built-in */
};

/* The consequence of a root overlay with more than `max_depth` lower layers. */
enum policy_beyond { BEYOND_WARN, BEYOND_DENY, BEYOND_RESTACK };

struct policy_rootfs {
    uint64_t max_depth; /* lower layers; 0: not given */
    struct policy_place place;
    enum policy_beyond beyond;
    struct policy_text cache; /* the cache of merged layers; not given: the default */
};

/* The starts of which "warm" records what is read: none, those without a record, all. */
enum policy_record { RECORD_OFF, RECORD_FIRST, RECORD_ALWAYS };

/* "warm": what containers read in their first seconds is recorded, and read ahead later. */
struct policy_warm {
    bool given;
    enum policy_record record;
    unsigned seconds;         /* that are recorded */
    struct policy_free max;   /* the most that is read ahead, of the free memory */
    struct policy_text cache; /* the directory of records; not given: the default */
};

/* "user": what the container's user finds of itself inside. Nothing of it is given to root. */
struct policy_user {
    bool passwd;             /* entries in /etc/passwd and /etc/group */
    bool groups;             /* the supplementary groups that the user has on the host */
    struct policy_text home; /* a template of HOME; not given: none is set */
    struct policy_place passwd_place, groups_place;
};

struct policy {
    struct arena arena;
    bool draft;           /* set before policy_open: read untrusted files, too … */
    struct err *distrust; /* … and put the first reason for distrust here; borrowed */
    struct policy_file files[POLICY_FILES];
    size_t file_count;
    struct json_doc *presets[POLICY_PRESETS]; /* those that the policy uses; else NULL */

    enum policy_mode mode;
    struct policy_list runtime_paths;
    enum lowlevel_flavor flavor; /* FLAVOR_UNKNOWN: ask the runtime */

    enum policy_carrier carriers[POLICY_CARRIERS]; /* of requests, by precedence */
    size_t carrier_count;
    struct policy_list identity; /* "process", "rootless", "annotation:KEY" */
    struct policy_volume *volumes;
    size_t volume_count;
    struct policy_binds binds;
    struct policy_security security;
    struct policy_gpus gpus;
    unsigned opt_out; /* bits of enum policy_opt_out */
    struct policy_audit audit;
    struct policy_profile *profiles; /* the first that matches counts */
    size_t profile_count;
    struct policy_tuning tuning;
    struct policy_rootfs rootfs;
    struct policy_warm warm;
    struct policy_user user;
    unsigned vars;      /* bits of enum template_var: all that templates use */
    bool uses_identity; /* an owner is "identity" */
};

extern const char policy_default_path[];
/* The names in a policy: of modes ("enforce" …), and of what a container may opt out of. */
extern const char *const policy_mode_names[POLICY_MODES];
extern const char *const policy_opt_out_names[POLICY_OPT_OUTS];
extern const char *const policy_stage_wishes[STAGE_WISHES]; /* "off", "wait", "now" */

/* Sets what is kept of the audit file where the policy does not say. */
void policy_audit_defaults(struct policy_audit *audit);

/* Returns an empty policy with the defaults, or NULL without memory. */
struct policy *policy_new(struct err *err) must_check;
/* Frees a policy with its files, profiles and texts. */
void policy_free(struct policy *policy);

DEFINE_CLEANUP(policy, struct policy, policy_free)
#define _cleanup_policy_ _cleanup_(cleanup_policy)

/* Returns the class of that name, or NULL. */
const struct policy_volume *policy_volume_find(const struct policy *policy, const char *name,
                                               size_t len);

/*
 * Returns the list of the names of a class that may be asked for: `names`, else `presets`. A list
 * that is not given offers any name.
 */
const struct policy_list *policy_offered_names(const struct policy_volume *volume);

/*
 * Returns the path of binds.targets_deny that a mount on `target`, a clean path without links,
 * would replace, whole or in part; NULL if none. "/" means only itself; with `exactly` each path
 * does. Pure.
 */
const char *policy_denied_target(const struct policy_list *denied, const char *target,
                                 bool exactly);

/* Returns true if that name of the class may be asked for. */
bool policy_offers_name(const struct policy_volume *volume, const char *name);

/* The keys of the policy: "shm_size", "memlock" … */
extern const char *const policy_tuning_names[TUNING_KINDS];

/*
 * Appends "a, b, c" for messages: each item once, a number instead of those that are too many,
 * "none" for an empty list.
 */
void policy_list_print(const struct policy_list *list, struct buf *out);

/* Returns a character of a class's name as it is in a variable: upper case, "_" for "-" and ".". */
char policy_variable_char(char c);

/* Appends "FILE:LINE", or nothing for built-in rules. */
void policy_place_print(const struct policy_place *place, struct buf *out);

/* Returns the least free room of a file system of that size, in bytes; 0: there is no limit. Pure.
 */
uint64_t policy_least_free(const struct policy_free *room, uint64_t size);

#endif
