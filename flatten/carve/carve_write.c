#include "flatten/carve/carve_write.h"

#include "flatten/carve/order.h"
#include "flatten/carve/spool/identity.h"
#include "flatten/carve/spool/piece_reader.h"
#include "flatten/layer/emit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { BLOCK = 512 * 1024 };

/* ---- what each layer has ---- */

static bool describes(const struct carve_plan *p, uint32_t dir, size_t layer)
{
    return p->described[dir] == p->kept + layer;
}

/*
 * Returns the layer that lists the node: that of the file, or the newest for a directory that it
 * describes and for a whiteout; layer_count for none.
 */
static size_t layer_of(const struct carve_plan *p, uint32_t node, bool whiteout)
{
    const struct spool_record *r = spool_at(p->spool, node);

    if (whiteout)
        return p->layer_count - 1;
    if (!r)
        return p->layer_count;
    if (S_ISDIR(r->mode))
        return describes(p, node, p->layer_count - 1) ? p->layer_count - 1 : p->layer_count;
    size_t layer = p->by_record[r - p->spool->records];
    return layer == CARVE_ELSEWHERE ? p->layer_count : layer;
}

/* Lists the nodes of each layer in the given order. `whiteouts`: by node. */
static void list_nodes(struct carve_lists *l, const uint32_t *order, const bool *whiteouts)
{
    size_t count = tree_count(l->plan->spool->tree), layers = l->plan->layer_count;
    size_t *next = l->starts + 1;

    for (size_t i = 0; i < count; i++)
        next[layer_of(l->plan, order[i], whiteouts[order[i]])]++;
    for (size_t layer = 1; layer <= layers; layer++)
        l->starts[layer] += l->starts[layer - 1];
    size_t end = l->starts[layers];
    /* next[layer] is the end of the layer; filled backwards, it becomes its start. */
    for (size_t i = count; i-- > 0;) {
        size_t layer = layer_of(l->plan, order[i], whiteouts[order[i]]);
        if (layer < layers)
            l->nodes[--next[layer]] = order[i];
    }
    memmove(l->starts, next, layers * sizeof(*next));
    l->starts[layers] = end;
}

int carve_lists_init(struct carve_lists *l, const struct carve_plan *plan, struct err *err)
{
    uint32_t count = tree_count(plan->spool->tree);
    _cleanup_free_ uint32_t *order = order_paths(plan->spool->tree, err);
    _cleanup_free_ bool *whiteouts = calloc(count, sizeof(*whiteouts));

    *l = (struct carve_lists){.plan = plan};
    if (!order)
        return -1;
    l->nodes = calloc(count, sizeof(*l->nodes));
    l->starts = calloc(plan->layer_count + 2, sizeof(*l->starts));
    l->first_name = calloc(plan->spool->record_count + 1, sizeof(*l->first_name));
    if (!whiteouts || !l->nodes || !l->starts || !l->first_name)
        return err_nomem(err);
    for (size_t i = 0; i < plan->whiteout_count; i++)
        whiteouts[plan->whiteouts[i]] = true;
    list_nodes(l, order, whiteouts);
    return 0;
}

void carve_lists_clear(struct carve_lists *l)
{
    free(l->nodes);
    free(l->starts);
    free(l->first_name);
}

int carve_writer_init(struct carve_writer *w, struct carve_lists *lists,
                      const atomic_bool *given_up, struct err *err)
{
    uint32_t count = tree_count(lists->plan->spool->tree);

    *w = (struct carve_writer){.lists = lists,
                               .given_up = given_up,
                               .marks = calloc(count, sizeof(*w->marks)),
                               .block = malloc(BLOCK)};
    if (!w->marks || !w->block)
        return err_nomem(err);
    return sha256_lane_init(&w->identity, err);
}

void carve_writer_clear(struct carve_writer *w)
{
    free(w->marks);
    free(w->block);
    cleanup_piece_reader(&w->pieces);
    sha256_lane_clear(&w->identity);
    buf_free(&w->path);
    buf_free(&w->target);
}

