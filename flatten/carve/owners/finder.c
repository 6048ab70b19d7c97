#include "flatten/carve/owners/finder.h"

#include "base/hash.h"
#include "flatten/merge/tree/array.h"
#include "flatten/merge/tree/tree_walk.h"

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

/* Returns the target of the symbolic link at the node, within what may still be followed. */
static const char *spend_target(void *ctx, uint32_t node)
{
    struct finder *f = ctx;
    const struct owner_source *s = f->source;
    const char *target = s->is_dir(s->ctx, node) ? NULL : s->link(s->ctx, node);
    size_t len = target ? strlen(target) : 0;

    if (!target || len >= f->left)
        return NULL;
    f->left -= len;
    return target;
}

uint32_t finder_walk(struct finder *f, uint32_t from, const char *path, size_t len, bool follow)
{
    const struct tree_links links = {spend_target, f};

    return tree_walk(f->source->tree, &links, from, path, len, follow);
}
