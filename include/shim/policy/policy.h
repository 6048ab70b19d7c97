/*
 * The administrator's policy: /etc/flatbed/policy.json, then the files of policy.d in name order.
 *
 * Each file says "version": 1. A later file overrides and adds: members of objects one by one,
 * at any depth; arrays and plain values are replaced. What this version does not implement is an
 * error, never ignored. Errors read "FILE:LINE:COLUMN: reason".
 *
 * A file counts only if nobody but root (trust.h) could have written it: it is a regular file of
 * root's that neither group nor others may write, in a directory where nobody else can replace it.
 * Neither a file nor policy.d may be a symbolic link; the directory that holds them may be reached
 * through one (what is checked is the directory itself). Only a name that is not there means that
 * there is no policy.
 *
 * A policy owns its documents; every text in it lives until policy_free.
 */
#ifndef SHIM_POLICY_H
#define SHIM_POLICY_H

#include "base/arena.h"
#include "base/json/json.h"
#include "shim/runtime/call/call.h"

#include <sys/types.h>

enum policy_mode {
    POLICY_ENFORCE,    /* what is not allowed fails the launch */
    POLICY_PERMISSIVE, /* … is left out */
    POLICY_OFF,        /* nothing is looked at */
};

enum { POLICY_WAIT = 60 }; /* the most that `wait` may be */
enum { POLICY_PROFILES = 256 };
enum { POLICY_FILES = 64, POLICY_FILE_BYTES = 1024 * 1024 };

/* One file of the policy. */
struct policy_file {
    char *path;
    struct json_doc *doc;
};

/* Where in the policy something is said. `file` is NULL for built-in rules. */
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
    OWNER_IDENTITY, /* who the container belongs to: {uid} and {gid} */
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

/* A class of volumes. */
struct policy_volume {
    const char *name;
    struct policy_place place;
    struct policy_text source, target; /* templates */
    struct policy_text pool;           /* a template: what lies below; not given: a plain bind */
    unsigned source_vars, target_vars; /* bits of enum template_var */
    enum policy_access access;         /* the most that may be asked */
    struct policy_place access_place;
    struct policy_list names;        /* globs; not given: any name (or the presets) */
    bool always;                     /* mounted without asking */
    struct policy_list always_names; /* for these names; none when `always` was just true */
    struct policy_place always_place;
    bool optional; /* a missing source is skipped */
    unsigned wait; /* seconds until a source that does not answer is given up; 0: for ever */
    enum policy_idmap idmap;
    struct policy_create create;
    struct policy_list options; /* of mount(8) */
    struct policy_list presets;
    struct policy_env *env;
    size_t env_count;
};

/* What may be done with a mount that the user brought. */
enum bind_access { BIND_ALLOW, BIND_RO, BIND_DENY };

struct policy_bind_rule {
    struct policy_place place;
    struct policy_text path; /* a template, without {name} and {target} */
    enum bind_access access;
    const char *say;            /* what to use instead, or NULL */
    struct policy_list options; /* nosuid, nodev, noexec */
    bool says_require_access, require_access;
};

struct policy_binds {
    bool given;
    enum bind_access fallback; /* where no rule matches */
    struct policy_place place; /* of "default", or of the section */
    struct policy_bind_rule *rules;
    size_t rule_count;
    bool require_access;
    struct policy_list targets_deny;
};

/* Something that is allowed unless the policy says otherwise. */
struct policy_switch {
    bool deny;
    struct policy_place place;
};

struct policy_capabilities {
    bool given; /* a list, even an empty one */
    uint64_t set;
    struct policy_place place;
};

/* What a container may be, beyond its mounts. */
struct policy_security {
    bool given;
    struct policy_switch privileged, hooks, system_paths, root;
    const char *root_say; /* what to do instead, or NULL */
    struct policy_capabilities max, drop;
    struct policy_switch privileges; /* denied: no_new_privileges */
    struct policy_switch unfiltered; /* denied: seccomp.require */
    struct policy_text profile;      /* seccomp.profile */
    struct policy_list syscalls;     /* seccomp.deny */
    unsigned host_namespaces;        /* bits of enum namespace_kind: may be the host's */
    unsigned own_namespaces;         /* bits: cgroup and user, where they must not be */
    struct policy_place namespaces;  /* `file` NULL: not given */
    struct policy_list devices;      /* globs of host paths */
    struct policy_list annotations;  /* globs of keys that are denied */
};

