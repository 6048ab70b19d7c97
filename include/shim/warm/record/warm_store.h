/*
 * The directory of records, owned by root and closed to others:
 *
 *     STORE/KEY/record    of the place with that key (warm_place.h)
 *
 * A process that records or reads ahead locks STORE/KEY. The time of STORE/KEY is its last use.
 */
#ifndef SHIM_WARM_STORE_H
#define SHIM_WARM_STORE_H

#include "base/cleanup.h"
#include "shim/warm/record/warm_place.h"
#include "shim/warm/record/warm_record.h"

#define WARM_CACHE "/var/lib/flatbed/warm"

struct warm_store {
    int fd;
    char *path; /* owned */
};

#define WARM_STORE_INIT                                                                            \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/* Opens the store, as closed_directory_open does. The caller closes it. */
int warm_store_open(const char *path, bool make, struct warm_store *out,
                    struct err *err) must_check;

/* The same of a store that may be missing. Returns 0 without one, else 1. */
int warm_store_find(const char *path, struct warm_store *out, struct err *err) must_check;

/* Closes it. Safe on WARM_STORE_INIT. */
void warm_store_close(struct warm_store *store);

#define _cleanup_warm_store_ _cleanup_(warm_store_close)

/*
 * Reads the record with that key. ERR_SYSTEM with ENOENT: there is none; ERR_FORMAT: it cannot be
 * read, or `of` is not NULL and the record is of another place.
 */
int warm_store_read(const struct warm_store *store, const char *key, const char *of,
                    struct arena *arena, struct warm_record *out, struct err *err) must_check;

/*
 * Returns a descriptor of the directory of a place, locked and made if it is missing; the caller
 * closes it. ERR_LIMIT: another process has the lock.
 */
int warm_store_lock(const struct warm_store *store, const char *key, struct err *err) must_check;

/* Writes a record into the locked directory, in place of the one that is there. */
int warm_store_write(int locked, const struct warm_record *record, struct err *err) must_check;

/* Removes a record. ERR_SYSTEM with ENOENT: there is none. */
int warm_store_remove(const struct warm_store *store, const char *key, struct err *err) must_check;

/* Takes the key of a record, and its last use. -1 ends the walk. */
typedef int warm_store_taker(const char *key, int64_t used, void *ctx, struct err *err);

/* Visits all records. */
int warm_store_each(const struct warm_store *store, warm_store_taker *take, void *ctx,
                    struct err *err) must_check;

#endif
