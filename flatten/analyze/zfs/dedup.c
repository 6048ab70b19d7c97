#include "flatten/analyze/zfs/dedup.h"

#include "base/hash.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { FIRST_ROOM = 1024, MOST_SHIFT = 60 };

struct entry {
    unsigned char key[DEDUP_KEY];
    uint64_t bytes : 24; /* less one: a record has 1 to 16 MiB */
    uint64_t count : 40; /* 0: the place is free */
};

struct dedup {
    struct entry *entries; /* open addressing, linear probing */
    size_t room, used;     /* room: a power of 2, twice `used` at least */
    size_t most;           /* 0: no bound */
    unsigned shift;        /* of the keys, one of 2^shift is kept */
    uint64_t records, bytes;
};

void dedup_free(struct dedup *d)
{
    free(d->entries);
    free(d);
}

struct dedup *dedup_new(size_t most, struct err *err)
{
    _cleanup_dedup_ struct dedup *d = calloc(1, sizeof(*d));

    if (!d || !(d->entries = calloc(FIRST_ROOM, sizeof(*d->entries)))) {
        err_nomem(err);
        return NULL;
    }
    d->room = FIRST_ROOM;
    d->most = most;
    return steal_ptr(&d);
}

/* True if the sample has the record: its key ends in `shift` zero bits. */
static bool is_kept(const struct dedup *d, const unsigned char key[DEDUP_KEY])
{
    uint64_t mark;

    memcpy(&mark, key, sizeof(mark));
    return (mark & ((UINT64_C(1) << d->shift) - 1)) == 0;
}

/* Returns the key's entry, or a free one for it. The hash is keyed: no image can force collisions.
 */
static struct entry *find_entry(struct entry *entries, size_t room, const unsigned char *key)
{
    size_t at = (size_t)hash_bytes(key, DEDUP_KEY, 0) & (room - 1);

    while (entries[at].count && memcmp(entries[at].key, key, DEDUP_KEY) != 0)
        at = (at + 1) & (room - 1);
    return &entries[at];
}

/* Moves the entries that the sample still has to a table of `room` entries. */
static int rebuild_table(struct dedup *d, size_t room, struct err *err)
{
    struct entry *entries = calloc(room, sizeof(*entries));

    if (!entries)
        return err_nomem(err);
    d->used = 0;
    for (size_t i = 0; i < d->room; i++) {
        if (!d->entries[i].count || !is_kept(d, d->entries[i].key))
            continue;
        *find_entry(entries, room, d->entries[i].key) = d->entries[i];
        d->used++;
    }
    free(d->entries);
    d->entries = entries;
    d->room = room;
    return 0;
}

/* Makes room for one more entry. */
static int table_make_room(struct dedup *d, struct err *err)
{
    if (d->most && d->used > d->most && d->shift < MOST_SHIFT) {
        d->shift++;
        return rebuild_table(d, d->room, err);
    }
    return d->used >= d->room / 2 ? rebuild_table(d, 2 * d->room, err) : 0;
}

static int count_entry(struct dedup *d, const unsigned char *key, uint64_t bytes, uint64_t count,
                       struct err *err)
{
    struct entry *e;

    if (!is_kept(d, key))
        return 0;
    e = find_entry(d->entries, d->room, key);
    if (e->count == 0) {
        memcpy(e->key, key, DEDUP_KEY);
        e->bytes = (bytes - 1) & 0xffffff;
        d->used++;
    }
    e->count += count;
    return table_make_room(d, err);
}

int dedup_add(struct dedup *d, const unsigned char key[DEDUP_KEY], uint32_t bytes, struct err *err)
{
    if (bytes == 0)
        return 0;
    d->records++;
    d->bytes += bytes;
    return count_entry(d, key, bytes, 1, err);
}

int dedup_merge(struct dedup *to, const struct dedup *from, struct err *err)
{
    if (from->shift > to->shift) {
        to->shift = from->shift;
        if (rebuild_table(to, to->room, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < from->room; i++) {
        const struct entry *e = &from->entries[i];
        if (e->count && count_entry(to, e->key, (uint64_t)e->bytes + 1, e->count, err) < 0)
            return -1;
    }
    to->records += from->records;
    to->bytes += from->bytes;
    return 0;
}

/* ---- estimates ---- */

/*
 * The ratio of the sums of y and x, and its 95 % error as a share of it (Cochran, Sampling
 * Techniques, 6.3), over a simple random sample of entries, each with all of its copies.
 */
struct quotient {
    double x, y, xx, xy, yy;
};

static void quotient_add(struct quotient *q, double x, double y)
{
    q->x += x;
    q->y += y;
    q->xx += x * x;
    q->xy += x * y;
    q->yy += y * y;
}

static double quotient_error(const struct quotient *q, double n, unsigned shift)
{
    double r = q->y / q->x, squares = q->yy - 2 * r * q->xy + r * r * q->xx;

    if (shift == 0)
        return 0;
    if (n < 2)
        return 1;
    double variance = (squares > 0 ? squares : 0) / (n - 1) * (1 - ldexp(1, -(int)shift));
    return 1.96 * sqrt(variance / n) / (q->x / n) / r;
}

void dedup_sum(const struct dedup *d, struct dedup_report *out)
{
    struct quotient entries = {0}, bytes = {0};

    *out = (struct dedup_report){.records = d->records, .bytes = d->bytes, .sampled = d->used};
    for (size_t i = 0; i < d->room; i++) {
        double count = (double)d->entries[i].count, size = (double)d->entries[i].bytes + 1;
        if (d->entries[i].count == 0)
            continue;
        quotient_add(&entries, count, 1);
        quotient_add(&bytes, count * size, size);
    }
    if (d->used == 0)
        return;
    out->entries = (uint64_t)llround((double)d->records * (entries.y / entries.x));
    out->unique = (uint64_t)llround((double)d->bytes * (bytes.y / bytes.x));
    out->entries_error = quotient_error(&entries, (double)d->used, d->shift);
    out->error = quotient_error(&bytes, (double)d->used, d->shift);
}

double dedup_ratio(const struct dedup_report *r)
{
    return r->unique ? (double)r->bytes / (double)r->unique : 1;
}

uint64_t dedup_ram(const struct dedup_report *r)
{
    return r->entries * DEDUP_ENTRY_RAM;
}