/* What a container may be let opt out of. */
enum policy_opt_out { OPT_OUT_MOUNTS, OPT_OUT_TUNING, POLICY_OPT_OUTS };

/* Where decisions are written down. */
struct policy_audit {
    struct policy_text file, metrics; /* clean absolute paths; not given: none */
    bool syslog;
    bool required;     /* a launch that cannot be written down fails */
    uint64_t max_size; /* bytes of a file, before it is put aside */
    unsigned keep;     /* files put aside */
};

struct policy_uid_range {
    uid_t first, last;
};

struct policy_annotation {
    const char *key;
    struct policy_list values; /* globs */
};

/* All that is given must hold; of each list one item. */
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
    struct policy *policy; /* with what the profile overrides; part of the policy it is in */
};

/* What "tuning" gives a container. The first ones may be asked for. */
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
    struct policy_amount value; /* for whoever asks for nothing */
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

/* How deep the overlay may be that is a container's root. */
/* What becomes of a root that is deeper. */
enum policy_beyond { BEYOND_WARN, BEYOND_DENY, BEYOND_RESTACK };

struct policy_rootfs {
    uint64_t max_depth; /* lower layers; 0: not given */
    struct policy_place place;
    enum policy_beyond beyond;
    struct policy_text cache; /* where trees of merged layers are kept; not given: the default */
};

struct policy {
    struct arena arena;
    bool draft;           /* set before policy_open: read also what others could have written … */
    struct err *distrust; /* … and say here why it would not be believed; the first reason */
    struct policy_file files[POLICY_FILES];
    size_t file_count;

    enum policy_mode mode;
    struct policy_list runtime_paths;
    enum call_flavor flavor; /* FLAVOR_UNKNOWN: ask it */

    enum policy_carrier carriers[POLICY_CARRIERS]; /* of requests, by precedence */
    size_t carrier_count;
    struct policy_list identity; /* "process", "rootless", "annotation:KEY" */
    struct policy_volume *volumes;
    size_t volume_count;
    struct policy_binds binds;
    struct policy_security security;
    unsigned opt_out; /* bits of enum policy_opt_out */
    struct policy_audit audit;
    struct policy_profile *profiles; /* the first that matches counts */
    size_t profile_count;
    struct policy_tuning tuning;
    struct policy_rootfs rootfs;
    unsigned vars;      /* bits of enum template_var: all that templates use */
    bool uses_identity; /* an owner is "identity" */
};

extern const char policy_default_path[];
extern const char *const policy_opt_out_names[POLICY_OPT_OUTS];

struct policy *policy_new(struct err *err) must_check;
void policy_free(struct policy *policy);

DEFINE_CLEANUP(policy, struct policy, policy_free)
#define _cleanup_policy_ _cleanup_(cleanup_policy)

/*
 * Reads the files and, from each, what must be known even of a policy that is wrong elsewhere:
 * version, mode and runtime. `path` NULL is the default one, which may be missing: then there is
 * nothing to enforce. Files beside it are in the folder "NAME.d" ("policy.json": "policy.d").
 * After an error `mode` is POLICY_ENFORCE, and the runtime is what was read before it.
 */
int policy_open(struct policy *policy, const char *path, struct err *err) must_check;

/* Adds a document as if it were a file, for policy_open and for tests. Takes over `doc`. */
int policy_add(struct policy *policy, const char *path, struct json_doc *doc,
               struct err *err) must_check;

/*
 * Reads the rest of it and checks that it makes sense, every profile included. After an error
 * `audit` is what was read of it, or nothing.
 */
int policy_decode(struct policy *policy, struct err *err) must_check;

/* The class of that name, or NULL. */
const struct policy_volume *policy_volume_find(const struct policy *policy, const char *name,
                                               size_t len);

/* Returns the list that says which names of a class may be asked for: `names`, else `presets`;
 * neither given: any. */
const struct policy_list *policy_offered_names(const struct policy_volume *volume);

/* Returns true if that name of the class may be asked for. */
bool policy_offers_name(const struct policy_volume *volume, const char *name);

/* The policy's keys: "shm_size", "memlock" … */
extern const char *const policy_tuning_names[TUNING_KINDS];

/* How a character of a class's name is written in a variable: upper case, "_" for "-" and ".". */
char policy_variable_char(char c);

/* Appends "FILE:LINE", or nothing for built-in rules. */
void policy_place_print(const struct policy_place *place, struct buf *out);

#endif