/* ---- identities ---- */

/* Returns the hash that content is added to; NULL if nobody asks for identities. */
static struct sha256_lane *identity_of(struct carve_writer *w)
{
    return w->lists->plan->identities ? &w->identity : NULL;
}

static int begin_identity(struct carve_writer *w, struct archive_entry *header,
                          struct identity_stamp *stamp, struct err *err)
{
    static const struct layout_identity unknown;

    *stamp = identity_stamp_of(&unknown, header);
    return identity_of(w) ? identity_begin(&w->identity, header, err) : 0;
}

static int end_identity(struct carve_writer *w, const struct spool_record *r,
                        struct identity_stamp *stamp, struct err *err)
{
    struct layout_identity *all = w->lists->plan->identities;

    if (!all)
        return 0;
    if (identity_timeless(&w->identity, &stamp->timeless, err) < 0)
        return -1;
    return identity_of_stamp(&w->identity, stamp, &all[r - w->lists->plan->spool->records], err);
}

/* ---- entries ---- */

static const struct spool *spool_of(const struct carve_writer *w)
{
    return w->lists->plan->spool;
}

/* Makes a header neutral: the directory is described elsewhere. */
static struct archive_entry *neutral_header(struct archive_entry *header, struct err *err)
{
    struct archive_entry *neutral = archive_entry_new();

    if (!neutral) {
        err_nomem(err);
        return NULL;
    }
    archive_entry_set_mode(neutral, archive_entry_mode(header));
    archive_entry_set_uid(neutral, archive_entry_uid(header));
    archive_entry_set_gid(neutral, archive_entry_gid(header));
    archive_entry_set_mtime(neutral, 0, 0);
    return neutral;
}

/* A directory without a record is the root, or lies in a kept layer: it needs no entry. */
static int put_dir(struct carve_writer *w, uint32_t node, size_t layer, struct entry_sink *to,
                   struct err *err)
{
    const struct spool_record *r = spool_at(spool_of(w), node);
    bool described = describes(w->lists->plan, node, layer);
    const char *path = tree_path_in(spool_of(w)->tree, node, &w->path);

    w->marks[node] = (uint16_t)(layer + 1);
    if (!r)
        return 0;
    if (!path)
        return err_nomem(err);
    _cleanup_entry_ struct archive_entry *header = spool_header(spool_of(w), r, err);
    _cleanup_entry_ struct archive_entry *neutral =
        header && !described ? neutral_header(header, err) : NULL;
    if (!header || (!described && !neutral))
        return -1;
    struct identity_stamp stamp;
    if (described &&
        (begin_identity(w, header, &stamp, err) < 0 || end_identity(w, r, &stamp, err) < 0))
        return -1;
    return emit_entry(to, path, neutral ? neutral : header, NULL, NULL, err);
}

/* Returns the outermost directory above the node that the layer does not have yet. */
static uint32_t find_missing(const struct carve_writer *w, uint32_t node, size_t layer)
{
    const struct tree *tree = spool_of(w)->tree;
    uint32_t missing = TREE_NONE;

    for (uint32_t dir = tree_parent(tree, node); dir != TREE_NONE && w->marks[dir] != layer + 1;
         dir = tree_parent(tree, dir))
        missing = dir;
    return missing;
}

static int put_dirs_above(struct carve_writer *w, uint32_t node, size_t layer,
                          struct entry_sink *to, struct err *err)
{
    uint32_t missing;

    while ((missing = find_missing(w, node, layer)) != TREE_NONE)
        if (put_dir(w, missing, layer, to, err) < 0)
            return -1;
    return 0;
}

static int go_on(const struct carve_writer *w, struct err *err)
{
    return atomic_load(w->given_up) ? err_set(err, ERR_SYSTEM, "given up") : 0;
}

