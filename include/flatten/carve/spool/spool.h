/*
 * The merged tree of an image, spooled: the content of its files lies in one temporary file, the
 * paths in memory. So a file can be read at any time, in any order, by its path.
 */
#ifndef FLATTEN_SPOOL_H
#define FLATTEN_SPOOL_H

#include "flatten/carve/spool/piece_reader.h"
#include "flatten/layer/entry_sink.h"
#include "flatten/merge/tree/tree.h"
#include "flatten/stream/compress.h"

/* The smallest file that is packed, bytes. */
enum { SPOOL_PACKED = 1024 * 1024 };

struct packer;

/* Describes a path. A file is an inode with all its names: anything but a directory. */
struct spool_record {
    uint64_t at;   /* in the temporary file: the header, then the content */
    uint64_t size; /* of the content, bytes */
    uint32_t head; /* size of the header, bytes: its attributes, then a symbolic link's target */
    uint32_t node; /* of its first name */
    uint32_t mode; /* with the type */
    uint32_t names;
    uint32_t pieces; /* index + 1 of its first piece; 0: its content is in the file as it is */
};

/* A further name of a file: a hard link. */
struct spool_name {
    uint32_t node, record;
};

struct spool {
    struct entry_sink base;
    struct tree *tree;            /* owned */
    struct spool_record *records; /* in the order in which the merge gave them */
    size_t record_count, record_cap;
    struct spool_name *names;
    size_t name_count, name_cap;
    uint32_t *by_node; /* index + 1 of the node's record; 0: nothing is there */
    size_t node_cap;
    int fd;                    /* borrowed */
    uint64_t start, at, limit; /* in the file */
    uint64_t spare;            /* bytes before `at` that packed files have beyond their sizes */
    uint64_t left;             /* of the content of the last record, bytes */
    char *block;               /* bytes that are not written yet */
    size_t filled;
    struct pieces pieces;
    struct packer *packer;       /* until spool_finish; or NULL */
    bool packing;                /* the file that is being written is packed */
    struct piece_reader *reader; /* of a spool that packs; or NULL */
};

/*
 * Returns an empty spool whose content goes to the file, from the offset `at` on, where the file is
 * cut: so several spools may follow each other in one. fd is borrowed. The merge gives it entries
 * through `base`. More than `limit` bytes are ERR_LIMIT. The caller frees it with spool_free.
 */
struct spool *spool_new(int fd, uint64_t at, uint64_t limit, struct err *err) must_check;

/*
 * Has the spool, which is empty, compress files of SPOOL_PACKED bytes and more while they come,
 * with the level and threads of these options for zstd.
 */
int spool_pack(struct spool *s, const struct compress_options *options, struct err *err) must_check;

/* True after spool_pack, also if no file was large enough. */
bool spool_packs(const struct spool *s);

/* Frees the spool. The file keeps its content. */
void spool_free(struct spool *s);

DEFINE_CLEANUP(spool, struct spool, spool_free)
#define _cleanup_spool_ _cleanup_(cleanup_spool)

/* Writes what is still in memory, after the last entry. */
int spool_finish(struct spool *s, struct err *err) must_check;

/* Returns the record of what is at the node; NULL for nothing. */
const struct spool_record *spool_at(const struct spool *s, uint32_t node);

/*
 * Returns the header of a record, without a path; with the target of a symbolic link, and the size.
 * The caller frees it; NULL with an error.
 */
struct archive_entry *spool_header(const struct spool *s, const struct spool_record *record,
                                   struct err *err) must_check;

/* Returns the target of a symbolic link in `out`, in place of what was there; NULL with an error.
 */
const char *spool_target(const struct spool *s, const struct spool_record *record, struct buf *out,
                         struct err *err) must_check;

/* Gives a record another mtime, after spool_finish. */
int spool_set_time(const struct spool *s, const struct spool_record *record, int64_t seconds,
                   uint32_t nanoseconds, struct err *err) must_check;

/*
 * Returns the pieces of a packed file, spool_piece_count of them; NULL for a file whose content can
 * be read at once.
 */
const struct piece *spool_pieces(const struct spool *s, const struct spool_record *record);
size_t spool_piece_count(const struct spool_record *record);

/*
 * Reads a part of a file's content, which must lie within its size. Packed files are read by one
 * thread only.
 */
int spool_read(const struct spool *s, const struct spool_record *record, uint64_t offset,
               void *data, size_t len, struct err *err) must_check;

/* A part of the temporary file that is not needed any more. Begins with zeros. */
struct spool_gone {
    uint64_t from, to;
};

/*
 * Says that a file is not read again, neither header nor content: its room is given back, together
 * with that of files beside it that were dropped before it. So the kernel need not write it to the
 * disk. spool_drop_rest gives back what is left. Small parts are kept, and all if the file system
 * cannot take room back.
 */
void spool_drop(const struct spool *s, const struct spool_record *record, struct spool_gone *gone);
void spool_drop_rest(const struct spool *s, struct spool_gone *gone);

#endif
