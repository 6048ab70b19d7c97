/* Judges the mounts that the user brought by the policy's "binds". */
#include "base/path.h"
#include "shim/plan/bind_missing.h"
#include "shim/plan/mount_restriction.h"
#include "shim/plan/plan_parts.h"

#include <string.h>

/* ---- entries of `mounts` ---- */

/* True for file systems that the kernel makes up, and that show nothing of the host's disks. */
static bool is_virtual(const struct spec_mount *mount)
{
    static const char *const types[] = {"proc",   "sysfs",  "tmpfs",  "ramfs",
                                        "devpts", "mqueue", "cgroup", "cgroup2"};

    if (spec_has_option(mount->options, "remount")) /* changes a mount that was judged */
        return false;
    for (size_t i = 0; mount->type && i < sizeof(types) / sizeof(*types); i++)
        if (strcmp(mount->type, types[i]) == 0)
            return true;
    return false;
}

/* True for a volume of the policy, from an earlier edit, with no more access than it gives. */
static bool is_volume(const struct planner *p, const struct spec_mount *mount)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct plan_op *op = &p->ops[i];
        if (op->kind == PLAN_MOUNT && op->verdict == PLAN_KEPT && op->mount.ours &&
            (op->mount.access == ACCESS_RW || !mount_is_writable(mount->options)) &&
            plan_mounted_on(p->in->spec, op->mount.target) == mount)
            return true;
    }
    return false;
}

/* ---- rules ---- */

struct ruling {
    enum bind_access access;
    const struct policy_bind_rule *rule;    /* the rule that decides; NULL: the default */
    const struct policy_bind_rule *matched; /* the longest that holds it, for its options */
    const char *matched_path;               /* its path on this host */
    const char *problem;
};

/* Finds the rule with the longest path that holds the source; of equal ones the last. */
static void find_longest_rule(const struct planner *p, const char *path, struct ruling *r)
{
    size_t best = 0;

    for (size_t i = 0; i < p->in->policy->binds.rule_count; i++) {
        const char *of = p->in->binds->rules[i].path;
        if (!of || !path_is_beneath(path, of) || strlen(of) < best)
            continue;
        best = strlen(of);
        r->matched_path = of;
        r->rule = &p->in->policy->binds.rules[i];
        r->access = r->rule->access;
    }
    r->matched = r->rule;
}

/* Applies stricter rules for something within the source, and stricter ones that cannot be placed.
 */
static void tighten_ruling(const struct planner *p, const char *path, struct ruling *r)
{
    for (size_t i = 0; i < p->in->policy->binds.rule_count; i++) {
        const struct policy_bind_rule *rule = &p->in->policy->binds.rules[i];
        const struct bind_rule_path *at = &p->in->binds->rules[i];
        if (rule->access <= r->access || (!at->path && !at->problem) ||
            (at->path && !path_is_beneath(at->path, path)))
            continue;
        r->access = rule->access;
        r->rule = rule;
        r->problem = at->path ? NULL : at->problem;
    }
}

static struct ruling rule_for(const struct planner *p, const char *path)
{
    struct ruling r = {.access = p->in->policy->binds.fallback};

    find_longest_rule(p, path, &r);
    tighten_ruling(p, path, &r);
    return r;
}

/* ---- refusals ---- */

/* Appends the reason why no rule allows a source that the default refuses: the rule that is
 * missing. */
static void put_missing_rule(const struct bind_facts *facts, const struct bind_source *s,
                             struct buf *out)
{
    if (s->open && facts->other_ids)
        buf_printf(out, ": it could be the engine's own, but %s", facts->other_ids);
    else if (s->open)
        buf_puts(out, ": it could be the engine's own, but users can replace a directory above it");
    else if (s->volume)
        buf_puts(out, ": it is a named volume, and \"named_volumes\" does not allow these");
    else if (s->engine)
        buf_puts(out, ": it belongs to another container");
    else if (s->state)
        buf_puts(out, ": it is an engine's own state");
    else
        buf_puts(out, ": no rule contains it");
}

