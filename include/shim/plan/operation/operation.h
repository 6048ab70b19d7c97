/*
 * The operations of a plan, and the input that it is made from. plan.h has the rules.
 */
#ifndef SHIM_PLAN_OPERATION_H
#define SHIM_PLAN_OPERATION_H

#include "shim/account/account.h"
#include "shim/gather/binds.h"
#include "shim/gather/security/host_places.h"
#include "shim/gather/security/security.h"
#include "shim/gather/tuning.h"
#include "shim/gpu/gpu_facts.h"
#include "shim/oci/spec.h"
#include "shim/policy/template.h"
#include "shim/request/request.h"

enum plan_kind {
    PLAN_MOUNT, /* of a volume */
    PLAN_ENV,
    PLAN_BIND,         /* a mount that the user brought, judged by the policy's "binds" */
    PLAN_SECURITY,     /* a refusal by "security" */
    PLAN_CAPABILITIES, /* taken away */
    PLAN_PRIVILEGES,   /* no_new_privileges is set */
    PLAN_FILTER,       /* a seccomp profile is put in */
    PLAN_DEVICES,      /* rules for devices are put in: all but the container's are forbidden */
    PLAN_CONSOLE,      /* the host's console is taken out of the rules for devices */
    PLAN_OWN_GROUPS,   /* supplementary groups that are not the user's own are taken away */
    PLAN_SHM,          /* the size of /dev/shm */
    PLAN_RLIMIT,
    PLAN_FILE,   /* a generated file: /etc/passwd or /etc/group */
    PLAN_GROUPS, /* supplementary groups of the process */
    PLAN_ROOTFS, /* the root's depth: denied, or kept with a reason to look at it, or restacked */
    PLAN_GPUS,   /* judged by "gpus"; downgraded: the variable is rewritten, or nodes taken out */
};

enum plan_verdict {
    PLAN_ADDED,
    PLAN_KEPT,       /* the container has it already */
    PLAN_DOWNGRADED, /* added with less access than asked for */
    PLAN_DENIED,     /* fails the launch, unless the policy is permissive */
    PLAN_SKIPPED,    /* left out without harm */
};

/* PLAN_MOUNT: a volume. */
struct plan_mount {
    const struct policy_volume *volume; /* NULL for a request that names none */
    const char *name;                   /* of the volume within its class; "" if it has none */
    const char *source, *target;        /* clean absolute; NULL if denied before they were known */
    const char *pool;          /* below an overlay of two directories in `source`; NULL: a bind */
    enum policy_access access; /* the most that the container gets */
    bool ours;   /* the source is this volume's: it must be made and checked even if kept */
    bool idmap;  /* shows the ids that are on disk, through the container's user namespace */
    bool pinned; /* the container's mount names the pinned path, from an edit before this one */
    /* The container's mount that an edit before this one made: kept, or replaced by an added one,
     * or taken out with a skipped one. NULL: none. */
    const struct spec_mount *earlier;
};

/* PLAN_ENV: a variable, of a volume or of "tuning". */
struct plan_variable {
    const struct policy_volume *volume; /* NULL: of "tuning" */
    const char *name, *value;           /* `value` is NULL if denied before it was known */
    bool same;                          /* kept, and with this value */
    bool of_user;                       /* HOME: only for a process of that uid */
    size_t mount; /* index of the operation that it depends on, or PLAN_NO_MOUNT */
};

#define PLAN_NO_MOUNT SIZE_MAX

/* PLAN_FILE: a file that is written for this container, and mounted read-only. */
struct plan_file {
    const char *source, *target; /* the path in PIN_DIRECTORY, and that in the container */
    const char *text;            /* NULL: nothing is written */
};

/* PLAN_GROUPS: groups that the process gets in addition. */
struct plan_groups {
    const gid_t *list;
    size_t count;
    const gid_t *all; /* of its user, with those that it has */
    size_t all_count;
    const char *value; /* "5000, 5001" */
};

/* PLAN_OWN_GROUPS: groups that are taken out of process.user.additionalGids. */
struct plan_own_groups {
    const uint32_t *list; /* as there */
    size_t count;
};

