#include "flatten/carve/layout/layout_groups.h"

#include "flatten/merge/tree/array.h"

#include <string.h>

static bool is_chosen(const uint8_t *chosen, uint8_t which, size_t file)
{
    return !chosen || chosen[file] == which;
}

/*
 * The name with the least rank does not depend on the order in which names were found, and is in
 * the same tree for all files of two trees that are linked to each other.
 */
static void choose_nodes(struct layout_groups *g)
{
    const struct layout_input *in = g->in;

    for (size_t i = 0; i < in->file_count; i++)
        g->nodes[i] = in->files[i].node;
    for (size_t i = 0; i < in->name_count; i++) {
        uint32_t *node = &g->nodes[in->names[i].file];
        if (g->order->rank[in->names[i].node] < g->order->rank[*node])
            *node = in->names[i].node;
    }
}

static void sort_by_owner(struct layout_groups *g, const uint8_t *chosen, uint8_t which)
{
    const struct layout_input *in = g->in;
    size_t owners = in->owners->count;

    for (size_t i = 0; i < in->file_count; i++) {
        const struct layout_file *file = &in->files[i];
        if (!is_chosen(chosen, which, i))
            continue;
        g->starts[file->owner + 1]++;
        g->bytes[file->owner] += file->bytes;
        g->total += file->bytes;
    }
    for (size_t i = 0; i < owners; i++)
        g->starts[i + 1] += g->starts[i];
    uint32_t chosen_count = g->starts[owners];
    for (size_t i = in->file_count; i-- > 0;)
        if (is_chosen(chosen, which, i))
            g->sorted[--g->starts[in->files[i].owner + 1]] = (uint32_t)i;
    memmove(g->starts, g->starts + 1, owners * sizeof(*g->starts));
    g->starts[owners] = chosen_count;
}

int layout_groups_init(const struct layout_input *in, const struct layout_order *order,
                       const uint8_t *chosen, uint8_t which, struct layout_groups *out,
                       struct err *err)
{
    size_t owners = in->owners->count;

    *out = (struct layout_groups){.in = in,
                                  .order = order,
                                  .nodes = calloc(in->file_count + 1, sizeof(*out->nodes)),
                                  .sorted = calloc(in->file_count + 1, sizeof(*out->sorted)),
                                  .by_file = calloc(in->file_count + 1, sizeof(*out->by_file)),
                                  .starts = calloc(owners + 1, sizeof(*out->starts)),
                                  .bytes = calloc(owners + 1, sizeof(*out->bytes))};
    if (!out->nodes || !out->sorted || !out->by_file || !out->starts || !out->bytes)
        return err_nomem(err);
    choose_nodes(out);
    sort_by_owner(out, chosen, which);
    return 0;
}

void layout_groups_clear(struct layout_groups *g)
{
    free(g->nodes);
    free(g->sorted);
    free(g->by_file);
    free(g->starts);
    free(g->bytes);
    free(g->list);
    *g = (struct layout_groups){0};
}

uint32_t layout_groups_add(struct layout_groups *g, uint32_t owner, uint32_t dir, uint64_t salt,
                           struct err *err)
{
    const struct owner *o = &g->in->owners->list[owner];
    uint64_t name = layout_hash(o->name, strlen(o->name), o->kind);

    if (g->count >= LAYOUT_NONE - 1) {
        err_set(err, ERR_LIMIT, "too many groups of files");
        return LAYOUT_NONE;
    }
    struct layout_group *group = array_push(&g->list, &g->count, &g->list_cap, sizeof(*group), err);
    if (!group)
        return LAYOUT_NONE;
    *group = (struct layout_group){
        .key = layout_hash_pair(layout_hash_pair(name, g->order->hash[dir]), salt),
        .owner = owner,
        .dir = dir,
        .tier = o->tier};
    return (uint32_t)(g->count - 1);
}

void layout_groups_put(struct layout_groups *g, uint32_t group, uint32_t file)
{
    g->by_file[file] = group;
    g->list[group].files++;
    g->list[group].bytes += g->in->files[file].bytes;
}

/* True for package managers whose packages put their files in directories of all packages. */
static bool shares_dirs(enum owner_kind kind)
{
    return kind == OWNER_DPKG || kind == OWNER_APK || kind == OWNER_RPM;
}

/* Returns the size up to which files of the owner are minor; 0 if none is. */
static uint64_t minor_size(const struct layout_groups *g, uint32_t owner, const uint32_t *files,
                           size_t count)
{
    uint64_t most = g->cap / 512, minor = 0;

    if (!shares_dirs(g->in->owners->list[owner].kind) || g->bytes[owner] <= g->cap / 4)
        return 0;
    for (size_t i = 0; i < count; i++)
        minor += g->in->files[files[i]].bytes <= most ? g->in->files[files[i]].bytes : 0;
    return minor <= g->cap / 64 ? most : 0;
}

static int group_whole(struct layout_groups *g, uint32_t owner, const uint32_t *files, size_t count,
                       struct err *err)
{
    uint64_t minor = minor_size(g, owner, files, count);
    uint32_t groups[2] = {LAYOUT_NONE, LAYOUT_NONE};

    for (size_t i = 0; i < count; i++) {
        bool is_minor = g->in->files[files[i]].bytes <= minor;
        uint32_t *group = &groups[is_minor];
        if (*group == LAYOUT_NONE)
            *group = layout_groups_add(g, owner, TREE_ROOT, is_minor, err);
        if (*group == LAYOUT_NONE)
            return -1;
        g->list[*group].minor = is_minor;
        layout_groups_put(g, *group, files[i]);
    }
    return 0;
}

static int group_owner(struct layout_groups *g, uint32_t owner, struct err *err)
{
    uint32_t *files = g->sorted + g->starts[owner];
    size_t count = g->starts[owner + 1] - g->starts[owner];

    if (count == 0)
        return 0;
    if (g->in->owners->list[owner].kind == OWNER_UNOWNED || g->bytes[owner] > g->cap)
        return layout_cut(g, owner, files, count, err);
    return group_whole(g, owner, files, count, err);
}

int layout_groups_make(struct layout_groups *g, uint64_t cap, struct err *err)
{
    g->cap = cap;
    g->count = 0;
    for (size_t i = 0; i < g->in->file_count; i++)
        g->by_file[i] = LAYOUT_NONE;
    for (size_t owner = 0; owner < g->in->owners->count; owner++)
        if (group_owner(g, (uint32_t)owner, err) < 0)
            return -1;
    return 0;
}
