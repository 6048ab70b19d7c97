#include "flatten/carve/previous.h"

#include "flatten/carve/carve.h"
#include "flatten/image/history.h"
#include "flatten/layer/layer.h"
#include "flatten/merge/merge.h"
#include "flatten/merge/tree/array.h"
#include "flatten/merge/tree/merged_limits.h"
#include "flatten/stream/ustar.h"

#include <string.h>

/* A layer that is read. */
struct previous_reading {
    struct previous *out;
    struct tree *tree;
    struct sha256_lane hash;
    uint32_t *by_node; /* index + 1 of the node's entry in this layer or an older one */
    size_t node_cap;
    size_t first;       /* the index of the layer's first entry */
    uint32_t own_paths; /* nodes that the tree had before */
    uint16_t layer;
    bool stamps;
};

static void previous_reading_clear(struct previous_reading *r)
{
    sha256_lane_clear(&r->hash);
    free(r->by_node);
}

void previous_clear(struct previous *p)
{
    free(p->layers);
    free(p->entries);
    free(p->attributes);
    free(p->stamps);
}

/* ---- entries ---- */

static uint32_t node_of(struct previous_reading *r, const char *path, struct err *err)
{
    uint32_t node = TREE_ROOT;

    while (*path && node != TREE_NONE) {
        size_t len = strcspn(path, "/");
        node = tree_child(r->tree, node, path, len, err);
        path += len + (path[len] == '/');
    }
    if (node == TREE_NONE ||
        array_reserve(&r->by_node, &r->node_cap, tree_count(r->tree), sizeof(*r->by_node), err) < 0)
        return TREE_NONE;
    return node;
}

/* Returns the node's entry in this layer, or NULL. */
static struct layout_entry *entry_at(const struct previous_reading *r, uint32_t node)
{
    size_t index = r->by_node[node];

    return index > r->first ? &r->out->entries[index - 1] : NULL;
}

static struct layout_entry *add_entry(struct previous_reading *r, uint32_t node, uint8_t kind,
                                      uint32_t attributes, struct err *err)
{
    struct previous *p = r->out;
    uint32_t index = (uint32_t)p->entry_count;

    if (array_reserve(&p->attributes, &p->attributes_cap, index + 1, sizeof(*p->attributes), err) <
            0 ||
        (r->stamps &&
         array_reserve(&p->stamps, &p->stamps_cap, index + 1, sizeof(*p->stamps), err) < 0))
        return NULL;
    struct layout_entry *entry = ARRAY_PUSH(p, entry, entries, err);
    if (!entry)
        return NULL;
    p->attributes[index] = attributes;
    *entry = (struct layout_entry){.node = node, .inode = index, .layer = r->layer, .kind = kind};
    if (kind != LAYOUT_OPAQUE)
        r->by_node[node] = index + 1;
    return entry;
}

static int stamp_file(struct previous_reading *r, struct layer_reader *reader,
                      struct archive_entry *header, struct identity_stamp *out, struct err *err)
{
    uint64_t size = (uint64_t)archive_entry_size(header), at = 0, offset;
    bool regular = archive_entry_filetype(header) == AE_IFREG;
    const void *data;
    size_t len;
    int rc = 0;

    if (identity_begin(&r->hash, header, err) < 0)
        return -1;
    while (regular && size && (rc = layer_reader_data(reader, &data, &len, &offset, err)) > 0) {
        if (offset < at || offset > size || len > size - offset)
            return err_set(err, ERR_FORMAT, "content beyond the entry's size");
        if (identity_add(&r->hash, NULL, offset - at, err) < 0 ||
            identity_add(&r->hash, data, len, err) < 0)
            return -1;
        at = offset + len;
    }
    if (rc < 0 || (regular && identity_add(&r->hash, NULL, size - at, err) < 0))
        return -1;
    return identity_end(&r->hash, header, out, err);
}

/* Sets the identity of the newest entry. */
static int identify(struct previous_reading *r, struct layer_reader *reader,
                    struct archive_entry *header, struct err *err)
{
    struct previous *p = r->out;
    size_t index = p->entry_count - 1;
    struct identity_stamp stamp;

    if (stamp_file(r, reader, header, &stamp, err) < 0)
        return -1;
    if (r->stamps)
        p->stamps[index] = stamp;
    return identity_of_stamp(&r->hash, &stamp, &p->entries[index].identity, err);
}

/*
 * Adds a hard link. Engines apply a link's header to its file; where it differs, the file is equal
 * to nothing. A link to no file of this layer makes the layer unsound: it is added twice.
 */
static int add_link(struct previous_reading *r, uint32_t node, const struct layer_entry *e,
                    struct err *err)
{
    uint32_t target = node_of(r, e->info.link, err);
    struct layout_entry *link =
        target != TREE_NONE ? add_entry(r, node, LAYOUT_FILE, 0, err) : NULL;

    if (!link)
        return -1;
    struct layout_entry *file = target == node ? NULL : entry_at(r, target);
    if (!file || file->kind != LAYOUT_FILE)
        return add_entry(r, node, LAYOUT_FILE, 0, err) ? 0 : -1;
    file = &r->out->entries[file->inode];
    if (r->out->attributes[file - r->out->entries] != e->info.attributes)
        file->identity = (struct layout_identity){{0, 0}};
    link->inode = (uint32_t)(file - r->out->entries);
    link->identity = file->identity;
    file->bytes += USTAR_BLOCK;
    return 0;
}

static int add_file(struct previous_reading *r, uint32_t node, const struct layer_entry *e,
                    struct layer_reader *reader, struct err *err)
{
    bool dir = e->info.kind == ENTRY_DIR;
    bool regular = archive_entry_filetype(e->header) == AE_IFREG;
    uint64_t size = regular ? (uint64_t)archive_entry_size(e->header) : 0;
    struct layout_entry *entry =
        add_entry(r, node, dir ? LAYOUT_DIR : LAYOUT_FILE, e->info.attributes, err);

