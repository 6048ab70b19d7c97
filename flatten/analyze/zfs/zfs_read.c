#include "flatten/analyze/zfs/zfs_read.h"

#include "base/digest/sha256.h"

#include <string.h>

struct zfs_reading {
    const struct layer_stack *s;
    struct zfs *zfs;
    struct zfs_report *out;
    struct dedup *dedup;   /* or NULL */
    struct sha256 *sha256; /* for it */
    uint32_t *tops;        /* by node: its directory, at most two names deep */
    uint64_t every;        /* one record in `every` is compressed */
    uint64_t next;         /* records to pass over before the next of the sample */
    char *record;          /* the current one */
    size_t filled;
    bool only;
    struct zfs_dir *dir; /* of the current file; or NULL */
};

static void reading_clear(struct zfs_reading *r)
{
    cleanup_zfs(&r->zfs);
    cleanup_sha256(&r->sha256);
    free(r->tops);
    free(r->record);
}

static uint64_t records_of(const struct zfs_reading *r, uint64_t size)
{
    return (size + r->out->record - 1) / r->out->record;
}

static bool is_visible(const struct stack_file *f)
{
    return f->layer && !f->killer && f->size;
}

/* ---- directories ---- */

static int name_tops(struct zfs_reading *r, struct err *err)
{
    uint32_t count = tree_count(r->s->tree);

    r->tops = calloc(count, sizeof(*r->tops));
    if (!r->tops)
        return err_nomem(err);
    for (uint32_t node = 1; node < count; node++) {
        uint32_t parent = tree_parent(r->s->tree, node);
        uint32_t above = parent == TREE_ROOT ? TREE_NONE : tree_parent(r->s->tree, parent);
        bool top = parent == TREE_ROOT || above == TREE_ROOT;
        r->tops[node] = top ? node : r->tops[parent];
    }
    return 0;
}

/* Returns the directory that a file counts for; the root, if it is in none. */
static uint32_t top_of(const struct zfs_reading *r, const struct stack_file *f)
{
    uint32_t parent = tree_parent(r->s->tree, f->node);

    return parent == TREE_ROOT ? TREE_ROOT : r->tops[parent];
}

