#include "shim/runtime/create.h"

#include "shim/apply/apply.h"
#include "shim/apply/named_groups.h"
#include "shim/apply/nested.h"
#include "shim/apply/own_hook.h"
#include "shim/audit/audit.h"
#include "shim/host/trust.h"
#include "shim/oci/bundle.h"
#include "shim/oci/lowlevel.h"
#include "shim/plan/judge.h"
#include "shim/prepare/volumes.h"
#include "shim/restack/restack.h"
#include "shim/runtime/exec/inherited_fds.h"
#include "shim/runtime/exec/state.h"
#include "shim/warm/warm.h"

#include <string.h>

enum { MEMORY_LIMIT = 256 * 1024 * 1024 };

/* Asks what the low-level runtime can do, only if `needed` or known already. */
static int fit_features(struct lowlevel *low, bool needed, bool enforce, struct decision *decision,
                        struct err *err)
{
    struct features features;

    features_find(low, needed, &features);
    return plan_fit(&features, low->path, enforce, decision, err);
}

/* A container while its config.json is edited. */
struct edit {
    const struct policy *policy;
    const struct call *call;
    struct lowlevel *low;
    struct bundle bundle;
    struct arena arena;
    struct spec spec;
    struct judgement judgement;
    struct decision decision;
    struct named_groups groups;
    bool requires_access; /* the container's user must be able to reach some of its mounts */
    struct audit_subject subject;
};

/*
 * Audits the decision before it takes effect, with the denials that a permissive policy lets pass.
 */
static int audit_edit(const struct edit *e, bool changes, struct err *err)
{
    struct err denials = ERR_INIT;
    bool denied = decision_check(&e->decision, &denials) < 0;

    return audit_decision(&e->subject, changes ? AUDIT_CHANGED : AUDIT_ALLOWED,
                          denied ? &denials : NULL, err);
}

/*
 * Returns true if users can have the engine replace the file of names that was judged. Those of CRI
 * copy files by processes of the container. Annotations do not count: users set them.
 */
static bool changes_names(const struct edit *e)
{
    return strcmp(audit_engine(e->call, NULL), "cri") != 0;
}

/* Keeps what exec needs. If the policy has rules for exec, a launch fails without them. */
static int keep_state(const struct edit *e, struct err *err)
{
    const struct judgement *j = &e->judgement;
    struct user_ids ids;
    const struct state_source from = {
        .judgement = j,
        .decision = &e->decision,
        .spec = &e->spec,
        .names = e->groups.judged ? &e->groups.file : NULL,
        .loose_names = changes_names(e),
        .held = (j->policy->security.given || j->policy->binds.given) && !trust_rootless(),
        .enters = e->requires_access,
        .user = nested_user(j->policy, &j->facts, &ids),
        .bundle = e->bundle.dirfd};

    return state_save(e->call->root, e->call->id, &from, lowlevel_depth() > 1, err) < 0 &&
                   (from.held || from.enters)
               ? -1
               : 0;
}

static bool is_restoring(const struct edit *e)
{
    return e->call->verb == VERB_RESTORE;
}

/* True if mounts are compared for the groups' sake. A checkpoint's process has its groups already.
 */
static bool compares_for_groups(const struct edit *e)
{
    return e->groups.compare && !is_restoring(e);
}

/* Finds the mounts whose targets users can change. ERR_POLICY for one that is refused. */
static int find_nested(struct edit *e, const struct spec *after, bool ahead,
                       struct nested_mounts *out, struct err *err)
{
    const struct judgement *j = &e->judgement;
    struct user_ids ids;
    const struct nested_options options = {.bundle = e->bundle.dirfd,
                                           .user = nested_user(j->policy, &j->facts, &ids),
                                           .require_access = j->policy->binds.require_access,
                                           .judged =
                                               j->policy->binds.given || j->policy->security.given,
                                           .targets_deny = &j->policy->binds.targets_deny,
                                           .decision = &e->decision,
                                           .compare = compares_for_groups(e),
                                           .open_root = j->binds.root != NULL,
                                           .restoring = is_restoring(e),
                                           .ahead = ahead};