static int deny_source(struct planner *p, struct plan_op *op, const struct ruling *r)
{
    const struct policy_binds *binds = &p->in->policy->binds;
    const struct policy_place *place = r->rule ? &r->rule->place : &binds->place;
    const char *path = op->bind.source->path;
    _cleanup_buf_ struct buf more = BUF_INIT;

    if (r->problem)
        return plan_decide(p, op, PLAN_DENIED, place, "a rule cannot be placed: %s", r->problem);
    if (r->rule && r->rule->say)
        buf_printf(&more, ": %s", r->rule->say);
    else if (!r->rule)
        put_missing_rule(p->in->binds, op->bind.source, &more);
    if (!(r->rule && r->rule->say) && plan_hint_allowed(p, op) < 0)
        return -1;
    if (more.failed)
        return err_nomem(p->err);
    if (r->rule && r->rule != r->matched)
        return plan_decide(p, op, PLAN_DENIED, place, "%s holds %s, which is not allowed%s", path,
                           r->rule->path.text, more.len ? more.data : "");
    return plan_decide(p, op, PLAN_DENIED, place, "%s is not allowed%s", path,
                       more.len ? more.data : "");
}

/* True in a file system that could show anything of the host, unless a rule names a path within. */
static bool hides_its_directories(const char *opaque, const struct ruling *r)
{
    return opaque && !(r->matched && path_is_beneath(r->matched_path, opaque));
}

static int deny_opaque(struct planner *p, struct plan_op *op, const struct ruling *r)
{
    const struct policy_place *place = r->rule ? &r->rule->place : &p->in->policy->binds.place;
    const struct bind_source *b = op->bind.source;

    if (strcmp(b->type, "overlay") == 0)
        return plan_decide(p, op, PLAN_DENIED, place,
                           "%s is an overlay, which may show any directory of this host",
                           b->opaque);
    if (b->idmapped)
        return plan_decide(p, op, PLAN_DENIED, place,
                           "%s shows its files with other owners (X-mount.idmap), as the volume "
                           "asks for; it needs a rule that names it",
                           b->opaque);
    return plan_decide(p, op, PLAN_DENIED, place,
                       "%s is a %s file system that was mounted for a volume; it needs a rule that "
                       "names it",
                       b->opaque, b->type);
}

/* True for internal state of an engine that a rule would allow only along with other things. */
static bool is_state(const struct plan_op *op, const struct ruling *r)
{
    return op->bind.source->state && r->matched &&
           path_is_beneath(op->bind.source->state, r->matched_path);
}

/* True for a mount beneath the source that is allowed less than the source. */
static bool reaches_further(const struct planner *p, const struct bind_below *below,
                            const struct ruling *r)
{
    struct ruling own = rule_for(p, below->path);

    return own.access > r->access || hides_its_directories(below->opaque, &own);
}

/* True if the bind must leave out all that is mounted beneath the source. */
static bool leaves_all_out(const struct planner *p, const struct plan_op *op,
                           const struct ruling *r)
{
    const struct bind_source *b = op->bind.source;

    if (!b->below_count || op->bind.access == ACCESS_RO || b->unsteady)
        return b->below_count && op->bind.access == ACCESS_RO;
    for (size_t i = 0; i < b->below_count; i++)
        if (reaches_further(p, &b->below[i], r))
            return true;
    return false;
}

/*
 * If an engine may mount more below the source later, lists the mounts to keep: binds_hold removes
 * the others.
 */
