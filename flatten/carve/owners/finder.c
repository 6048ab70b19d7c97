#include "flatten/carve/owners/finder.h"

#include "base/hash.h"
#include "flatten/merge/tree/array.h"
#include "flatten/merge/tree/symlink_budget.h"

#include <string.h>

enum { SLOTS = 2 * OWNERS_MOST, NAME_MOST = 255 };

/* The version of an owner whose copies have different ones, until owners_find is done. */
static char mixed[] = "";

struct node_name finder_name(const struct finder *f, uint32_t node)
{
    struct node_name name;

    name.text = tree_name(f->source->tree, node, &name.len);
    return name;
}

bool node_name_ends(struct node_name name, const char *end)
{
    size_t len = strlen(end);

    return name.len > len && memcmp(name.text + name.len - len, end, len) == 0;
}

bool node_name_is(struct node_name name, const char *text)
{
    return name.len == strlen(text) && memcmp(name.text, text, name.len) == 0;
}

/* Returns the slot of the owner, or the empty slot for it: at most half of them are taken. */
static uint32_t *slot_of(const struct finder *f, enum owner_kind kind, const char *name, size_t len)
{
    size_t at = hash_bytes(name, len, kind) % SLOTS;

    for (; f->slots[at]; at = (at + 1) % SLOTS) {
        const struct owner *o = &f->out->list[f->slots[at]];
        if (o->kind == kind && strlen(o->name) == len && memcmp(o->name, name, len) == 0)
            break;
    }
    return &f->slots[at];
}

uint32_t finder_find(const struct finder *f, enum owner_kind kind, const char *name, size_t len)
{
    return *slot_of(f, kind, name, len);
}

/* Copies a name or version. Returns 0 and NULL if it is not to be had within the limits. */
static int copy_text(struct finder *f, const char *text, size_t len, char **copy, struct err *err)
{
    *copy = NULL;
    if (len == 0 || len > NAME_MOST || memchr(text, '\0', len))
        return 0;
    if (len + 1 > f->texts) {
        f->out->cut++;
        return 0;
    }
    f->texts -= len + 1;
    *copy = arena_strndup(&f->out->texts, text, len);
    return *copy ? 0 : err_nomem(err);
}

int finder_owner(struct finder *f, enum owner_kind kind, const char *name, size_t len,
                 uint32_t *owner, struct err *err)
{
    uint32_t *slot = slot_of(f, kind, name, len);
    char *copy;

    *owner = *slot;
    if (*slot)
        return 0;
    if (f->out->count == OWNERS_MOST) {
        f->out->cut++;
        return 0;
    }
    if (copy_text(f, name, len, &copy, err) < 0)
        return -1;
    if (!copy)
        return 0;
    struct owner *added =
        array_push(&f->out->list, &f->out->count, &f->out->cap, sizeof(*added), err);
    if (!added)
        return -1;
    *added = (struct owner){.kind = kind, .tier = tier_of(kind, copy), .name = copy};
    *slot = *owner = (uint32_t)(f->out->count - 1);
    return 0;
}

int finder_version(struct finder *f, uint32_t owner, const char *version, size_t len,
                   struct err *err)
{
    struct owner *o = &f->out->list[owner];

    if (owner == OWNERS_NOBODY || len == 0)
        return 0;
    if (!o->version)
        return copy_text(f, version, len, &o->version, err);
    if (strlen(o->version) != len || memcmp(o->version, version, len) != 0)
        o->version = mixed;
    return 0;
}

uint32_t owners_stronger(const struct owners *o, uint32_t a, uint32_t b)
{
    const struct owner *left = &o->list[a], *right = &o->list[b];

    if (left->kind != right->kind)
        return left->kind > right->kind ? a : b;
    return strcmp(left->name, right->name) <= 0 ? a : b;
}

void finder_claim(struct finder *f, uint32_t owner, uint32_t node)
{
    if (owner == OWNERS_NOBODY || node == TREE_NONE || f->source->is_dir(f->source->ctx, node))
        return;
    uint32_t *holder = &f->out->by_node[node];
    *holder = owners_stronger(f->out, *holder, owner);
}

static uint32_t walk_path(struct finder *f, uint32_t at, const char *path, size_t len, bool follow,
                          struct symlink_budget *links);

/* Recurses through walk_path: no deeper than the budget has links. */
static uint32_t walk_name(struct finder *f, uint32_t dir, const char *name, size_t len, bool follow,
                          struct symlink_budget *links)
{
    const struct owner_source *s = f->source;
    uint32_t node = tree_find(s->tree, dir, name, len);
    struct err ignored;

    if (node == TREE_NONE || !follow || s->is_dir(s->ctx, node))
        return node;
    const char *target = s->link(s->ctx, node);
    if (!target)
        return node;
    size_t target_len = strlen(target);
    if (target_len >= f->left || symlink_budget_spend(links, target_len, &ignored) < 0)
        return TREE_NONE;
    f->left -= target_len;
    return walk_path(f, dir, target, target_len, true, links);
}

static uint32_t walk_path(struct finder *f, uint32_t at, const char *path, size_t len, bool follow,
                          struct symlink_budget *links)
{
    const char *end = path + len;

    if (len > 0 && *path == '/')
        at = TREE_ROOT;
    while (path < end && at != TREE_NONE) {
        const char *slash = memchr(path, '/', (size_t)(end - path));
        size_t name = (size_t)((slash ? slash : end) - path);
        if (name == 2 && path[0] == '.' && path[1] == '.')
            at = at == TREE_ROOT ? at : tree_parent(f->source->tree, at);
        else if (name > 1 || (name == 1 && path[0] != '.'))
            at = walk_name(f, at, path, name, follow || slash, links);
        path += name + (slash != NULL);
    }
    return at;
}

uint32_t finder_walk(struct finder *f, uint32_t from, const char *path, size_t len, bool follow)
{
    struct symlink_budget links = {0};

    return walk_path(f, from, path, len, follow, &links);
}