    if (nested_find(after, &options, &e->arena, out, err) < 0)
        return -1;
    for (size_t i = 0; i < out->count; i++)
        if (out->list[i].problem)
            return err_set(err, ERR_POLICY, "%s", out->list[i].problem);
    e->requires_access = out->requires_access;
    return out->problem ? err_set(err, ERR_POLICY, "%s", out->problem) : 0;
}

/* Secures mounts below other mounts, in config.json as the low-level runtime gets it. */
static int secure_nested(struct edit *e, bool *changed, struct err *err)
{
    const struct policy *policy = e->judgement.policy;
    struct nested_mounts nested;
    struct spec *after = arena_alloc(&e->arena, sizeof(*after));

    if (!nested_concerns(policy) && !compares_for_groups(e))
        return 0;
    if (!after)
        return err_nomem(err);
    if (spec_read(e->bundle.doc, &e->arena, after, err) < 0 ||
        find_nested(e, after, false, &nested, err) < 0)
        return -1;
    return policy->binds.targets_deny.count || compares_for_groups(e)
               ? nested_hook_put(after, e->bundle.doc, &nested.words, changed, err)
               : 0;
}

/* Refuses what secure_nested would refuse, before anything is made on the host. */
static int check_nested(void *subject, struct err *err)
{
    struct edit *e = subject;
    struct nested_mounts nested;
    struct spec *after = arena_alloc(&e->arena, sizeof(*after));

    if (!nested_concerns(e->judgement.policy) && !compares_for_groups(e))
        return 0;
    if (!after)
        return err_nomem(err);
    if (apply_foresee(&e->decision, e->bundle.doc, &e->spec, &e->arena, after, err) < 0)
        return -1;
    return find_nested(e, after, true, &nested, err);
}

/* Refuses a group that the low-level runtime could take for another. */
static int check_groups(struct edit *e, struct err *err)
{
    const struct judgement *j = &e->judgement;
    struct spec *after = arena_alloc(&e->arena, sizeof(*after));

    if (!after)
        return err_nomem(err);
    if (apply_foresee(&e->decision, e->bundle.doc, &e->spec, &e->arena, after, err) < 0 ||
        named_groups_judge(j, &e->decision, &e->spec, after, e->bundle.dirfd, &e->arena, &e->groups,
                           err) < 0)
        return -1;
    return e->groups.problem ? err_set(err, ERR_POLICY, "%s", e->groups.problem) : 0;
}

/* Features that the plan cannot do without are asked for before anything is made on the host. */
static int prepare_host(struct edit *e, bool enforce, struct err *err)
{
    const struct volumes_check check = {.run = check_nested, .subject = e};
    enum plan_need need = plan_need(&e->decision);

    if (need == PLAN_NEEDS_FEATURES && fit_features(e->low, true, enforce, &e->decision, err) < 0)
        return -1;
    if (volumes_prepare(e->call, &e->judgement.facts, enforce, &check, &e->arena, &e->decision,
                        err) < 0)
        return -1;
    if (need == PLAN_WANTS_FEATURES && plan_need(&e->decision) == need)
        return fit_features(e->low, false, enforce, &e->decision, err);
    return 0;
}

/*
 * crun allows each container the host's console before it looks at any rule for devices, up to
 * 1.21 at least; another runtime may as well. runc does not.
 */
static bool allows_console(const struct edit *e)
{
    const struct policy *policy = e->judgement.policy;

    return policy->mode == POLICY_ENFORCE && policy->security.devices.given && !trust_rootless() &&
           e->policy->flavor != FLAVOR_RUNC &&
           (e->policy->flavor == FLAVOR_CRUN || !lowlevel_is_runc(e->low));
}

