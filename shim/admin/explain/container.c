#include "shim/admin/explain/container.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/fdio.h"
#include "base/json/json.h"
#include "shim/admin/engine/engine_stores.h"

#include <fcntl.h>
#include <glob.h>
#include <string.h>

enum { STATE_BYTES = 16 * 1024 * 1024, MOST_WORD = 128, MOST_NAMED = 5 };

/* The places of config.json below a root, and how many components above the file the ID is. */
static const struct place {
    const char *before, *after;
    int id_up;
} places[] = {
    {"/io.containerd.runtime.v2.task/*/", "/config.json", 1},
    {"/containerd/daemon/io.containerd.runtime.v2.task/*/", "/config.json", 1},
    {"/*-containers/", "/userdata/config.json", 2},
};
enum { PLACES = sizeof(places) / sizeof(*places) };

struct search {
    struct arena arena;
    const char **roots;
    size_t root_count;
    struct container *found;
    size_t count;
};

static void search_free(struct search *s)
{
    for (size_t i = 0; i < s->count; i++)
        container_free(&s->found[i]);
    free(s->found);
    arena_free(&s->arena);
}

#define _cleanup_search_ _cleanup_(search_free)

static int add_root(void *ctx, const char *path, struct err *err)
{
    struct search *s = ctx;
    const char *copy = arena_strndup(&s->arena, path, strlen(path));

    s->roots = arena_extend(&s->arena, s->roots, s->root_count, sizeof(*s->roots));
    if (!s->roots || !copy)
        return err_nomem(err);
    s->roots[s->root_count++] = copy;
    return 0;
}

/* The exec-root of a rootless Docker. */
static int add_users_docker(struct search *s, struct err *err)
{
    const char *run = getenv("XDG_RUNTIME_DIR");

    if (!run || run[0] != '/')
        return 0;
    _cleanup_free_ char *path = strf("%s/docker", run);
    return path ? add_root(s, path, err) : err_nomem(err);
}

static int find_roots(struct search *s, const char *const *states, size_t count, struct err *err)
{
    for (size_t i = 0; i < count; i++)
        if (add_root(s, states[i], err) < 0)
            return -1;
    if (add_root(s, "/run/containerd", err) < 0 || add_root(s, "/run/docker", err) < 0 ||
        add_users_docker(s, err) < 0)
        return -1;
    return engine_each_store(add_root, s, err);
}

/* ---- configurations ---- */

static char *component_above(const char *path, int up)
{
    const char *end = strrchr(path, '/');

    for (; up > 1; up--)
        end = memrchr(path, '/', (size_t)(end - path));
    const char *start = memrchr(path, '/', (size_t)(end - path));
    return strndup(start + 1, (size_t)(end - start - 1));
}

/* Adds a container, unless its ID was found already: /run/docker may be a link. */
static int add_found(struct search *s, const char *path, int id_up, struct err *err)
{
    _cleanup_free_ char *id = component_above(path, id_up);
    _cleanup_free_ char *config = strdup(path);

    if (!id || !config)
        return err_nomem(err);
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->found[i].id, id) == 0)
            return 0;
    struct container *list = reallocarray(s->found, s->count + 1, sizeof(*list));
    if (!list)
        return err_nomem(err);
    s->found = list;
    s->found[s->count++] = (struct container){.id = steal_ptr(&id), .config = steal_ptr(&config)};
    return 0;
}

/* Searches all places below all roots. `word` may end with a star. */
static int search_places(struct search *s, const char *word, struct err *err)
{
    for (size_t r = 0; r < s->root_count; r++)
        for (size_t p = 0; p < PLACES; p++) {
            _cleanup_free_ char *pattern =
                strf("%s%s%s%s", s->roots[r], places[p].before, word, places[p].after);
            glob_t paths = {0};
            if (!pattern)
                return err_nomem(err);
            int rc = 0;
            if (glob(pattern, GLOB_NOSORT, NULL, &paths) == 0)
                for (size_t i = 0; i < paths.gl_pathc && rc == 0; i++)
                    rc = add_found(s, paths.gl_pathv[i], places[p].id_up, err);
            globfree(&paths);
            if (rc < 0)
                return -1;
        }
    return 0;
}

/* ---- names ---- */

