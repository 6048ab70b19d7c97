#include "shim/runtime/exec/state.h"

#include "shim/host/rundir.h"
#include "shim/oci/launch_mark.h"
#include "shim/oci/state_sweep.h"
#include "shim/runtime/exec/exec_rules.h"

#include <fcntl.h>
#include <string.h>

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

/*
 * Returns true for an addition by this edit or by one just before it: the engine does not make it.
 */
static bool is_ours(const struct outcome *o)
{
    const struct plan_op *op = o->op;

    if (op->kind != PLAN_ENV && op->kind != PLAN_RLIMIT)
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

static bool adds_nothing(const struct decision *decision)
{
    for (size_t i = 0; i < decision->count; i++)
        if (is_ours(&decision->list[i]))
            return false;
    return true;
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

int state_save(const char *root, const char *id, const struct judgement *judgement,
               const struct decision *decision, const struct spec *held, bool again,
               struct err *err)
{
    if (container_exists(root, id))
        return err_set(err, ERR_POLICY,
                       "there is a container '%s' already: delete it first, or choose another id",
                       id);
    _cleanup_json_ struct json_doc *doc = start_state(root, id, again, err);
    int rules = doc && held ? exec_rules_keep(judgement, held, doc, err) : 0;
    if (!doc || rules < 0)
        return -1;
    if (!rules && adds_nothing(decision))
        return again ? 0 : state_forget(root, id, err);
    if (add_ours(decision, doc, err) < 0 || write_state(root, id, doc, err) < 0)
        return err_wrap(err, "the rules for exec cannot be kept");
    return 0;
}

int state_forget(const char *root, const char *id, struct err *err)
{
    _cleanup_place_ struct place place = {.fd = -1};

    if (!state_is_kept(root, id))
        return 0; /* most containers have none */
    if (place_open(root, id, false, &place, err) < 0)
        return err->kind == ERR_SYSTEM && err->sys == ENOENT ? 0 : -1;
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
