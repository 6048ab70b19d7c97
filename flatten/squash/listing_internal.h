/* Shared by listing.c, which reads a tree, and listing_compare.c. */
#ifndef FLATTEN_LISTING_INTERNAL_H
#define FLATTEN_LISTING_INTERNAL_H

#include "base/arena.h"
#include "flatten/squash/listing.h"

/* Shared by hard links. Unpackers apply a link's header to the file, so the last header counts. */
struct inode {
    unsigned mode; /* with the type */
    uint32_t mtime_nsec;
    int64_t uid, gid, mtime;
    uint64_t size; /* of a device: its number */
    const char *symlink;
    const char *xattrs; /* "name=hex" lines, by name */
    unsigned char content[SHA256_SIZE];
};

struct record {
    const char *path;
    const char *link;     /* of a hard link: its target's path; else NULL */
    struct inode *inode;  /* of a hard link: as in its header, until links are resolved */
    const char *identity; /* the first path of the file, if it has several; else NULL */
    uint32_t order;
    bool borrowed; /* the inode belongs to the other listing, and must not be changed */
};

struct listing {
    struct entry_sink base;
    struct arena arena;
    const struct listing *like; /* or NULL */
    bool unlabelled;            /* without attributes that are the host's */
    bool lone_root;             /* a root that the other image does not describe is a difference */
    struct record *records;
    size_t count, cap;
    struct sha256 *hash;
    bool open;                  /* the last record is not finished */
    bool hashing;               /* the content of the last record is being hashed */
    struct inode inode;         /* of the last record, until it is finished */
    const struct record *model; /* the record of `like` at that path, or NULL */
};

/* Compares the attributes that a link's header can change. */
bool inode_same_attributes(const struct inode *a, const struct inode *b);

/* Compares everything. */
bool inode_same(const struct inode *a, const struct inode *b);

#endif
