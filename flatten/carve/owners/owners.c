#include "flatten/carve/owners/owners.h"

#include "flatten/carve/owners/finder.h"
#include "flatten/merge/tree/array.h"

#include <string.h>

enum { TEXTS_MOST = 4 << 20, SLOTS = 2 * OWNERS_MOST, ALL_LEAST = 64 << 20, ALL_A_PATH = 512 };

void owners_clear(struct owners *o)
{
    free(o->list);
    free(o->by_node);
    arena_free(&o->texts);
    *o = (struct owners){0};
}

/* ---- names of databases ---- */

static bool ends_with(const char *name, size_t len, const char *end)
{
    size_t end_len = strlen(end);

    return len >= end_len && memcmp(name + len - end_len, end, end_len) == 0;
}

bool owners_is_database(const struct tree *tree, uint32_t node)
{
    /* The end of the name, and of the name of its directory. */
    static const char *const names[][2] = {
        {".list", "info"},        {"", "status.d"},
        {"status", "dpkg"},       {"diversions", "dpkg"},
        {"installed", "db"},      {"rpmdb.sqlite", ""},
        {"RECORD", ".dist-info"}, {".json", "conda-meta"},
        {"package.json", ""},     {"installed-files.txt", ".egg-info"},
    };
    size_t len, dir_len;

    if (node == TREE_ROOT)
        return false;
    const char *name = tree_name(tree, node, &len);
    const char *dir = tree_name(tree, tree_parent(tree, node), &dir_len);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (ends_with(name, len, names[i][0]) && ends_with(dir, dir_len, names[i][1]))
            return true;
    return false;
}

/* ---- finding ---- */

static uint32_t find_dir(struct finder *f, const char *path)
{
    return finder_walk(f, TREE_ROOT, path, strlen(path), true);
}

/* Adds the two owners that every image has. */
static int add_unowned(struct owners *out, struct err *err)
{
    static const char *const names[] = {[OWNERS_NOBODY] = "", [OWNERS_STATE] = "state"};
    static const enum owner_tier tiers[] = {TIER_APPLICATION, TIER_STATE};

    for (size_t i = 0; i < 2; i++) {
        struct owner *o = array_push(&out->list, &out->count, &out->cap, sizeof(*o), err);
        if (!o)
            return -1;
        o->tier = tiers[i];
        o->name = arena_strndup(&out->texts, names[i], strlen(names[i]));
        if (!o->name)
            return err_nomem(err);
    }
    return 0;
}

static int finder_begin(struct finder *f, struct err *err)
{
    struct owners *out = f->out;

    out->node_count = tree_count(f->source->tree);
    out->by_node = calloc(out->node_count, sizeof(*out->by_node));
    f->window = malloc(LINES_WINDOW);
    f->slots = calloc(SLOTS, sizeof(*f->slots));
    f->shipped = calloc(out->node_count, sizeof(*f->shipped));
    if (!out->by_node || !f->window || !f->slots || !f->shipped)
        return err_nomem(err);
    f->texts = TEXTS_MOST;
    f->left = ALL_LEAST + (uint64_t)ALL_A_PATH * out->node_count;
    f->dpkg_info = find_dir(f, "var/lib/dpkg/info");
    f->dpkg_status_d = find_dir(f, "var/lib/dpkg/status.d");
    f->alternatives = find_dir(f, "etc/alternatives");
    return add_unowned(out, err);
}

static void finder_end(struct finder *f)
{
    diversions_clear(f);
    free(f->window);
    free(f->slots);
    free(f->shipped);
}

static int read_distributions(struct finder *f, struct err *err)
{
    if (diversions_read(f, err) < 0 || apk_read(f, err) < 0 || rpm_read(f, err) < 0)
        return -1;
    for (uint32_t node = 1; node < f->out->node_count; node++)
        if (dpkg_take(f, node, err) < 0)
            return -1;
    return dpkg_versions(f, err);
}

/* A directory's entry in by_node is the package of npm that it is in. Parents come first. */
static int take_node(struct finder *f, uint32_t node, struct err *err)
{
    uint32_t *by_node = f->out->by_node, dir = tree_parent(f->source->tree, node);
    uint32_t above = f->source->is_dir(f->source->ctx, dir) ? by_node[dir] : OWNERS_NOBODY;

    if (f->source->is_dir(f->source->ctx, node)) {
        by_node[node] = above;
        return npm_take(f, node, &by_node[node], err);
    }
    finder_claim(f, above, node);
    if (f->shipped[node])
        return 0;
    return pip_take(f, node, err) < 0 ? -1 : conda_take(f, node, err);
}

static int find_all(struct finder *f, struct err *err)
{
    if (read_distributions(f, err) < 0)
        return -1;
    for (uint32_t node = 1; node < f->out->node_count; node++)
        f->shipped[node] = f->out->by_node[node] != OWNERS_NOBODY;
    for (uint32_t node = 1; node < f->out->node_count; node++)
        if (take_node(f, node, err) < 0)
            return -1;
    follow_all(f);
    state_apply(f);
    return 0;
}

/* An owner, and the index that it had while owners were found. */
struct numbered {
    struct owner owner;
    uint32_t was;
};

static int compare_owners(const void *a, const void *b)
{
    const struct owner *left = &((const struct numbered *)a)->owner;
    const struct owner *right = &((const struct numbered *)b)->owner;

    return left->kind != right->kind ? (left->kind > right->kind) - (left->kind < right->kind)
                                     : strcmp(left->name, right->name);
}

/* Puts owners in order, so that the order of nodes does not show. */
static int sort_owners(struct owners *o, struct err *err)
{
    _cleanup_free_ struct numbered *sorted = calloc(o->count, sizeof(*sorted));
    _cleanup_free_ uint32_t *now = calloc(o->count, sizeof(*now));

    if (!sorted || !now)
        return err_nomem(err);
    for (uint32_t i = 0; i < o->count; i++) {
        sorted[i] = (struct numbered){o->list[i], i};
        if (sorted[i].owner.version && !*sorted[i].owner.version)
            sorted[i].owner.version = NULL; /* several versions */
    }
    qsort(sorted, o->count, sizeof(*sorted), compare_owners);
    for (uint32_t i = 0; i < o->count; i++) {
        o->list[i] = sorted[i].owner;
        now[sorted[i].was] = i;
    }
    for (size_t node = 0; node < o->node_count; node++)
        o->by_node[node] = now[o->by_node[node]];
    return 0;
}

int owners_find(const struct owner_source *source, struct owners *out, struct err *err)
{
    struct finder f = {.source = source, .out = out};

    *out = (struct owners){0};
    int rc = finder_begin(&f, err);
    if (rc == 0)
        rc = find_all(&f, err);
    finder_end(&f);
    return rc < 0 ? -1 : sort_owners(out, err);
}