static int put_content(struct carve_writer *w, const struct spool_record *r, struct entry_sink *to,
                       struct err *err)
{
    for (uint64_t at = 0; at < r->size;) {
        size_t len = r->size - at < BLOCK ? (size_t)(r->size - at) : BLOCK;
        const struct content_piece piece = {.data = w->block, .len = len, .hashed = identity_of(w)};
        if (go_on(w, err) < 0 || spool_read(spool_of(w), r, at, w->block, len, err) < 0 ||
            entry_sink_piece(to, &piece, err) < 0)
            return -1;
        at += len;
    }
    return 0;
}

/* Gives the sink the frames of a packed file, too. */
static int put_pieces(struct carve_writer *w, const struct spool_record *r, struct entry_sink *to,
                      struct err *err)
{
    const struct piece *pieces = spool_pieces(spool_of(w), r);

    if (!w->pieces && !(w->pieces = piece_reader_new(spool_of(w)->fd, err)))
        return -1;
    for (size_t i = 0; i < spool_piece_count(r); i++) {
        const char *data = go_on(w, err) < 0 ? NULL : piece_read(w->pieces, &pieces[i], err);
        const struct content_piece piece = {.data = data,
                                            .len = pieces[i].len,
                                            .hashed = identity_of(w),
                                            .fd = spool_of(w)->fd,
                                            .at = pieces[i].at,
                                            .size = pieces[i].size};
        if (!data || entry_sink_piece(to, &piece, err) < 0)
            return -1;
    }
    return 0;
}

static int put_file(struct carve_writer *w, uint32_t node, struct entry_sink *to, struct err *err)
{
    const struct spool_record *r = spool_at(spool_of(w), node);
    uint32_t *first = &w->lists->first_name[r - spool_of(w)->records];
    const char *path = tree_path_in(spool_of(w)->tree, node, &w->path);
    const char *target = *first ? tree_path_in(spool_of(w)->tree, *first, &w->target) : "";
    _cleanup_entry_ struct archive_entry *header = spool_header(spool_of(w), r, err);

    if (!header)
        return -1;
    if (!path || !target)
        return err_nomem(err);
    if (*first)
        return emit_link(to, path, target, header, err);
    *first = node;
    struct identity_stamp stamp;
    archive_entry_copy_pathname(header, path);
    if (begin_identity(w, header, &stamp, err) < 0 || entry_sink_entry(to, header, err) < 0 ||
        (r->pieces ? put_pieces(w, r, to, err) : put_content(w, r, to, err)) < 0)
        return -1;
    return end_identity(w, r, &stamp, err);
}

static int put_whiteout(struct carve_writer *w, uint32_t node, struct entry_sink *to,
                        struct err *err)
{
    const char *path = tree_path_in(spool_of(w)->tree, node, &w->path);

    return path ? emit_whiteout(to, path, err) : err_nomem(err);
}

int carve_write_layer(struct carve_writer *w, size_t layer, struct entry_sink *to, struct err *err)
{
    for (size_t i = w->lists->starts[layer]; i < w->lists->starts[layer + 1]; i++) {
        uint32_t node = w->lists->nodes[i];
        const struct spool_record *r = spool_at(spool_of(w), node);
        int rc = go_on(w, err);
        if (rc == 0)
            rc = put_dirs_above(w, node, layer, to, err);
        if (rc == 0)
            rc = !r                 ? put_whiteout(w, node, to, err)
                 : S_ISDIR(r->mode) ? put_dir(w, node, layer, to, err)
                                    : put_file(w, node, to, err);
        if (rc < 0)
            return -1;
    }
    return 0;
}

void carve_drop_layer(const struct carve_writer *w, size_t layer)
{
    struct spool_gone gone = {0};

    for (size_t i = w->lists->starts[layer]; i < w->lists->starts[layer + 1]; i++) {
        const struct spool_record *r = spool_at(spool_of(w), w->lists->nodes[i]);
        if (r && !S_ISDIR(r->mode)) /* other layers may have the directory, too */
            spool_drop(spool_of(w), r, &gone);
    }
    spool_drop_rest(spool_of(w), &gone);
}