/* The hook that takes the console away does not run when a checkpoint is restored. */
static int check_console(const struct edit *e, struct err *err)
{
    if (!is_restoring(e) || !allows_console(e))
        return 0;
    return err_set(err, ERR_POLICY,
                   "security.devices: %s would let the container open the console of this host: a "
                   "checkpoint can only be restored with runc",
                   e->low->path);
}

static int deny_console(struct edit *e, bool *changed, struct err *err)
{
    return own_hook_put(&own_hook_console, &e->spec, e->bundle.doc, allows_console(e), NULL, 0,
                        changed, err);
}

static int apply_and_write(struct edit *e, struct err *err)
{
    bool changes = decision_changes(&e->decision);

    if (changes && apply_decision(&e->decision, e->bundle.doc, &e->spec, err) < 0)
        return err_wrap(err, "%s", e->bundle.path);
    named_groups_apply(&e->judgement, &e->spec, e->bundle.doc, &changes);
    if (secure_nested(e, &changes, err) < 0 || deny_console(e, &changes, err) < 0)
        return -1;
    if (keep_state(e, err) < 0 || audit_edit(e, changes, err) < 0)
        return -1;
    return changes || e->bundle.linked ? bundle_write(&e->bundle, err) : 0;
}

/* Podman's --cgroups=disabled leaves out the rules for devices that were judged. */
static int check_cgroup(const struct edit *e, const struct policy *policy, struct err *err)
{
    if (!e->call->no_cgroup || !(policy->security.devices.given || policy->gpus.given))
        return 0;
    return err_set(err, ERR_POLICY,
                   "%s: a container without a cgroup (--cgroup-manager=disabled) could use all "
                   "devices of this host",
                   policy->security.devices.given ? "security.devices" : "gpus");
}

/* Descriptors can lead around what the policy says of binds and security, and around nothing else.
 */
static int check_inherited_fds(const struct edit *e, const struct policy *policy, struct err *err)
{
    if (!policy->security.given && !policy->binds.given)
        return 0;
    return inherited_fds_check(e->call->preserve_fds, err);
}

static int edit_bundle(struct edit *e, struct err *err)
{
    struct judgement *j = &e->judgement;

    if (bundle_open(&e->bundle, e->call, err) < 0)
        return -1;
    if (spec_read(e->bundle.doc, &e->arena, &e->spec, err) < 0)
        return err_wrap(err, "%s", e->bundle.path);
    e->subject.spec = &e->spec;
    e->subject.judgement = j;
    e->subject.decision = &e->decision;
    if (judge_container(e->policy, &e->spec, e->bundle.doc, e->bundle.dirfd, e->call->id, false,
                        e->low->path, &e->arena, j, err) < 0 ||
        decision_begin(&j->plan, &e->arena, &e->decision, err) < 0)
        return -1;
    bool enforce = j->policy->mode == POLICY_ENFORCE;
    if (enforce && (decision_check(&e->decision, err) < 0 || check_cgroup(e, j->policy, err) < 0 ||
                    check_inherited_fds(e, j->policy, err) < 0 || check_console(e, err) < 0 ||
                    check_groups(e, err) < 0))
        return -1;
    /* In the engine's mount namespace: some of what is prepared is for this container alone. */
    if (restack_root(j, false, &e->arena, &e->decision, err) < 0)
        return -1;
    _cleanup_fd_ int mounts = warm_prepare(j);
    if (prepare_host(e, enforce, err) < 0 || apply_and_write(e, err) < 0)
        return -1;
    if (mounts >= 0)
        warm_launch(mounts, j, &e->decision, &e->spec);
    return 0;
}

int edit_config(const struct policy *policy, const struct call *call, struct lowlevel *low,
                struct err *err)
{
    struct edit e = {.policy = policy,
                     .call = call,
                     .low = low,
                     .bundle = BUNDLE_INIT,
                     .arena = {.limit = MEMORY_LIMIT},
                     .subject = {.policy = policy, .call = call}};
    int rc = edit_bundle(&e, err);

    if (rc < 0)
        audit_refusal(&e.subject, err);
    arena_free(&e.arena);
    bundle_close(&e.bundle);
    return rc;
}
