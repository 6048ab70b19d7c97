#include "shim/admin/explain/origin.h"

#include "base/fdio.h"
#include "base/json/json.h"
#include "base/path.h"
#include "shim/host/rundir.h"
#include "shim/oci/state_sweep.h"

#include <dirent.h>
#include <string.h>

/* ---- finding the state ---- */

/* Returns true if the state is of the container in that directory. */
static bool is_of_bundle(struct json_doc *state, const char *bundle)
{
    const char *text = json_text(json_get(json_root(state), "bundle"));

    return text && strcmp(text, bundle) == 0;
}

/* Returns the state that one runtime has of that ID and bundle, or NULL. */
static struct json_doc *read_state(const char *root, const char *name, const char *bundle)
{
    struct err ignored;
    _cleanup_buf_ struct buf text = BUF_INIT;
    _cleanup_fd_ int fd = rundir_open(STATE_DIRECTORY, root, false, &ignored);

    if (fd < 0 || rundir_read(fd, name, STATE_BYTES, &text, &ignored) < 0)
        return NULL;
    _cleanup_json_ struct json_doc *doc = json_parse_buf(&text, NULL, &ignored);
    return doc && is_of_bundle(doc, bundle) ? steal_ptr(&doc) : NULL;
}

static char *real_directory(const char *config)
{
    const char *name;
    _cleanup_free_ char *directory = path_parent(config, &name);

    return directory ? realpath(directory, NULL) : NULL;
}

struct json_doc *origin_load(const char *id, const char *config)
{
    struct err ignored;
    _cleanup_free_ char *bundle = real_directory(config);
    _cleanup_buf_ struct buf name = BUF_INIT;
    int fd = rundir_open(STATE_DIRECTORY, NULL, false, &ignored);
    DIR *roots = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;
    struct json_doc *state = NULL;

    if (!roots) {
        cleanup_fd(&fd);
        return NULL;
    }
    bool named = bundle && rundir_escape(id, &name, &ignored) == 0;
    buf_puts(&name, ".json");
    while (named && !name.failed && !state && (entry = readdir(roots)) != NULL)
        if (entry->d_name[0] != '.')
            state = read_state(entry->d_name, name.data, bundle);
    closedir(roots);
    return state;
}

/* ---- applying it ---- */

/* Returns a member of a kept operation in the arena: NULL if it has none. */
static const char *member(const struct json *made, const char *key, struct arena *arena)
{
    const char *text = json_text(json_get(made, key));

    return text ? arena_strndup(arena, text, strlen(text)) : NULL;
}

static struct description read_made(const struct json *made, struct arena *arena)
{
    const char *kind_of = member(made, "kind", arena), *verdict = member(made, "verdict", arena);
    const char *subject = member(made, "subject", arena), *reason = member(made, "reason", arena);

    return (struct description){
        .kind = kind_of ? kind_of : "",
        .verdict = verdict ? verdict : "",
        .subject = subject ? subject : "",
        .source = member(made, "source", arena),
        .target = member(made, "target", arena),
        .access = member(made, "access", arena),
        .value = member(made, "value", arena),
        .asked_by = member(made, "asked_by", arena),
        .reason = reason ? reason : "",
        .policy = member(made, "policy", arena),
    };
}

static bool same_text(const char *a, const char *b)
{
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

/* Returns the kept operation that the present one shows again, or NULL. */
static const struct description *
find_made(const struct description *d, const struct description *made, bool *taken, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!taken[i] && strcmp(d->kind, made[i].kind) == 0 &&
            strcmp(d->subject, made[i].subject) == 0 && same_text(d->target, made[i].target)) {
            taken[i] = true;
            return &made[i];
        }
    return NULL;
}

static bool begins(const char *text, const char *prefix)
{
    return text && strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_request(const struct description *d)
{
    return begins(d->asked_by, "flatbed.") || begins(d->asked_by, "FLATBED_") ||
           begins(d->asked_by, REQUEST_DIRECTORY);
}

/* Returns who is behind an operation that was not made by an earlier edit. */
static const char *origin_of(const struct description *d, const struct plan_op *op)
{
    bool denied = strcmp(d->verdict, "denied") == 0;

    if (op->kind == PLAN_BIND)
        return op->bind.source && op->bind.source->engine ? "engine" : "user";
    if (is_request(d))
        return "request";
    if (strcmp(d->verdict, "kept") == 0 || (denied && op->kind == PLAN_SECURITY))
        return "container";
    return "policy";
}

/* Puts in what an operation was when the container was created. A source may have been pinned then:
 * the present one, if there is one, stays. */
static void put_made(struct explanation *e, size_t i, const struct description *made)
{
    const char *source = e->ops[i].source;

    e->ops[i] = *made;
    e->ops[i].source = source ? source : made->source;
    e->by[i] = is_request(made) ? "request" : "policy";
}

int origin_apply(struct explanation *e, struct json_doc *state, struct arena *arena,
                 struct err *err)
{
    const struct json *list = state ? json_get(json_root(state), "made") : NULL;
    size_t count = json_is(list, JSON_ARRAY) ? json_count(list) : 0, now = e->op_count;
    struct description *ops = arena_alloc(arena, (now + count + 1) * sizeof(*ops));
    struct description *made = arena_alloc(arena, (count + 1) * sizeof(*made));
    bool *taken = arena_alloc(arena, count + 1);

    e->by = arena_alloc(arena, (now + count + 1) * sizeof(*e->by));
    if (!ops || !made || !taken || !e->by)
        return err_nomem(err);
    for (size_t i = 0; i < count; i++)
        made[i] = read_made(json_at(list, i), arena);
    memcpy(ops, e->ops, now * sizeof(*ops));
    e->ops = ops;
    for (size_t i = 0; i < now; i++) {
        bool kept = strcmp(ops[i].verdict, "kept") == 0;
        const struct description *was = kept ? find_made(&ops[i], made, taken, count) : NULL;
        e->by[i] = origin_of(&ops[i], e->decision.list[i].op);
        if (was)
            put_made(e, i, was);
    }
    for (size_t i = 0; i < count; i++)
        if (!taken[i])
            put_made(e, e->op_count++, &made[i]);
    return 0;
}
