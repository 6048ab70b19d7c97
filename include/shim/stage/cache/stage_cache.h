/*
 * The directory in which copies of slow sources are kept, and what was fetched from registries. An
 * entry is named by its source (a path, or a registry_source.h), and by its user's uid if it is for
 * that user alone:
 *
 *     CACHE/NAME/record.json   the source as it was when it was copied
 *     CACHE/NAME/tree/         the copy
 *     CACHE/NAME/used          its time is that of the last launch, its size their number …
 *     CACHE/NAME/checked       … and of the last comparison with the source
 *     CACHE/NAME/pinned        exists if the entry is never evicted
 *     CACHE/.part-KEY/         an entry while it is made, locked by the process that makes it
 *     CACHE/.failed-KEY        why the last copy failed
 *     CACHE/.turns             a byte for each copy that may be made at once, locked by its process
 *     CACHE/.old-…             replaced while it was mounted; removed when it is not
 *
 * An entry gets its name when it is complete. The cache must be owned by root and closed to others:
 * what protects a file from other users on the source may be the directories above it.
 */
#ifndef SHIM_STAGE_CACHE_H
#define SHIM_STAGE_CACHE_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#define STAGE_SOURCE "source" /* in .part-KEY: the path of what is copied */

enum { STAGE_AT_ONCE = 8 }; /* copies into a cache */

enum { STAGE_KEY = 33, STAGE_NAME = STAGE_KEY + 12 };

struct stage_cache {
    int fd;
    char *path; /* without symbolic links; owned */
};

#define STAGE_CACHE_INIT                                                                           \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/* Opens the cache, made if it is missing and `make` is true (closed_directory_open). */
int stage_cache_open(const char *path, bool make, struct stage_cache *out,
                     struct err *err) must_check;

/* Closes the descriptor, and frees the path. */
void stage_cache_close(struct stage_cache *cache);

#define _cleanup_stage_cache_ _cleanup_(stage_cache_close)

/* Writes the key of a source: 32 hexadecimal digits and a NUL. Other processes find the same. */
void stage_key(const char *source, char key[STAGE_KEY]);

/* Writes the name of an entry: of all users, or of the one that `uid` points to. */
void stage_name(const char *key, const uid_t *uid, char name[STAGE_NAME]);

/* The topmost directory (or the file) of a source, as it was looked at. */
struct stage_root {
    uint64_t ino;
    int64_t modified, changed; /* nanoseconds since 1970 */
};

/* Returns the same of a file that was looked at. */
struct stage_root stage_root_of(const struct stat *st);

/* The sum of a tree. */
struct stage_totals {
    uint64_t files, directories;
    uint64_t bytes;       /* of the files' content */
    uint64_t room;        /* bytes that a copy takes, with what a file system adds to each */
    uint64_t left_out;    /* device nodes and sockets, which a copy does not have */
    uint64_t manifest[2]; /* a hash of all paths with their attributes, in any order */
    bool open;            /* everybody who can reach the tree may read all of it */
};

/* The record of an entry. Texts are in an arena. */
struct stage_record {
    const char *source;
    const char *digest; /* of what a registry had; NULL for a copy */
    bool owned;         /* for the user `owner` alone */
    uid_t owner;
    uid_t account; /* the user whose share of the cache it takes */
    bool by_user;  /* root may not read the source: it was read as `account` */
    struct stage_root root;
    struct stage_totals totals;
    uint64_t room;     /* bytes that it takes */
    uint64_t made;     /* seconds since 1970 */
    uint64_t duration; /* milliseconds that the copy took */
    bool verified;     /* its content was read again and compared */
};

/* Writes the record of an entry to its directory. */
int stage_record_write(int dirfd, const struct stage_record *record, struct err *err) must_check;

/* Reads it. Returns false if there is none that is whole. */
bool stage_record_read(int dirfd, struct arena *arena, struct stage_record *out);

enum stage_state {
    STAGE_MISSING, /* there is no copy */
    STAGE_READY,
    STAGE_STALE,   /* the source is not what was copied */
    STAGE_FAILED,  /* the last try failed, not long ago */
    STAGE_COPYING, /* a process makes it */
};

/* The progress of a copy. `total` 0: the source is being looked through. */
struct stage_progress {
    uint64_t bytes, total, files, total_files;
    uint64_t since; /* seconds since 1970 */
};

struct stage_entry {
    enum stage_state state;
    int fd; /* READY, STALE: its directory, with a shared lock that keeps it there; owned */
    char name[STAGE_NAME];
    struct stage_record record;     /* READY, STALE */
    time_t checked;                 /* READY */
    const char *why;                /* FAILED, or READY and the last try to renew it failed */
    struct stage_progress progress; /* COPYING */
};

#define STAGE_ENTRY_INIT                                                                           \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/* Closes the directory, which releases its lock. */
void stage_entry_close(struct stage_entry *entry);

#define _cleanup_stage_entry_ _cleanup_(stage_entry_close)

/*
 * Looks up what there is of a source for a user (NULL: one who is not known, who gets only what is
 * for all). Does not wait. Fails only without memory.
 */
int stage_cache_find(const struct stage_cache *cache, const char *source, const uid_t *uid,
                     const struct stage_root *root, struct arena *arena, struct stage_entry *out,
                     struct err *err) must_check;

/*
 * Returns a locked descriptor of .part-KEY, made if it is missing; the caller closes it. -1 and
 * ERR_LIMIT if another process has the lock.
 */
int stage_cache_begin(const struct stage_cache *cache, const char *key, struct err *err) must_check;

/*
 * Waits until fewer than STAGE_AT_ONCE others copy into the cache: each reads its source and writes
 * to the disk with several threads. Returns a descriptor, with which the turn ends, or -1. The wait
 * ends with a signal that ends the process.
 */
int stage_cache_turn(const struct stage_cache *cache, const char *key, struct err *err) must_check;

/*
 * Writes the record of .part-KEY, which `part` is and which has the tree, gives it the name of an
 * entry, in place of an older one, and shares its lock. At each moment one of them has the name.
 */
int stage_cache_publish(const struct stage_cache *cache, int part, const char *key,
                        const char *name, const struct stage_record *record,
                        struct err *err) must_check;

/* Returns a fresh name for an entry that is replaced or removed; several may be so in a second. */
char *stage_old_name(const char *name);

/* Removes .part-KEY with all that is in it. */
void stage_cache_discard(const struct stage_cache *cache, const char *key);

/* Writes down why a copy failed; with NULL, that none did. */
void stage_cache_failed(const struct stage_cache *cache, const char *key, const char *why);

/* Replaces the progress in .part-KEY, which `part` is. Failures are ignored. */
void stage_progress_write(int part, const struct stage_progress *progress);

/* Reads it. Returns false if there is none. */
bool stage_progress_read(int part, struct stage_progress *out);

/* Counts a launch with the entry in "used". Failures are ignored. */
void stage_count_launch(int entry);

/* Makes "used", "checked" or "pinned" in an entry, or sets its time to now. -1 with errno. */
int stage_touch(int entry, const char *name) must_check;

/* Returns that time; 0: never. */
time_t stage_touched(int entry, const char *name);

#endif
