#include "flatten/carve/times/stable_times.h"

#include "flatten/carve/owners/python_source.h"
#include "flatten/carve/spool/spool.h"
#include "flatten/carve/times/python_pairs.h"
#include "flatten/merge/tree/tree_walk.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The decision about each record of the spool. */
struct taking {
    const struct spool *spool;
    const struct identity_stamp *stamps; /* by record */
    const struct times_source *previous;
    const struct identity_stamp **wanted; /* by record: the previous version's; NULL: none */
    uint32_t *group; /* by record: one that takes its time with it; of a group's first itself */
    bool *refused;   /* by record: the group of which it is the first takes no time */
    struct buf link; /* the target of a symbolic link */
};

static void taking_clear(struct taking *t)
{
    free(t->wanted);
    free(t->group);
    free(t->refused);
    buf_free(&t->link);
}

static int taking_init(struct taking *t, struct err *err)
{
    size_t count = t->spool->record_count;

    t->wanted = calloc(count + 1, sizeof(*t->wanted));
    t->group = calloc(count + 1, sizeof(*t->group));
    t->refused = calloc(count + 1, sizeof(*t->refused));
    if (!t->wanted || !t->group || !t->refused)
        return err_nomem(err);
    for (size_t i = 0; i < count; i++)
        t->group[i] = (uint32_t)i;
    return 0;
}

static bool same_time(const struct identity_stamp *a, const struct identity_stamp *b)
{
    return a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
}

/* ---- files ---- */

/* Returns the stamp of the previous version's entry; NULL if it is nothing, or not known. */
static const struct identity_stamp *previous_stamp(const struct taking *t, uint32_t index)
{
    const struct layout_previous *view = t->previous->view;

    if (index == LAYOUT_NO_ENTRY)
        return NULL;
    const struct layout_entry *e = &view->entries[view->entries[index].inode];
    return e->identity.part[0] || e->identity.part[1] ? &t->previous->stamps[e - view->entries]
                                                      : NULL;
}

/* Sets what the record would take by that name; nothing if it is another file there. */
static void want(struct taking *t, const uint32_t *shown, uint32_t node, uint32_t record)
{
    const struct identity_stamp *stamp = previous_stamp(t, shown[node]);
    const struct identity_stamp *own = &t->stamps[record];

    t->wanted[record] =
        stamp && memcmp(&stamp->timeless, &own->timeless, sizeof(own->timeless)) == 0 ? stamp
                                                                                      : NULL;
}

static void want_name(struct taking *t, const uint32_t *shown, const struct spool_name *name)
{
    const struct identity_stamp *before = t->wanted[name->record];

    if (!before)
        return;
    want(t, shown, name->node, name->record);
    if (t->wanted[name->record] && !same_time(before, t->wanted[name->record]))
        t->wanted[name->record] = NULL;
}

static int want_all(struct taking *t, struct err *err)
{
    const struct spool *s = t->spool;
    _cleanup_free_ uint32_t *shown = layout_previous_shown(s->tree, t->previous->view, err);

    if (!shown)
        return -1;
    for (size_t i = 0; i < s->record_count; i++)
        want(t, shown, s->records[i].node, (uint32_t)i);
    for (size_t i = 0; i < s->name_count; i++)
        want_name(t, shown, &s->names[i]);
    return 0;
}

/* ---- Python ---- */

/* Returns the first of the record's group. */
static uint32_t first_of(struct taking *t, uint32_t record)
{
    while (t->group[record] != record) {
        t->group[record] = t->group[t->group[record]];
        record = t->group[record];
    }
    return record;
}

static void join(struct taking *t, uint32_t a, uint32_t b, bool refused)
{
    uint32_t first = first_of(t, a), other = first_of(t, b);

    refused = refused || t->refused[first] || t->refused[other];
    if (first < other)
        t->group[other] = first;
    else
        t->group[first] = other;
    t->refused[first < other ? first : other] = refused;
}

/* True if a .pyc with that time of its source is used now, and would not be. */
static bool would_outdate(const struct identity_stamp *now, const struct identity_stamp *then,
                          uint32_t time)
{
    return time == (uint32_t)now->seconds && time != (uint32_t)then->seconds;
}

