/*
 * What a file system that compresses records, such as ZFS, would make of the unpacked tree: lz4 and
 * zstd at a record size. Each record is compressed by the real library and rounded up to sectors;
 * it is kept raw when that saves nothing, or the compression less than an eighth (OpenZFS, zio.c
 * and zio_compress.c). A file of one record is as long as it is, rounded up to 512 bytes; the last
 * record of a longer one is padded with zeros. A record of zeros takes nothing.
 *
 * Of large images only some records are compressed: evenly spaced ones, and the error is that of a
 * random sample of as many.
 */
#ifndef FLATTEN_ZFS_H
#define FLATTEN_ZFS_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum zfs_kind { ZFS_LZ4, ZFS_ZSTD, ZFS_KINDS };

extern const char *const zfs_key[ZFS_KINDS];

enum { ZFS_LEAST_RECORD = 4096, ZFS_MOST_RECORD = 16 << 20, ZFS_SECTOR = 4096 };

/* Sums over records that were compressed. */
struct zfs_sums {
    uint64_t records;
    uint64_t logical;             /* bytes as ZFS counts them, before compression */
    uint64_t physical[ZFS_KINDS]; /* bytes on disk */
    double squares[ZFS_KINDS];    /* of physical, for the error */
    double products[ZFS_KINDS];   /* of physical and logical */
    double logical_squares;
};

struct zfs; /* a compressor of records, with its buffers */

/* `record`: bytes, a power of 2. */
struct zfs *zfs_new(size_t record, struct err *err) must_check;
void zfs_free(struct zfs *z);

DEFINE_CLEANUP(zfs, struct zfs, zfs_free)
#define _cleanup_zfs_ _cleanup_(cleanup_zfs)

/* Adds one record of `len` bytes; `only`: the file has no other. */
int zfs_add(struct zfs *z, const void *data, size_t len, bool only, struct zfs_sums *sums,
            struct err *err) must_check;

/* Only zeros. */
bool zfs_is_hole(const char *data, size_t len);

/* Adds sums up. */
void zfs_sum(struct zfs_sums *to, const struct zfs_sums *from);

/* Takes away what was added. */
void zfs_take(struct zfs_sums *from, const struct zfs_sums *part);

/* Bytes that a record counts before compression. */
uint64_t zfs_logical(const struct zfs *z, size_t len, bool only);

/* compressratio; 1 of nothing. */
double zfs_ratio(const struct zfs_sums *s, enum zfs_kind kind);

/*
 * The ratio's 95 % error as a share of it, when the sums are of a sample out of `all` records; 0
 * when they are of all.
 */
double zfs_error(const struct zfs_sums *s, enum zfs_kind kind, uint64_t all);

/* "128K", "1M": a power of 2 within the limits; else ERR_USAGE. */
int zfs_parse_record(const char *text, size_t *out, struct err *err) must_check;

#endif