/* PLAN_BIND: a mount that the user brought. */
struct plan_bind {
    const struct bind_source *source;    /* the facts of the host */
    const char *written, *target;        /* source and destination as the container has them */
    struct json *entry;                  /* of `mounts` */
    const struct policy_bind_rule *rule; /* whose options are added, or NULL */
    enum policy_access access;           /* the most that it keeps */
    bool alone;                          /* without what is mounted beneath the source */
    const char *
        *below; /* names of the mounts beneath that stay, if users have engines mount there */
    size_t below_count;
    bool is_private; /* without mounts that are made later, which nobody would judge */
};

/* PLAN_SHM: the size of /dev/shm. */
struct plan_shm {
    const char *target; /* "/dev/shm" */
    struct json *entry; /* of `mounts`: the one to change, or NULL */
    uint64_t bytes;
    const char *value; /* `bytes` in words */
};

struct plan_limit {
    uint64_t soft, hard;
};

/* PLAN_RLIMIT: a resource limit. */
struct plan_rlimit {
    const char *name;      /* "RLIMIT_NOFILE" … */
    struct json *entry;    /* of process.rlimits: the one to replace, or NULL */
    uint64_t amount;       /* bytes or pieces, soft and hard; UINT64_MAX: unlimited */
    const char *value;     /* `amount` in words */
    struct plan_limit was; /* the limits of `entry`, if that is replaced */
    bool same;             /* kept, and with this amount */
};

/* PLAN_GPUS: the container's GPUs. */
struct plan_gpus {
    const char *value;    /* NVIDIA_VISIBLE_DEVICES is set to it; NULL: it stays */
    bool strip;           /* all nodes of GPUs are taken out but for `keep` … */
    const unsigned *keep; /* … which has their minor numbers */
    size_t keep_count;
    const struct gpu_host *host;
};

struct plan_op {
    enum plan_kind kind;
    enum plan_verdict verdict;
    const char *reason;        /* a sentence without full stop; never NULL */
    const char *hint;          /* of a denial: what is allowed, or what to do instead; or NULL */
    bool advises;              /* the reason of the denial says what to do: there is no hint */
    struct policy_place place; /* of the rule that decided */
    const char *asked_by;      /* the carrier of the request, the user's mount, or a key of the
                                  policy; NULL for `always` volumes and their variables */
    union { /* by kind; PLAN_SECURITY, PLAN_PRIVILEGES, PLAN_DEVICES, PLAN_CONSOLE: nothing more */
        struct plan_own_groups own_groups;
        struct plan_mount mount;
        struct plan_variable variable;
        struct plan_bind bind;
        uint64_t capabilities; /* PLAN_CAPABILITIES: those that stay */
        struct json *profile;  /* PLAN_FILTER: in the document */
        struct plan_shm shm;
        struct plan_rlimit rlimit;
        struct plan_file file;
        struct plan_groups groups;
        struct plan_gpus gpus;
        bool restack; /* PLAN_ROOTFS: it is to be mounted anew, with fewer layers (restack.h) */
    };
};

struct plan {
    const struct plan_op *ops; /* mounts by depth of target, denials among them; variables; the
                                  user's mounts; security; GPUs; tuning; the account; the root */
    size_t count;
    const struct requests *requests;       /* whose mounts are taken out; NULL: none are */
    const struct joined_namespace *joined; /* to be held */
    size_t joined_count;
    bool loose; /* read-only binds are held read-only: users can lead mount points elsewhere
                   (host_places.h) */
};

struct plan_input {
    const struct policy *policy;
    const struct requests *requests;
    const struct spec *spec;
    struct template_values values;         /* without {name} and {target} */
    const struct bind_facts *binds;        /* NULL where the policy has no "binds" */
    const struct security_facts *security; /* NULL where it has no "security" */
    struct host_places places;             /* none where it has neither */
    const struct tuning_facts *tuning;     /* NULL where it has no "tuning" */
    const struct account_facts *account;   /* NULL where it has no "user" */
    const struct gpu_facts *gpus;          /* NULL where it has no "gpus" */
    size_t depth;                          /* of the root's overlay; 0: not known, or no overlay */
    bool created;                          /* the container is there: what was mounted is ours */
    bool no_volumes;                       /* nothing is to be mounted, only judged */
    bool rootless;                         /* this runtime is in a user namespace itself */
    bool no_idmap;                         /* it is not the host's root, and so maps no ids */
};

#endif