static int by_bytes(const void *a, const void *b)
{
    const struct zfs_dir *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static void count_file(const struct zfs_reading *r, const struct stack_file *f, struct zfs_dir *dir)
{
    dir->bytes += f->size;
    dir->records += records_of(r, f->size);
    if (f->size < ZFS_LARGE)
        return;
    dir->large += f->size;
    dir->padding += f->size % ZFS_LARGE ? ZFS_LARGE - f->size % ZFS_LARGE : 0;
}

/* Finds the directories with most bytes. */
static int choose_dirs(struct zfs_reading *r, struct err *err)
{
    uint32_t count = tree_count(r->s->tree);
    _cleanup_free_ struct zfs_dir *all = calloc(count, sizeof(*all));

    if (!all)
        return err_nomem(err);
    for (size_t i = 0; i < r->s->file_count; i++) {
        const struct stack_file *f = &r->s->files[i];
        if (!is_visible(f))
            continue;
        count_file(r, f, &all[top_of(r, f)]);
        count_file(r, f, &r->out->all);
        r->out->files++;
    }
    for (uint32_t node = 0; node < count; node++)
        all[node].node = node;
    qsort(all, count, sizeof(*all), by_bytes);
    while (r->out->dir_count < ZFS_DIRS && r->out->dir_count < count &&
           all[r->out->dir_count].bytes) {
        r->out->dirs[r->out->dir_count] = all[r->out->dir_count];
        r->out->dir_count++;
    }
    return 0;
}

static struct zfs_dir *dir_of(struct zfs_reading *r, const struct stack_file *f)
{
    uint32_t top = top_of(r, f);

    for (size_t i = 0; i < r->out->dir_count; i++)
        if (r->out->dirs[i].node == top)
            return &r->out->dirs[i];
    return NULL;
}

/* ---- records ---- */

/* ZFS compares records as it writes them, with their padding. */
static int count_copy(struct zfs_reading *r, size_t len, struct err *err)
{
    size_t logical = (size_t)zfs_logical(r->zfs, len, r->only);
    unsigned char key[DEDUP_KEY];

    memset(r->record + len, 0, logical - len);
    if (zfs_is_hole(r->record, logical))
        return 0;
    if (sha256_update(r->sha256, r->record, logical, err) < 0 ||
        sha256_finish_bytes(r->sha256, key, sizeof(key), err) < 0)
        return -1;
    return dedup_add(r->dedup, key, (uint32_t)logical, err);
}

static int end_record(struct zfs_reading *r, struct err *err)
{
    struct zfs_sums one = {0};
    size_t len = r->filled;

    r->filled = 0;
    if (r->dedup && count_copy(r, len, err) < 0)
        return -1;
    if (r->next > 0) {
        r->next--;
        return 0;
    }
    r->next = r->every - 1;
    if (zfs_add(r->zfs, r->record, len, r->only, &one, err) < 0)
        return -1;
    zfs_sums_add(&r->out->all.sums, &one);
    if (r->dir)
        zfs_sums_add(&r->dir->sums, &one);
    return 0;
}

/* `data` NULL: zeros. */
static int record_add(struct zfs_reading *r, const char *data, uint64_t len, struct err *err)
{
    while (len > 0) {
        size_t room = r->out->record - r->filled, piece = len < room ? (size_t)len : room;
        bool wanted = r->next == 0 || r->dedup;
        if (wanted && data)
            memcpy(r->record + r->filled, data, piece);
        else if (wanted)
            memset(r->record + r->filled, 0, piece);
        r->filled += piece;
        data = data ? data + piece : NULL;
        len -= piece;
        if (r->filled == r->out->record && end_record(r, err) < 0)
            return -1;
    }
    return 0;
}

static int read_records(struct zfs_reading *r, struct layer_reader *reader, uint64_t size,
                        struct err *err)
{
    uint64_t at = 0, offset;
    const void *data;
    size_t len;
    int rc;

    while ((rc = layer_reader_data(reader, &data, &len, &offset, err)) > 0) {
        if (offset < at || offset > size || len > size - offset)
            return err_set(err, ERR_FORMAT, "content beyond the entry's size");
        if (record_add(r, NULL, offset - at, err) < 0 || record_add(r, data, len, err) < 0)
            return -1;
        at = offset + len;
    }
    if (rc < 0 || record_add(r, NULL, size - at, err) < 0)
        return -1;
    return r->filled ? end_record(r, err) : 0;
}

static int read_visible(void *ctx, struct layer_reader *reader, const struct layer_entry *e,
                        uint32_t inode, struct err *err)
{
    struct zfs_reading *r = ctx;
    const struct stack_file *f = &r->s->files[inode];
    uint64_t records = records_of(r, f->size);

    (void)e;
    if (r->next >= records && !r->dedup) { /* none of them is of the sample */
        r->next -= records;
        return 0;
    }
    r->only = records == 1;
    r->dir = dir_of(r, f);
    return read_records(r, reader, f->size, err);
}

int zfs_read(const struct image *image, const struct layer_stack *s, size_t record, uint64_t sample,
             struct dedup *dedup, struct zfs_report *out, struct err *err)
{
    _cleanup_(reading_clear) struct zfs_reading r = {.s = s, .out = out, .dedup = dedup};
    _cleanup_free_ uint8_t *wanted = calloc(s->file_count + 1, 1);

    *out = (struct zfs_report){.record = record};
    r.record = malloc(record);
    if (!wanted || !r.record)
        return err_nomem(err);
    r.zfs = zfs_new(record, err);
    r.sha256 = sha256_new(err);
    if (!r.zfs || !r.sha256 || name_tops(&r, err) < 0 || choose_dirs(&r, err) < 0)
        return -1;
    for (size_t i = 0; i < s->file_count; i++)
        wanted[i] = is_visible(&s->files[i]);
    r.every = sample && out->all.records > sample ? out->all.records / sample : 1;
    r.next = r.every / 2;
    if (contents_walk(image, s, wanted, read_visible, &r, err) < 0)
        return -1;
    out->deduped = dedup != NULL;
    if (dedup)
        dedup_sum(dedup, &out->dedup);
    return 0;
}
