#include "flatten/analyze/zfs/zfs_plan.h"

#include "base/human.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* The least share of all bytes that is worth a dataset. */
#define WORTH_A_DATASET   0.01
#define WORTH_COMPRESSING 1.05 /* compressratio */
#define WORTH_ZSTD        0.9  /* bytes with zstd / bytes with lz4 */

enum { MOST_NAME = 200, LEAST_SAMPLE = 8, DEFAULT_RECORD = 128 * 1024, LARGE_RECORD = 1 << 20 };

const char *const zfs_use_key[ZFS_USES] = {"off", "lz4", "zstd"};

void zfs_plan_clear(struct zfs_plan *p)
{
    for (size_t i = 0; i < p->count; i++)
        free(p->list[i].name);
    p->count = 0;
}

static bool has_sample(const struct zfs_dir *dir)
{
    return dir->sums.records >= LEAST_SAMPLE || dir->sums.records == dir->records;
}

static enum zfs_compression choose_compression(const struct zfs_dir *dir)
{
    const struct zfs_sums *s = &dir->sums;
    double best = zfs_ratio(s, ZFS_ZSTD) * (1 + zfs_error(s, ZFS_ZSTD, dir->records));

    if (!has_sample(dir) || s->logical == 0)
        return ZFS_USE_LZ4;
    if (s->physical[ZFS_ZSTD] && best < WORTH_COMPRESSING)
        return ZFS_USE_OFF;
    return (double)s->physical[ZFS_ZSTD] < WORTH_ZSTD * (double)s->physical[ZFS_LZ4] ? ZFS_USE_ZSTD
                                                                                     : ZFS_USE_LZ4;
}

struct zfs_choice zfs_choose(const struct zfs_dir *dir)
{
    struct zfs_choice c = {DEFAULT_RECORD, choose_compression(dir)};
    bool padded = c.compression == ZFS_USE_OFF && dir->padding > dir->bytes / 20;

    if (dir->bytes && dir->large >= dir->bytes / 2 && !padded)
        c.recordsize = LARGE_RECORD;
    return c;
}

/* ---- names ---- */

/* Appends a component of a dataset's name. Characters that ZFS does not allow become '_'. */
static void put_component(struct buf *out, const char *text, size_t len)
{
    buf_putc(out, '/');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        bool first = i == 0 && !(c < 128 && isalnum(c));
        buf_putc(out, c < 128 && (isalnum(c) || strchr("-_.:", c)) && !first ? text[i] : '_');
    }
    if (len == 0)
        buf_puts(out, "image");
}

/* Appends the "torch" of "registry/lab/torch:2.7". */
static void put_image(struct buf *out, const char *image)
{
    const char *name = image ? image : "", *slash = strrchr(name, '/');

    name = slash ? slash + 1 : name;
    put_component(out, name, strcspn(name, ":@"));
}

static int name_dataset(struct zfs_dataset *d, const struct layer_stack *s, const char *image,
                        struct err *err)
{
    _cleanup_buf_ struct buf path = BUF_INIT;
    struct buf name = BUF_INIT;
    const char *rest = layer_stack_path(s, d->dir.node, &path);

    buf_puts(&name, "tank");
    put_image(&name, image);
    while (*rest) {
        size_t len = strcspn(rest, "/");
        put_component(&name, rest, len);
        rest += len + (rest[len] == '/');
    }
    buf_truncate(&name, name.len < MOST_NAME ? name.len : MOST_NAME);
    d->name = buf_take(&name, err);
    return d->name ? 0 : -1;
}

/* ---- the plan ---- */

static bool same_choice(struct zfs_choice a, struct zfs_choice b)
{
    return a.recordsize == b.recordsize && a.compression == b.compression;
}

static void dir_subtract(struct zfs_dir *from, const struct zfs_dir *part)
{
    from->bytes -= part->bytes;
    from->large -= part->large;
    from->padding -= part->padding;
    from->records -= part->records;
    zfs_sums_subtract(&from->sums, &part->sums);
}

