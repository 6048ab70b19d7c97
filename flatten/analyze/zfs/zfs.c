#include "flatten/analyze/zfs/zfs.h"

#include <ctype.h>
#include <lz4.h>
#include <math.h>
#include <string.h>
#include <zstd.h>

/* ZFS stores the length before the data, and with zstd the version and level as well. */
enum { LZ4_HEAD = 4, ZSTD_HEAD = 8, ZSTD_LEVEL = 3, SMALL_UNIT = 512 };

const char *const zfs_key[ZFS_KINDS] = {"lz4", "zstd"};

struct zfs {
    size_t record;
    ZSTD_CCtx *zstd;
    void *lz4; /* working memory */
    char *in, *out;
    size_t room;
};

void zfs_free(struct zfs *z)
{
    ZSTD_freeCCtx(z->zstd);
    free(z->lz4);
    free(z->in);
    free(z->out);
    free(z);
}

struct zfs *zfs_new(size_t record, struct err *err)
{
    _cleanup_zfs_ struct zfs *z = calloc(1, sizeof(*z));
    size_t lz4 = (size_t)LZ4_compressBound((int)record), zstd = ZSTD_compressBound(record);

    if (!z) {
        err_nomem(err);
        return NULL;
    }
    z->record = record;
    z->room = lz4 > zstd ? lz4 : zstd;
    z->zstd = ZSTD_createCCtx();
    z->lz4 = malloc((size_t)LZ4_sizeofState());
    z->in = malloc(record);
    z->out = malloc(z->room);
    if (!z->zstd || !z->lz4 || !z->in || !z->out) {
        err_nomem(err);
        return NULL;
    }
    return steal_ptr(&z);
}

uint64_t zfs_logical(const struct zfs *z, size_t len, bool only)
{
    return only ? (len + SMALL_UNIT - 1) / SMALL_UNIT * SMALL_UNIT : z->record;
}

/* Returns the bytes on disk of `logical` bytes that were compressed to `size`. */
static uint64_t size_on_disk(uint64_t logical, uint64_t size)
{
    uint64_t rounded = (size + ZFS_SECTOR - 1) / ZFS_SECTOR * ZFS_SECTOR;

    return size > logical - logical / 8 || rounded >= logical ? logical : rounded;
}

bool zfs_is_hole(const char *data, size_t len)
{
    return len == 0 || (data[0] == 0 && memcmp(data, data + 1, len - 1) == 0);
}

int zfs_add(struct zfs *z, const void *data, size_t len, bool only, struct zfs_sums *sums,
            struct err *err)
{
    size_t logical = (size_t)zfs_logical(z, len, only);
    uint64_t physical[ZFS_KINDS] = {0};

    if (len > z->record)
        return err_set(err, ERR_LIMIT, "more than a record");
    memcpy(z->in, data, len);
    memset(z->in + len, 0, logical - len);
    if (!zfs_is_hole(z->in, logical)) {
        int lz4 = LZ4_compress_fast_extState(z->lz4, z->in, z->out, (int)logical, (int)z->room, 1);
        size_t zstd = ZSTD_compressCCtx(z->zstd, z->out, z->room, z->in, logical, ZSTD_LEVEL);
        if (lz4 <= 0 || ZSTD_isError(zstd))
            return err_set(err, ERR_SYSTEM, "a record cannot be compressed");
        physical[ZFS_LZ4] = size_on_disk(logical, (uint64_t)lz4 + LZ4_HEAD);
        physical[ZFS_ZSTD] = size_on_disk(logical, zstd + ZSTD_HEAD);
    }
    sums->records++;
    sums->logical += logical;
    sums->logical_squares += (double)logical * (double)logical;
    for (int kind = 0; kind < ZFS_KINDS; kind++) {
        sums->physical[kind] += physical[kind];
        sums->squares[kind] += (double)physical[kind] * (double)physical[kind];
        sums->products[kind] += (double)physical[kind] * (double)logical;
    }
    return 0;
}

void zfs_sums_add(struct zfs_sums *to, const struct zfs_sums *from)
{
    to->records += from->records;
    to->logical += from->logical;
    to->logical_squares += from->logical_squares;
    for (int kind = 0; kind < ZFS_KINDS; kind++) {
        to->physical[kind] += from->physical[kind];
        to->squares[kind] += from->squares[kind];
        to->products[kind] += from->products[kind];
    }
}

void zfs_sums_subtract(struct zfs_sums *from, const struct zfs_sums *part)
{
    from->records -= part->records;
    from->logical -= part->logical;
    from->logical_squares -= part->logical_squares;
    for (int kind = 0; kind < ZFS_KINDS; kind++) {
        from->physical[kind] -= part->physical[kind];
        from->squares[kind] -= part->squares[kind];
        from->products[kind] -= part->products[kind];
    }
}

double zfs_ratio(const struct zfs_sums *s, enum zfs_kind kind)
{
    return s->physical[kind] ? (double)s->logical / (double)s->physical[kind] : 1;
}

/* The ratio of two sums over a simple random sample: Cochran, Sampling Techniques, 6.3. */
double zfs_error(const struct zfs_sums *s, enum zfs_kind kind, uint64_t all)
{
    double n = (double)s->records, logical = (double)s->logical;
    double r = logical > 0 ? (double)s->physical[kind] / logical : 0;

    if (s->records >= all || s->records < 2 || r <= 0)
        return 0;
    double squares = s->squares[kind] - 2 * r * s->products[kind] + r * r * s->logical_squares;
    double variance = (squares > 0 ? squares : 0) / (n - 1) * (1 - n / (double)all);
    return 1.96 * sqrt(variance / n) / (logical / n) / r;
}

int zfs_parse_record(const char *text, size_t *out, struct err *err)
{
    size_t value = 0, i = 0;

    for (; isdigit((unsigned char)text[i]) && i < 8; i++)
        value = value * 10 + (size_t)(text[i] - '0');
    if (text[i] == 'K' || text[i] == 'k')
        value <<= 10;
    else if (text[i] == 'M')
        value <<= 20;
    if (text[i] && text[i + 1])
        value = 0;
    if ((text[i] && !strchr("KkM", text[i])) || value < ZFS_LEAST_RECORD ||
        value > ZFS_MOST_RECORD || (value & (value - 1)) != 0)
        return err_set(err, ERR_USAGE,
                       "'%s' is not a record size: expected a power of 2 from 4K to 16M", text);
    *out = value;
    return 0;
}