    if (!entry)
        return -1;
    entry->bytes = dir ? 0 : size + ustar_padding(size) + USTAR_BLOCK;
    return identify(r, reader, e->header, err);
}

static int read_entry(struct previous_reading *r, const struct layer_entry *e,
                      struct layer_reader *reader, struct err *err)
{
    uint32_t node = node_of(r, e->info.path, err);

    const struct merged_report report = {.entries_in = r->own_paths + r->out->entry_count};

    if (node == TREE_NONE || merged_check_implied(r->tree, &report, err) < 0)
        return -1;
    switch (e->info.kind) {
    case ENTRY_HARDLINK:
        return add_link(r, node, e, err);
    case ENTRY_WHITEOUT:
        return add_entry(r, node, LAYOUT_WHITEOUT, 0, err) ? 0 : -1;
    case ENTRY_OPAQUE:
        return add_entry(r, node, LAYOUT_OPAQUE, 0, err) ? 0 : -1;
    case ENTRY_DIR:
    case ENTRY_FILE:
    case ENTRY_SYMLINK:
    case ENTRY_OTHER:
        break;
    }
    return add_file(r, node, e, reader, err);
}

static int read_layer(struct previous_reading *r, const struct layer *layer, struct err *err)
{
    _cleanup_layer_reader_ struct layer_reader *reader = layer_reader_open(layer, err);
    struct layer_entry e;
    int rc;

    if (!reader)
        return -1;
    r->first = r->out->entry_count;
    while ((rc = layer_reader_next(reader, &e, err)) > 0)
        if (read_entry(r, &e, reader, err) < 0)
            return layer_entry_wrap(layer, &e, err);
    return rc;
}

/* ---- layers ---- */

/* Returns the tier that the comment of a carved layer's history names; TIER_APPLICATION for others.
 */
static enum owner_tier tier_of(const struct json *entry)
{
    const char *comment = json_text(json_get(entry, "comment"));

    for (int tier = 0; comment && tier <= TIER_STATE; tier++)
        if (strcmp(comment, carve_tier_names[tier]) == 0)
            return (enum owner_tier)tier;
    return TIER_APPLICATION;
}

/* Takes labels and tiers from the history, where flatten carve has put them; else the command. */
static void read_history(const struct image *image, struct previous *out)
{
    struct layout_previous_layer *layers = out->layers;
    static const char prefix[] = CARVE_LABEL_PREFIX;
    const struct json *root = image->config ? json_root(image->config) : NULL;
    const struct json *history = json_get(root, "history");
    size_t layer = 0;

    for (size_t i = 0; i < json_count(history) && layer < image->layer_count; i++) {
        const struct json *entry = json_at(history, i);
        const char *by = json_text(json_get(entry, "created_by"));
        if (history_is_empty_layer(entry))
            continue;
        layers[layer].label = by;
        if (by && strncmp(by, prefix, sizeof(prefix) - 1) == 0) {
            layers[layer].label = by + sizeof(prefix) - 1;
            layers[layer].tier = tier_of(entry);
            layers[layer].state = layers[layer].tier == TIER_STATE;
            out->carved = true;
        }
        layer++;
    }
}

static void set_view(struct previous *p, size_t layer_count)
{
    p->view = (struct layout_previous){.layers = p->layers,
                                       .layer_count = layer_count,
                                       .entries = p->entries,
                                       .entry_count = p->entry_count};
}

static int begin_layers(const struct image *image, struct previous *out, struct err *err)
{
    if (image->layer_count > MERGE_MOST_LAYERS)
        return err_set(err, ERR_LIMIT, "more than %d layers", MERGE_MOST_LAYERS);
    out->layers = calloc(image->layer_count + 1, sizeof(*out->layers));
    if (!out->layers)
        return err_nomem(err);
    for (size_t i = 0; i < image->layer_count; i++)
        out->layers[i].tier = TIER_APPLICATION;
    return 0;
}

static int check_layers(const struct image *image, const struct inventory *inventory,
                        struct err *err)
{
    bool same = inventory->layer_count + 1 == image->layer_count;

    for (size_t i = 0; same && i < inventory->layer_count; i++)
        same = digest_equal(&inventory->diff_ids[i], &image->layers[i].diff_id);
    return same ? 0 : err_set(err, ERR_FORMAT, "its inventory is of other layers");
}

int previous_take(const struct image *image, struct inventory *inventory, struct previous *out,
                  struct err *err)
{
    if (check_layers(image, inventory, err) < 0 || begin_layers(image, out, err) < 0)
        return -1;
    out->entries = steal_ptr(&inventory->entries);
    out->entry_count = out->entry_cap = inventory->entry_count;
    read_history(image, out);
    out->layers[image->layer_count - 1].state = true;
    set_view(out, image->layer_count);
    return 0;
}

int previous_read(struct image *image, struct tree *tree, bool stamps, struct previous *out,
                  struct err *err)
{
    _cleanup_(previous_reading_clear) struct previous_reading r = {
        .out = out, .tree = tree, .own_paths = tree_count(tree), .stamps = stamps};

    if (sha256_lane_init(&r.hash, err) < 0 || begin_layers(image, out, err) < 0)
        return -1;
    for (size_t i = 0; i < image->layer_count; i++) {
        r.layer = (uint16_t)i;
        if (read_layer(&r, &image->layers[i], err) < 0)
            return -1;
    }
    read_history(image, out);
    set_view(out, image->layer_count);
    return 0;
}
