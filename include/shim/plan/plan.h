/*
 * policy × requests × spec → a list of operations, each with its verdict, the reason and the line
 * of the policy that decided. Pure: the same list is applied, explained and audited.
 *
 * Rules. `always` volumes come first, then what is asked for; asking for what is mounted anyway
 * only changes how. Two volumes on one target are denied. Where the container's own mounts have the
 * target already: one that is exactly what would be written is kept (a second edit changes
 * nothing), another wins over an `always` volume and denies a request; one whose source is in the
 * folder of pinned sources is denied unless it is exactly ours. Mounts are in the order of their
 * targets' depth, so that none hides another. Variables that the container has are kept.
 *
 * Mounts that the user brought are judged by the longest rule that holds the source, and no less
 * strictly than by any rule for something within it: what is denied cannot be had by mounting the
 * folder around it. PLAN_DOWNGRADED: it is mounted with the restrictions that `reason` names.
 *
 * What "security" does not allow is denied, but for capabilities beyond `max` and those of `drop`,
 * which are taken away. Capabilities, devices and seccomp of a privileged container are not judged:
 * it is allowed or denied as a whole.
 *
 * "tuning" fills in what nobody chose: a size of /dev/shm or a resource limit that is an engine's
 * default is replaced, any other is the user's and kept, as are his variables. What is asked for
 * beyond the policy's maximum is denied.
 */
#ifndef SHIM_PLAN_H
#define SHIM_PLAN_H

#include "shim/gather/binds.h"
#include "shim/gather/security.h"
#include "shim/gather/tuning.h"
#include "shim/oci/features.h"
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
    PLAN_SHM,          /* the size of /dev/shm */
    PLAN_RLIMIT,
    PLAN_ROOTFS, /* the root's depth: denied, or kept with a reason to look at it, or restacked */
};

enum plan_verdict {
    PLAN_ADDED,
    PLAN_KEPT,       /* the container has it already */
    PLAN_DOWNGRADED, /* added with less access than asked for */
    PLAN_DENIED,     /* fails the launch, unless the policy is permissive */
    PLAN_SKIPPED,    /* left out without harm */
};

struct plan_limit {
    uint64_t soft, hard;
};

struct plan_op {
    enum plan_kind kind;
    enum plan_verdict verdict;
    const char *reason;                 /* a sentence without full stop; never NULL */
    struct policy_place place;          /* of the rule that decided */
    const struct policy_volume *volume; /* NULL for a request that names none */
    const char *name;                   /* of the volume within its class; "" if it has none */
    const char *asked_by;               /* who carried the request, or NULL for `always` */

    /* mounts */
    const char *source, *target; /* clean absolute; NULL when denied before they were known */
    const char *pool;            /* below an overlay of two folders in `source`; NULL: a bind */
    enum policy_access access;
    bool ours;   /* the source is this volume's: it must be made and checked even if kept */
    bool rro;    /* read-only with all that is mounted below it; plan_fit decides */
    bool idmap;  /* shows the ids that are on disk, through the container's user namespace */
    bool pinned; /* the container's mount names the pinned path, from an edit before this one */

    /* variables */
    const char *variable, *value;
    bool same;    /* kept, and with this value */
    size_t mount; /* the operation that it depends on, or PLAN_NO_MOUNT */

    /* the user's mounts; `access` is what is left of it, `source` and `target` are the container's
     */
    struct json *entry; /* of the container's mounts */
    const struct bind_source *bind;
    const struct policy_bind_rule *rule; /* that decided, or NULL */
    bool alone;                          /* without what is mounted beneath the source */
    const char **below; /* what may be had of that, where users have engines mount things */
    size_t below_count;
    const char *hold; /* where its source was pinned, or NULL */

    uint64_t capabilities; /* those that stay */
    struct json *profile;  /* in the document */

    /* tuning; `entry` is what is replaced (of `mounts`, or of process.rlimits), NULL: nothing */
    const char *limit; /* "RLIMIT_NOFILE" … */
    uint64_t amount;   /* bytes or pieces; UINT64_MAX: unlimited; `value` is the same in words */
    struct plan_limit was; /* what is replaced, if `entry` is not NULL */

    bool restack; /* the root is to be mounted anew, with fewer layers (restack.h) */
};

#define PLAN_NO_MOUNT SIZE_MAX

struct plan {
    struct plan_op
        *ops; /* mounts by depth of target, denials among them; variables; the user's mounts */
    size_t count;
    const struct requests *requests; /* whose mounts are taken out; NULL: none are */
};

struct plan_input {
    const struct policy *policy;
    const struct requests *requests;
    const struct spec *spec;
    struct template_values values;         /* without {name} and {target} */
    const struct bind_facts *binds;        /* NULL where the policy has no "binds" */
    const struct security_facts *security; /* NULL where it has no "security" */
    const struct tuning_facts *tuning;     /* NULL where it has no "tuning" */
    size_t depth;                          /* of the root's overlay; 0: not known, or no overlay */
    bool no_volumes;                       /* nothing is to be mounted, only judged */
};

/* Fails only without memory; what is not allowed is an operation with PLAN_DENIED. */
int plan_make(const struct plan_input *input, struct arena *arena, struct plan *out,
              struct err *err) must_check;

/* Marks a mount, and the variables that depend on it, as skipped. */
void plan_skip(struct plan *plan, size_t mount, const char *reason);

/* 0, or -1 and ERR_POLICY with the reasons of all denials. */
int plan_check(const struct plan *plan, struct err *err) must_check;

/* Whether the plan depends on what the runtime behind us can do. */
enum plan_need { PLAN_NEEDS_NOTHING, PLAN_WANTS_FEATURES, PLAN_NEEDS_FEATURES };
enum plan_need plan_need(const struct plan *plan);

/*
 * Fits it to that runtime: read-only mounts are so in depth where it can do that. What the policy
 * asks for and it cannot do is ERR_UNSUPPORTED, or, unless `enforce`, left out.
 */
int plan_fit(struct plan *plan, const struct features *features, const char *runtime, bool enforce,
             struct err *err) must_check;

/* True if applying it would change the document. */
bool plan_changes(const struct plan *plan);

/* Where the checked source of a volume is bound in the shim's private mounts (source.h). */
const char *plan_pin_path(const struct plan_op *op, struct arena *arena);

#endif