static int choose_below(struct planner *p, struct plan_op *op, const struct ruling *r)
{
    const struct bind_source *b = op->bind.source;

    op->bind.alone = leaves_all_out(p, op, r);
    if (!b->unsteady || op->bind.alone)
        return 0;
    op->bind.below = arena_alloc(p->arena, (b->below_count + 1) * sizeof(*op->bind.below));
    if (!op->bind.below)
        return err_nomem(p->err);
    for (size_t i = 0; i < b->below_count; i++)
        if (!reaches_further(p, &b->below[i], r))
            op->bind.below[op->bind.below_count++] = b->below[i].path;
    return 0;
}

/* ---- what is left of it ---- */

static bool needs_access(const struct planner *p, const struct plan_op *op)
{
    if (op->bind.rule && op->bind.rule->says_require_access)
        return op->bind.rule->require_access;
    return p->in->policy->binds.require_access && !op->bind.source->engine;
}

static int deny_unreadable(struct planner *p, struct plan_op *op, const struct policy_place *place)
{
    const struct bind_source *source = op->bind.source;
    _cleanup_buf_ struct buf hint = BUF_INIT;

    if (source->group) {
        buf_printf(&hint, "its group may: add --group-add %s", source->group);
        if (plan_set_hint(p, op, &hint) < 0)
            return -1;
    }
    return plan_decide(p, op, PLAN_DENIED, place,
                       "the container's user may not read %s on this host", source->path);
}

static int restrict_mount(struct planner *p, struct plan_op *op, const struct json *options,
                          const struct ruling *r)
{
    const struct policy_place *place = r->rule ? &r->rule->place : &p->in->policy->binds.place;
    bool checked = needs_access(p, op);
    _cleanup_buf_ struct buf missing = BUF_INIT;

    if (checked && p->in->binds->nobody)
        return plan_decide(p, op, PLAN_DENIED, place, "the container's user is not known: %s",
                           p->in->binds->nobody);
    if (checked && spec_is_idmapped(op->bind.entry))
        return plan_decide(p, op, PLAN_DENIED, place,
                           "it is idmapped: its files have other owners in the container");
    if (checked && !op->bind.source->readable)
        return deny_unreadable(p, op, place);
    op->bind.access =
        r->access == BIND_ALLOW && !(checked && !op->bind.source->writable) ? ACCESS_RW : ACCESS_RO;
    if (choose_below(p, op, r) < 0)
        return -1;
    const bool deny_propagation = p->in->policy->binds.propagation.deny;
    size_t count = bind_put_missing(&op->bind, options, deny_propagation, &missing);
    if (missing.failed)
        return err_nomem(p->err);
    if (!count)
        return plan_decide(p, op, PLAN_KEPT, place, "allowed%s",
                           op->bind.below && op->bind.below_count < op->bind.source->below_count
                               ? ", without some of what is mounted below"
                               : "");
    const char *group =
        op->bind.access == ACCESS_RO && r->access == BIND_ALLOW ? op->bind.source->group : NULL;
    return plan_decide(p, op, PLAN_DOWNGRADED, place, "mounted %s%s%s", missing.data,
                       group ? "; its group may write: --group-add " : "", group ? group : "");
}

/* ---- the administrator's mounts ---- */

/*
 * True for a mount of a CDI specification or of NVIDIA's driver, unless a rule denies that path
 * itself, or it is writable against the specification's word.
 */
static bool is_administrators(const struct plan_op *op, const struct spec_mount *mount,
                              const struct ruling *r)
{
    const struct bind_source *b = op->bind.source;

    if (b->origin == BIND_OF_USER || (mount_is_writable(mount->options) && !b->origin_writable) ||
        spec_is_idmapped(op->bind.entry))
        return false;
    return r->access != BIND_DENY || !r->rule ||
           (r->rule == r->matched && strcmp(r->matched_path, b->path) != 0);
}