static struct json_doc *read_state(const char *path)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;

    if (file_read(AT_FDCWD, path, STATE_BYTES, &text, &ignored) < 0)
        return NULL;
    return json_parse_buf(&text, NULL, &ignored);
}

/*
 * Returns the ID of a name by Docker's containers/ID/config.v2.json, which has "Name": "/NAME" and
 * "ID".
 */
static char *docker_id(const char *path, const char *name)
{
    _cleanup_json_ struct json_doc *doc = read_state(path);
    const char *has = doc ? json_text(json_get(json_root(doc), "Name")) : NULL;
    const char *id = doc ? json_text(json_get(json_root(doc), "ID")) : NULL;

    return has && id && has[0] == '/' && strcmp(has + 1, name) == 0 ? strdup(id) : NULL;
}

/* Returns the ID of a name by podman's containers.json, a list of {"id", "names"}. */
static char *podman_id(const char *path, const char *name)
{
    _cleanup_json_ struct json_doc *doc = read_state(path);
    const struct json *list = doc ? json_root(doc) : NULL;

    for (size_t i = 0; json_is(list, JSON_ARRAY) && i < json_count(list); i++) {
        const struct json *names = json_get(json_at(list, i), "names");
        const char *id = json_text(json_get(json_at(list, i), "id"));
        for (size_t n = 0; id && json_is(names, JSON_ARRAY) && n < json_count(names); n++) {
            const char *text = json_text(json_at(names, n));
            if (text && strcmp(text, name) == 0)
                return strdup(id);
        }
    }
    return NULL;
}

/* Returns the ID of a name, or NULL. */
static char *resolve_name(const struct search *s, const char *name)
{
    static const struct {
        const char *pattern;
        char *(*read)(const char *path, const char *name);
    } books[] = {{"/containers/*/config.v2.json", docker_id},
                 {"/*-containers/containers.json", podman_id}};
    char *id = NULL;

    for (size_t r = 0; r < s->root_count && !id; r++)
        for (size_t b = 0; b < 2 && !id; b++) {
            _cleanup_free_ char *pattern = strf("%s%s", s->roots[r], books[b].pattern);
            glob_t paths = {0};
            if (pattern && glob(pattern, GLOB_NOSORT, NULL, &paths) == 0)
                for (size_t i = 0; i < paths.gl_pathc && !id; i++)
                    id = books[b].read(paths.gl_pathv[i], name);
            globfree(&paths);
        }
    return id;
}

/* ---- finding ---- */

static bool word_valid(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

    return *word && *word != '.' && strlen(word) <= MOST_WORD && !word[strspn(word, plain)];
}

static int choose_found(struct search *s, const char *word, struct container *out, struct err *err)
{
    _cleanup_buf_ struct buf names = BUF_INIT;

    if (s->count == 0)
        return err_set(err, ERR_USAGE,
                       "no container '%s' was found%s; see --state and --config in flatbed(8)",
                       word, geteuid() ? " among those that this user may see" : "");
    if (s->count == 1) {
        *out = s->found[0];
        s->count = 0;
        return 0;
    }
    for (size_t i = 0; i < s->count && i < MOST_NAMED; i++)
        buf_printf(&names, "%s%s", i ? ", " : "", s->found[i].id);
    return err_set(err, ERR_USAGE, "'%s' could be %zu containers: %s%s", word, s->count,
                   names.data ? names.data : "", s->count > MOST_NAMED ? ", …" : "");
}

int container_find(const char *word, const char *const *states, size_t state_count,
                   struct container *out, struct err *err)
{
    _cleanup_search_ struct search s = {0};

    *out = (struct container){0};
    if (!word_valid(word))
        return err_set(err, ERR_USAGE, "'%s' is neither an ID nor a name of a container", word);
    if (find_roots(&s, states, state_count, err) < 0 || search_places(&s, word, err) < 0)
        return -1;
    if (!s.count) {
        _cleanup_free_ char *id = resolve_name(&s, word);
        if (id && word_valid(id) && search_places(&s, id, err) < 0)
            return -1;
    }
    if (!s.count) {
        _cleanup_free_ char *start = strf("%s*", word);
        if (!start)
            return err_nomem(err);
        if (search_places(&s, start, err) < 0)
            return -1;
    }
    return choose_found(&s, word, out, err);
}

void container_free(struct container *c)
{
    free(c->id);
    free(c->config);
    *c = (struct container){0};
}
