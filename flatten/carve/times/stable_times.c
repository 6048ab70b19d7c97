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

/* Returns the file that Python reads at a node of a source or .pyc: it follows links. */
static const struct spool_record *file_at(struct taking *t, uint32_t node)
{
    const struct tree *tree = t->spool->tree;
    const struct tree_links links = {link_target, t};
    size_t len;
    const char *name = tree_name(tree, node, &len);
    uint32_t end = tree_walk(tree, &links, tree_parent(tree, node), name, len, true);
    const struct spool_record *r = end == TREE_NONE ? NULL : spool_at(t->spool, end);

    return r && S_ISREG(r->mode) ? r : NULL;
}

static uint32_t number_of(const struct taking *t, const struct spool_record *r)
{
    return (uint32_t)(r - t->spool->records);
}

/* The record, if there is one, and what is joined with it take no time. */
static void refuse(struct taking *t, const struct spool_record *r)
{
    if (r)
        t->refused[first_of(t, number_of(t, r))] = true;
}

static void join_files(struct taking *t, uint32_t compiled, uint32_t source, uint32_t time)
{
    const struct identity_stamp *then = t->wanted[source];

    join(t, compiled, source,
         !then || !t->wanted[compiled] || would_outdate(&t->stamps[source], then, time));
}

static bool keeps_time(const struct taking *t, uint32_t record)
{
    return t->wanted[record] && same_time(t->wanted[record], &t->stamps[record]);
}

/*
 * Joins a .pyc with its source, unless that keeps its time anyway. One of which the other is not
 * known takes no time.
 */
static int join_compiled(struct taking *t, uint32_t node, uint32_t of, struct err *err)
{
    const struct spool_record *compiled = file_at(t, node), *source = file_at(t, of);
    unsigned char head[PYC_HEAD];
    uint32_t time;

    if (!compiled)
        refuse(t, source);
    if (!compiled || compiled->size < PYC_HEAD || (source && keeps_time(t, number_of(t, source))))
        return 0;
    if (spool_read(t->spool, compiled, 0, head, sizeof(head), err) < 0)
        return -1;
    if (!pyc_time(head, &time))
        return 0;
    if (source)
        join_files(t, number_of(t, compiled), number_of(t, source), time);
    else
        refuse(t, compiled);
    return 0;
}

static int join_all(struct taking *t, struct err *err)
{
    const struct tree *tree = t->spool->tree;
    uint32_t count = tree_count(tree);

    for (uint32_t node = 1; node < count; node++) {
        uint32_t source = spool_at(t->spool, node) ? pyc_source(tree, node) : TREE_NONE;
        if (source != TREE_NONE && spool_at(t->spool, source) &&
            join_compiled(t, node, source, err) < 0)
            return -1;
    }
    return 0;
}

static bool is_link_to_cache(const struct taking *t, uint32_t node)
{
    const struct spool_record *r = spool_at(t->spool, node);

    return r && S_ISLNK(r->mode) && python_is_cache(t->spool->tree, node);
}

/*
 * Refuses the sources beside a __pycache__ that is a symbolic link: their .pyc files are not looked
 * for, which would be the work of all links times all files behind one.
 */
static int refuse_beside_links(struct taking *t, struct err *err)
{
    const struct tree *tree = t->spool->tree;
    uint32_t count = tree_count(tree);
    _cleanup_free_ bool *beside = calloc(count, sizeof(*beside)); /* by node of a directory */

    if (!beside)
        return err_nomem(err);
    for (uint32_t node = 1; node < count; node++)
        if (is_link_to_cache(t, node))
            beside[tree_parent(tree, node)] = true;
    for (uint32_t node = 1; node < count; node++)
        if (beside[tree_parent(tree, node)] && python_is_source(tree, node))
            refuse(t, file_at(t, node));
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
    _cleanup_(sha256_lane_clear) struct sha256_lane hash = {0};

    *out = (struct stable_times){0};
    if (sha256_lane_init(&hash, err) < 0 || taking_init(&t, err) < 0 || want_all(&t, err) < 0 ||
        join_all(&t, err) < 0 || refuse_beside_links(&t, err) < 0)
        return -1;
    for (uint32_t i = 0; i < s->record_count; i++) {
        if (!t.wanted[i] || t.refused[first_of(&t, i)] || same_time(t.wanted[i], &stamps[i]))
            continue;
        if (take(&t, i, &stamps[i], out, err) < 0 ||
            identity_of_stamp(&hash, &stamps[i], &identities[i], err) < 0)
            return -1;
    }
    return 0;
}