/* Sockets stay as they are: a connection is no change of the file system. */
static int restrict_administrators(struct planner *p, struct plan_op *op,
                                   const struct spec_mount *mount, const struct ruling *r)
{
    bool stays = op->bind.source->socket || r->access == BIND_ALLOW;
    const char *of =
        op->bind.source->origin == BIND_OF_CDI ? "a CDI specification" : "NVIDIA's driver";

    op->bind.rule = NULL;
    op->bind.access = stays ? ACCESS_RW : ACCESS_RO;
    if (stays || !mount_is_writable(mount->options))
        return plan_decide(p, op, PLAN_KEPT, NULL, "a mount of %s", of);
    return plan_decide(p, op, PLAN_DOWNGRADED, NULL, "a mount of %s, mounted ro", of);
}

/* ---- one mount ---- */

static int name_mount(struct planner *p, struct plan_op *op, const struct spec_mount *mount)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    buf_puts(&text, "the mount of ");
    buf_put_printable(&text, mount->source ? mount->source : "nothing",
                      strlen(mount->source ? mount->source : "nothing"));
    buf_puts(&text, " on ");
    buf_put_printable(&text, mount->destination, strlen(mount->destination));
    if (text.failed)
        return err_nomem(p->err);
    op->asked_by = arena_strndup(p->arena, text.data, text.len);
    return op->asked_by ? 0 : err_nomem(p->err);
}

static int judge_source(struct planner *p, struct plan_op *op, const struct spec_mount *mount)
{
    if (!op->bind.source->judged && p->in->policy->binds.fallback == BIND_ALLOW)
        return plan_decide(p, op, PLAN_KEPT, &p->in->policy->binds.place, "allowed");
    if (!op->bind.source->judged)
        return plan_deny_type(p, op, mount);
    if (!op->bind.source->path)
        return plan_decide(p, op, PLAN_DENIED, &p->in->policy->binds.place, "%s",
                           op->bind.source->problem);
    if (op->bind.source->null_device ||
        (op->bind.source->init && !mount_is_writable(mount->options)))
        return plan_decide(p, op, PLAN_KEPT, NULL, "harmless");
    if (op->bind.source->own)
        return plan_decide(p, op, PLAN_KEPT, NULL, "the engine's own");
    struct ruling r = rule_for(p, op->bind.source->path);
    op->bind.rule = r.matched;
    if (is_administrators(op, mount, &r))
        return restrict_administrators(p, op, mount, &r);
    if (r.access != BIND_DENY && hides_its_directories(op->bind.source->opaque, &r))
        return deny_opaque(p, op, &r);
    if (r.access != BIND_DENY && is_state(op, &r))
        return plan_decide(p, op, PLAN_DENIED, &r.rule->place,
                           "%s is an engine's own state, and needs a rule that names it",
                           op->bind.source->path);
    return r.access == BIND_DENY ? deny_source(p, op, &r)
                                 : restrict_mount(p, op, mount->options, &r);
}

static int deny_target(struct planner *p, struct plan_op *op, const char *target, const char *why)
{
    op->hint = plan_hint_target(op);
    return plan_decide(p, op, PLAN_DENIED, &p->in->policy->binds.targets_deny.place,
                       "nothing may be mounted over %s%s", target, why);
}

static int judge_mount(struct planner *p, size_t i)
{
    const struct spec_mount *mount = &p->in->spec->list[i];
    struct plan_op *op = plan_push(p, PLAN_BIND);

    if (!op || name_mount(p, op, mount) < 0)
        return -1;
    op->bind.entry = json_at(p->in->spec->mounts, i);
    op->bind.source = &p->in->binds->sources[i];
    op->bind.written = mount->source;
    op->bind.target = mount->destination;
    op->bind.access = ACCESS_RW;
    if (plan_is_given_device(p, i))
        return plan_judge_given_device(p, op);
    if (plan_is_users_sys(p, i))
        return plan_decide(p, op, PLAN_KEPT, NULL, "harmless");
    const char *target = plan_denied_target(p, i, mount->destination);
    if (target)
        return deny_target(p, op, target, "");
    target = op->bind.source->target ? plan_denied_target(p, i, op->bind.source->target) : NULL;
    if (target)
        return deny_target(p, op, target, ", where this leads in the container");
    const char *shared = plan_shared_option(mount->options);
    if (shared && p->in->policy->binds.propagation.deny)
        return plan_decide(p, op, PLAN_DENIED, &p->in->policy->binds.propagation.place,
                           "it is %s: what is mounted below it in the container would appear on "
                           "the host; use slave or private",
                           shared);
    return judge_source(p, op, mount);
}

