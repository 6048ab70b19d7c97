#include "shim/runtime/exec/state.h"

#include "shim/host/fd_path.h"
#include "shim/host/rundir.h"
#include "shim/oci/launch_mark.h"
#include "shim/oci/state_sweep.h"
#include "shim/plan/decision/describe.h"
#include "shim/runtime/exec/cwd_rule.h"
#include "shim/runtime/exec/exec_rules.h"
#include "shim/runtime/exec/pinned_namespaces.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { MOST_MADE = 64 };

/* The place of a container's file. */
struct place {
    int fd;
    struct buf name;
};

static void place_free(struct place *place)
{
    cleanup_fd(&place->fd);
    buf_free(&place->name);
}

#define _cleanup_place_ _cleanup_(place_free)

static int name_place(const char *root, const char *id, struct buf *directory, struct buf *name,
                      struct err *err)
{
    if (root && root[0] != '/')
        return err_set(err, ERR_UNSUPPORTED, "--root %.200s is relative", root);
    if (rundir_escape(root ? root : "default", directory, err) < 0 ||
        rundir_escape(id, name, err) < 0) {
        if (err->kind == ERR_LIMIT) /* there is no file for such a name */
            err->kind = ERR_UNSUPPORTED;
        return -1;
    }
    buf_puts(name, ".json");
    return buf_check(name, err);
}

static int place_open(const char *root, const char *id, bool make, struct place *out,
                      struct err *err)
{
    _cleanup_buf_ struct buf directory = BUF_INIT;

    *out = (struct place){.fd = -1};
    if (name_place(root, id, &directory, &out->name, err) < 0)
        return -1;
    out->fd = rundir_open(STATE_DIRECTORY, directory.data, make, err);
    return out->fd < 0 ? -1 : 0;
}

static struct json_doc *read_state(const struct place *place, struct err *err)
{
    static const struct json_options options = {.max_bytes = STATE_BYTES, .unique_keys = true};
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (rundir_read(place->fd, place->name.data, STATE_BYTES, &text, err) < 0)
        return NULL;
    return json_parse_buf(&text, &options, err);
}

struct json_doc *state_load(const char *root, const char *id, struct err *err)
{
    _cleanup_place_ struct place place = {.fd = -1};

    return place_open(root, id, false, &place, err) < 0 ? NULL : read_state(&place, err);
}

int state_find(const char *root, const char *id, struct json_doc **doc, struct err *err)
{
    _cleanup_json_ struct json_doc *found = state_load(root, id, err);

    *doc = NULL;
    if (!found && (err->kind == ERR_UNSUPPORTED || err_missing(err)))
        return 0;
    if (found && !json_is(json_root(found), JSON_OBJECT))
        err_set(err, ERR_FORMAT, "not an object");
    else if (found && !json_count(json_root(found))) /* state_save writes none without members */
        err_set(err, ERR_FORMAT, "an empty object");
    else if (found)
        *doc = steal_ptr(&found);
    return *doc ? 0
                : err_wrap(err, "the rules that the policy set for this container cannot be read");
}

/*
 * Returns true for an addition by this edit or by one just before it: the engine does not make it.
 */
static bool is_ours(const struct outcome *o)
{
    const struct plan_op *op = o->op;

    if ((op->kind != PLAN_ENV || op->variable.of_user) && op->kind != PLAN_RLIMIT)
        return false;
    if (o->verdict == PLAN_KEPT)
        return op->kind == PLAN_ENV ? op->variable.same : op->rlimit.same;
    return o->verdict == PLAN_ADDED || o->verdict == PLAN_DOWNGRADED;
}

static int add_variable(const struct plan_variable *v, struct json_doc *doc, struct err *err)
{
    _cleanup_free_ char *text = strf("%s=%s", v->name, v->value);

    if (!text)
        return err_nomem(err);
    json_append(doc, json_list(doc, json_root(doc), "env"), json_string(doc, text));
    return 0;
}

static struct json *put_limit(struct json_doc *doc, struct json *entry, uint64_t soft,
                              uint64_t hard)
{
    json_set(doc, entry, "soft", json_number(doc, soft));
    json_set(doc, entry, "hard", json_number(doc, hard));
    return entry;
}

static void add_limit(const struct plan_rlimit *limit, struct json_doc *doc)
{
    struct json *entry = put_limit(doc, json_object(doc), limit->amount, limit->amount);

    json_set(doc, entry, "type", json_string(doc, limit->name));
    if (limit->entry && !limit->same)
        json_set(doc, entry, "was",
                 put_limit(doc, json_object(doc), limit->was.soft, limit->was.hard));
    json_append(doc, json_list(doc, json_root(doc), "rlimits"), entry);
}

/* ---- what is for processes of the container's user only ---- */

static int add_home(const struct plan_variable *v, struct json_doc *doc, struct json *user,
                    struct err *err)
{
    if (!v->value)
        return 0;
    _cleanup_free_ char *text = strf("%s=%s", v->name, v->value);
    if (!text)
        return err_nomem(err);
    json_append(doc, json_list(doc, user, "env"), json_string(doc, text));
    return 0;
}

/* Keeps HOME and the groups that the process gets, and its uid. */
static int add_user(const struct decision *decision, const struct spec *spec, struct json_doc *doc,
                    struct err *err)
{
    struct json *user = json_object(doc);

    for (size_t i = 0; i < decision->count; i++) {
        const struct outcome *o = &decision->list[i];
        const struct plan_op *op = o->op;
        if (op->kind == PLAN_ENV && op->variable.of_user &&
            (o->verdict == PLAN_ADDED || (o->verdict == PLAN_KEPT && op->variable.same)) &&
            add_home(&op->variable, doc, user, err) < 0)
            return -1;
        for (size_t n = 0; op->kind == PLAN_GROUPS && n < op->groups.all_count; n++)
            json_append(doc, json_list(doc, user, "groups"), json_number(doc, op->groups.all[n]));
    }
    if (!json_count(user))
        return 0;
    json_set(doc, user, "uid", json_number(doc, spec->uid));
    json_set(doc, json_root(doc), "user", user);
    return 0;
}