static const char *link_target(void *ctx, uint32_t node)
{
    struct taking *t = ctx;
    const struct spool_record *r = spool_at(t->spool, node);
    struct err ignored = ERR_INIT;

    return r && S_ISLNK(r->mode) ? spool_target(t->spool, r, &t->link, &ignored) : NULL;
}

/* Returns the file whose time Python compares where this is the source: it follows links. */
static const struct spool_record *source_file(struct taking *t, uint32_t source)
{
    const struct tree *tree = t->spool->tree;
    const struct tree_links links = {link_target, t};
    size_t len;
    const char *name = tree_name(tree, source, &len);
    uint32_t end = tree_walk(tree, &links, tree_parent(tree, source), name, len, true);
    const struct spool_record *r = end == TREE_NONE ? NULL : spool_at(t->spool, end);

    return r && S_ISREG(r->mode) ? r : NULL;
}

/* Joins a .pyc, which names this time, with its source; it takes no time if that is unknown. */
static void join_source(struct taking *t, uint32_t compiled, const struct spool_record *source,
                        uint32_t time)
{
    if (!source) {
        t->refused[first_of(t, compiled)] = true;
        return;
    }
    uint32_t of = (uint32_t)(source - t->spool->records);
    const struct identity_stamp *then = t->wanted[of];
    join(t, compiled, of,
         !then || !t->wanted[compiled] || would_outdate(&t->stamps[of], then, time));
}

static bool keeps_time(const struct taking *t, const struct spool_record *r)
{
    size_t i = (size_t)(r - t->spool->records);

    return t->wanted[i] && same_time(t->wanted[i], &t->stamps[i]);
}

/* Joins a .pyc with its source, unless that keeps its time anyway. */
static int join_compiled(struct taking *t, uint32_t node, struct err *err)
{
    const struct spool *s = t->spool;
    const struct spool_record *r = spool_at(s, node);
    uint32_t name = r ? pyc_source(s->tree, node) : TREE_NONE;
    unsigned char head[PYC_HEAD];
    uint32_t time;

    if (name == TREE_NONE || !spool_at(s, name) || !S_ISREG(r->mode) || r->size < PYC_HEAD)
        return 0;
    const struct spool_record *source = source_file(t, name);
    if (source && keeps_time(t, source))
        return 0;
    if (spool_read(s, r, 0, head, sizeof(head), err) < 0)
        return -1;
    if (pyc_time(head, &time))
        join_source(t, (uint32_t)(r - s->records), source, time);
    return 0;
}

static int join_all(struct taking *t, struct err *err)
{
    uint32_t count = tree_count(t->spool->tree);

    for (uint32_t node = 1; node < count; node++)
        if (join_compiled(t, node, err) < 0)
            return -1;
    return 0;
}

/* ---- all ---- */

static int take(const struct taking *t, uint32_t record, struct identity_stamp *stamp,
                struct stable_times *out, struct err *err)
{
    const struct spool_record *r = &t->spool->records[record];
    const struct identity_stamp *from = t->wanted[record];

    *(S_ISDIR(r->mode) ? &out->directories : &out->files) += 1;
    out->paths += r->names;
    stamp->seconds = from->seconds;
    stamp->nanoseconds = from->nanoseconds;
    return spool_set_time(t->spool, r, from->seconds, from->nanoseconds, err);
}

int stable_times_take(const struct spool *s, struct identity_stamp *stamps,
                      struct layout_identity *identities, const struct times_source *previous,
                      struct stable_times *out, struct err *err)
{
    _cleanup_(taking_clear) struct taking t = {.spool = s, .stamps = stamps, .previous = previous};
    _cleanup_sha256_ struct sha256 *sha256 = sha256_new(err);

    *out = (struct stable_times){0};
    if (!sha256 || taking_init(&t, err) < 0 || want_all(&t, err) < 0 || join_all(&t, err) < 0)
        return -1;
    for (uint32_t i = 0; i < s->record_count; i++) {
        if (!t.wanted[i] || t.refused[first_of(&t, i)] || same_time(t.wanted[i], &stamps[i]))
            continue;
        if (take(&t, i, &stamps[i], out, err) < 0 ||
            identity_of_stamp(sha256, &stamps[i], &identities[i], err) < 0)
            return -1;
    }
    return 0;
}