static bool is_candidate(const struct zfs_report *z, const struct zfs_dir *dir)
{
    return dir->node != TREE_ROOT && has_sample(dir) &&
           (double)dir->bytes >= WORTH_A_DATASET * (double)z->all.bytes;
}

/*
 * The first pass takes directories that are not worth compressing: they would hide what the rest
 * gains. The second takes those whose best choice differs from that of the rest.
 */
static void choose_datasets(const struct zfs_report *z, struct zfs_plan *out)
{
    struct zfs_dataset *whole = &out->list[0];

    *whole = (struct zfs_dataset){.dir = z->all};
    out->count = 1;
    for (int pass = 0; pass < 2; pass++) {
        const struct zfs_choice rest = zfs_choose(&whole->dir);
        for (size_t i = 0; i < z->dir_count; i++) {
            const struct zfs_dir *dir = &z->dirs[i];
            struct zfs_choice c = zfs_choose(dir);
            bool off = c.compression == ZFS_USE_OFF;
            if (!is_candidate(z, dir) || off != (pass == 0) || (!off && same_choice(c, rest)))
                continue;
            out->list[out->count++] = (struct zfs_dataset){.dir = *dir, .choice = c};
            dir_subtract(&whole->dir, dir);
        }
    }
    whole->choice = zfs_choose(&whole->dir);
}

int zfs_plan_make(const struct zfs_report *z, const struct layer_stack *s, const char *image,
                  struct zfs_plan *out, struct err *err)
{
    choose_datasets(z, out);
    for (size_t i = 0; i < out->count; i++)
        if (name_dataset(&out->list[i], s, image, err) < 0)
            return -1;
    return 0;
}

/* ---- words ---- */

static bool is_worth_it(const struct dedup_report *r)
{
    return dedup_ratio(r) >= DEDUP_WORTH;
}

void zfs_plan_put_command(const struct zfs_dataset *d, const struct dedup_report *dedup,
                          struct buf *out)
{
    buf_printf(out, "zfs create -p -o recordsize=%s -o compression=%s",
               d->choice.recordsize == LARGE_RECORD ? "1M" : "128K",
               zfs_use_key[d->choice.compression]);
    if (dedup)
        buf_printf(out, " -o dedup=%s", is_worth_it(dedup) ? "on" : "off");
    buf_printf(out, " %s", d->name);
}

void zfs_plan_put_reason(const struct zfs_dataset *d, struct buf *out)
{
    const struct zfs_sums *s = &d->dir.sums;
    char size[HUMAN_SIZE];

    buf_printf(out, "%s, %.0f %% of it in files of 1 MiB and more; ",
               human_size(d->dir.bytes, size), human_share(d->dir.large, d->dir.bytes));
    if (!has_sample(&d->dir) || s->logical == 0) {
        buf_puts(out, "the sample has too little of it to choose a compression");
        return;
    }
    buf_printf(out, "lz4 %.2f, zstd %.2f: ", zfs_ratio(s, ZFS_LZ4), zfs_ratio(s, ZFS_ZSTD));
    if (d->choice.compression == ZFS_USE_OFF)
        buf_puts(out, "compression gains nothing");
    else if (d->choice.compression == ZFS_USE_ZSTD)
        buf_puts(out, "zstd stores less by a tenth or more");
    else
        buf_puts(out, "lz4 is faster, and zstd stores hardly less");
}

void zfs_plan_put_dedup_reason(const struct dedup_report *dedup, struct buf *out)
{
    char saved[HUMAN_SIZE], all[HUMAN_SIZE], ram[HUMAN_SIZE];

    buf_printf(out,
               "dedup=%s: it would store %s less of %s (%.2f times), for a table of about %s "
               "of memory",
               is_worth_it(dedup) ? "on" : "off", human_size(dedup->bytes - dedup->unique, saved),
               human_size(dedup->bytes, all), dedup_ratio(dedup),
               human_size(dedup_ram(dedup), ram));
    buf_puts(out, is_worth_it(dedup)
                      ? ""
                      : "; below 2.00 times, writes that look each record up cost more than that");
}
