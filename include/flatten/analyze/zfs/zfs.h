/*
 * Predicts how a file system that compresses records, such as ZFS, would store the unpacked tree:
 * with lz4 and with zstd, at a record size. Each record is compressed by the real library and
 * rounded up to sectors. It is stored raw if that saves no sector, or if the compression saves less
 * than an eighth (OpenZFS, zio.c and zio_compress.c). The record of a file with only one has the
 * file's size, rounded up to 512 bytes; the last record of a larger file is padded with zeros. A
 * record of zeros takes nothing.
 *
 * Only evenly spaced records of a large image are compressed; the error is computed as for a random
 * sample of that size.
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

/* Sums over the records that were compressed. */
struct zfs_sums {
    uint64_t records;
    uint64_t logical;             /* bytes as ZFS counts them, before compression */
    uint64_t physical[ZFS_KINDS]; /* bytes on disk */
    double squares[ZFS_KINDS];    /* of physical, for the error */
    double products[ZFS_KINDS];   /* of physical and logical */
    double logical_squares;
};

struct zfs; /* a compressor of records, with its buffers */

/* `record`: bytes, a power of 2. NULL without memory. */
struct zfs *zfs_new(size_t record, struct err *err) must_check;

/* Frees the compressor. */
void zfs_free(struct zfs *z);

DEFINE_CLEANUP(zfs, struct zfs, zfs_free)
#define _cleanup_zfs_ _cleanup_(cleanup_zfs)

/* Compresses one record of `len` bytes and adds it to `sums`. `only`: the file has no other. */
int zfs_add(struct zfs *z, const void *data, size_t len, bool only, struct zfs_sums *sums,
            struct err *err) must_check;

/* True if there are only zeros. */
bool zfs_is_hole(const char *data, size_t len);

/* Adds `from` to `to`. */
void zfs_sums_add(struct zfs_sums *to, const struct zfs_sums *from);

/* Subtracts what was added. */
void zfs_sums_subtract(struct zfs_sums *from, const struct zfs_sums *part);

/* Returns the bytes of a record before compression, with padding. */
uint64_t zfs_logical(const struct zfs *z, size_t len, bool only);

/* Returns compressratio as ZFS has it; 1 if there is nothing. */
double zfs_ratio(const struct zfs_sums *s, enum zfs_kind kind);

/*
 * Returns the ratio's 95 % error as a share of the ratio, if the sums are of a sample of `all`
 * records; 0 if they are of all.
 */
double zfs_error(const struct zfs_sums *s, enum zfs_kind kind, uint64_t all);

/* Parses a record size, as in "128K" or "1M". ERR_USAGE if it is no power of 2 within the limits.
 */
int zfs_parse_record(const char *text, size_t *out, struct err *err) must_check;

#endif