static int add_ours(const struct decision *decision, struct json_doc *doc, struct err *err)
{
    for (size_t i = 0; i < decision->count; i++) {
        const struct outcome *o = &decision->list[i];
        if (!is_ours(o))
            continue;
        if (o->op->kind == PLAN_RLIMIT)
            add_limit(&o->op->rlimit, doc);
        else if (add_variable(&o->op->variable, doc, err) < 0)
            return -1;
    }
    return json_failed(doc) ? err_nomem(err) : 0;
}

/* ---- what was made of the container, for flatbed explain ---- */

/* True for an operation that changed config.json, or will. */
static bool is_made(const struct outcome *o)
{
    return o->op->kind != PLAN_ROOTFS &&
           (o->verdict == PLAN_ADDED || o->verdict == PLAN_DOWNGRADED);
}

static int add_made(const struct decision *decision, struct json_doc *doc, struct err *err)
{
    _cleanup_arena_ struct arena arena = {0};
    size_t count = 0;

    for (size_t i = 0; i < decision->count && count < MOST_MADE; i++) {
        struct description words;
        if (!is_made(&decision->list[i]))
            continue;
        if (describe_outcome(&decision->list[i], &arena, &words, err) < 0)
            return -1;
        json_append(doc, json_list(doc, json_root(doc), "made"), describe_json(&words, doc));
        count++;
    }
    return 0;
}

/* Adds the bundle's path: another runtime may have a container of the same name. */
static void add_bundle(int bundle, struct json_doc *doc)
{
    char path[PATH_MAX];

    if (fd_path(bundle, path) == 0)
        json_set(doc, json_root(doc), "bundle", json_string(doc, path));
}

/* Returns what an edit just before this one kept, or an empty document. */
static struct json_doc *start_state(const char *root, const char *id, bool again, struct err *err)
{
    struct err ignored;
    struct json_doc *doc = again ? state_load(root, id, &ignored) : NULL;

    return doc ? doc : json_new_object(err);
}

static int write_state(const char *root, const char *id, struct json_doc *doc, struct err *err)
{
    _cleanup_place_ struct place place = {.fd = -1};
    _cleanup_buf_ struct buf text = BUF_INIT;

    json_set(doc, json_root(doc), STATE_LAUNCH, launch_mark_make(doc, root, id));
    if (json_write(doc, &text, err) < 0 || place_open(root, id, true, &place, err) < 0 ||
        rundir_hold(place.fd, err) < 0)
        return -1;
    return rundir_write(place.fd, place.name.data, &text, err);
}

int state_save(const char *root, const char *id, const struct state_source *from, bool again,
               struct err *err)
{
    if (container_exists(root, id))
        return err_set(err, ERR_POLICY,
                       "there is a container '%s' already: delete it first, or choose another id",
                       id);
    _cleanup_json_ struct json_doc *doc = start_state(root, id, again, err);
    if (!doc || (from->held && exec_rules_keep(from->judgement, from->spec, from->names,
                                               from->loose_names, doc, err) < 0))
        return -1;
    if (from->enters &&
        cwd_rule_keep(from->spec, from->user, from->judgement->binds.root != NULL, doc, err) < 0)
        return -1;
    if ((from->held || from->enters) && pinned_namespaces_keep(from->spec, doc, err) < 0)
        return -1;
    if (add_ours(from->decision, doc, err) < 0 ||
        add_user(from->decision, from->spec, doc, err) < 0 ||
        add_made(from->decision, doc, err) < 0)
        return -1;
    if (!json_count(json_root(doc)))
        return again ? 0 : state_forget(root, id, err);
    add_bundle(from->bundle, doc);
    if (write_state(root, id, doc, err) < 0)
        return err_wrap(err, "the rules for exec cannot be kept");
    return 0;
}

int state_forget(const char *root, const char *id, struct err *err)
{
    _cleanup_place_ struct place place = {.fd = -1};

    if (!state_is_kept(root, id))
        return 0; /* most containers have none */
    if (place_open(root, id, false, &place, err) < 0)
        return err_missing(err) ? 0 : -1;
    if (unlinkat(place.fd, place.name.data, 0) < 0 && errno != ENOENT)
        return err_sys(err, "cannot remove %s", place.name.data);
    return 0;
}

bool state_is_kept(const char *root, const char *id)
{
    _cleanup_buf_ struct buf directory = BUF_INIT, name = BUF_INIT;
    struct err ignored;

    return name_place(root, id, &directory, &name, &ignored) == 0 &&
           !rundir_lacks(STATE_DIRECTORY, directory.data, name.data);
}

/* Returns true if no launch is under way, and no runtime has the container. */
static bool is_over(const struct place *place, const char *root, const char *id)
{
    struct err ignored;
    _cleanup_json_ struct json_doc *doc = read_state(place, &ignored);
    const struct json *mark = doc ? json_get(json_root(doc), STATE_LAUNCH) : NULL;

    return mark ? launch_mark_over(mark) : !container_kept(root, id);
}

void state_forget_gone(const char *root, const char *id)
{
    _cleanup_place_ struct place place = {.fd = -1};
    struct err ignored;

    if (place_open(root, id, false, &place, &ignored) == 0 &&
        rundir_hold(place.fd, &ignored) == 0 && is_over(&place, root, id))
        unlinkat(place.fd, place.name.data, 0);
}