/* ---- the container's root ---- */

static int judge_root_source(struct planner *p, struct plan_op *op)
{
    const struct bind_source *s = op->bind.source;
    const struct json *read_only = json_get(op->bind.entry, "readonly");

    if (!s->path)
        return plan_decide(p, op, PLAN_DENIED, &p->in->policy->binds.place, "%s", s->problem);
    struct ruling r = rule_for(p, s->path);
    const struct policy_place *place = r.rule ? &r.rule->place : &p->in->policy->binds.place;
    op->bind.rule = r.matched;
    if (r.access == BIND_DENY)
        return deny_source(p, op, &r);
    if (hides_its_directories(s->opaque, &r))
        return deny_opaque(p, op, &r);
    if (is_state(op, &r) || s->exposed)
        return plan_decide(p, op, PLAN_DENIED, place,
                           s->exposed ? "users can change %s, or replace a directory above it, "
                                        "while the container is made: use a directory that only "
                                        "root can write"
                                      : "%s is an engine's own state",
                           s->path);
    if (r.access == BIND_RO && !json_true(read_only))
        return plan_decide(p, op, PLAN_DENIED, place,
                           "%s may only be used read-only: add --read-only", s->path);
    if (needs_access(p, op) && p->in->binds->nobody)
        return plan_decide(p, op, PLAN_DENIED, place, "the container's user is not known: %s",
                           p->in->binds->nobody);
    return needs_access(p, op) && !s->readable ? deny_unreadable(p, op, place)
                                               : plan_decide(p, op, PLAN_KEPT, place, "allowed");
}

/* A root that is not the engine's is a mount by another name (podman run --rootfs). */
static int judge_root(struct planner *p)
{
    struct json *root = json_get(p->in->spec->root, "root");
    const char *path = json_text(json_get(root, "path"));
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (!p->in->binds->root)
        return 0;
    struct plan_op *op = plan_push(p, PLAN_BIND);
    buf_puts(&text, "the container's root ");
    buf_put_printable(&text, path, strlen(path));
    if (!op)
        return -1;
    op->asked_by = text.failed ? NULL : arena_strndup(p->arena, text.data, text.len);
    if (!op->asked_by)
        return err_nomem(p->err);
    op->bind = (struct plan_bind){.source = p->in->binds->root,
                                  .written = path,
                                  .target = "/",
                                  .entry = root,
                                  .access = ACCESS_RW};
    return judge_root_source(p, op);
}

/* ---- all of them ---- */

/* True for a file system of the kernel that hides nothing. */
static bool is_harmless(const struct planner *p, size_t i)
{
    const struct spec_mount *mount = &p->in->spec->list[i];
    const char *target = p->in->binds->sources[i].target;

    if (mount->bind || !is_virtual(mount) ||
        (p->in->policy->binds.propagation.deny && plan_shared_option(mount->options)))
        return false;
    return !(target && plan_denied_target(p, i, target)) &&
           (plan_is_engines_own(mount) || !plan_denied_target(p, i, mount->destination));
}

int plan_add_binds(struct planner *p)
{
    if (plan_judge_root_propagation(p) < 0 || judge_root(p) < 0)
        return -1;
    for (size_t i = 0; i < p->in->spec->mount_count; i++) {
        const struct spec_mount *mount = &p->in->spec->list[i];
        if (is_volume(p, mount) || is_harmless(p, i) || plan_is_user_file(p, mount))
            continue;
        if (judge_mount(p, i) < 0)
            return -1;
    }
    return 0;
}
