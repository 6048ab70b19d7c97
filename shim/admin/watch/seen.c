#include "shim/admin/watch/seen.h"

#include "base/hash.h"
#include "base/ranking.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int begin(struct seen_table *t, size_t most, struct err *err)
{
    t->most = most;
    t->slot_count = 2 * most; /* a power of two */
    t->list = calloc(most, sizeof(*t->list));
    t->slots = calloc(t->slot_count, sizeof(*t->slots));
    return t->list && t->slots ? 0 : err_nomem(err);
}

int seen_begin(struct seen *out, struct err *err)
{
    *out = (struct seen){0};
    if (begin(&out->directories, SEEN_DIRECTORIES, err) < 0)
        return -1;
    return begin(&out->programs, SEEN_PROGRAMS, err);
}

/* Returns the counts of a name: those of all others if the table is full. */
static struct seen_counts *find(struct seen_table *t, const char *name)
{
    size_t slot = (size_t)hash_bytes(name, strlen(name), 0) & (t->slot_count - 1);

    for (; t->slots[slot]; slot = (slot + 1) & (t->slot_count - 1)) {
        struct seen_entry *e = &t->list[t->slots[slot] - 1];
        if (strcmp(e->name, name) == 0)
            return &e->counts;
    }
    char *copy = t->count < t->most ? strdup(name) : NULL;
    if (!copy)
        return &t->other;
    t->list[t->count] = (struct seen_entry){.name = copy};
    t->slots[slot] = (uint32_t)++t->count;
    return &t->list[t->count - 1].counts;
}

static void count(struct seen_counts *c, enum watch_call call, bool miss)
{
    c->calls[call]++;
    c->lookups++;
    c->misses += miss;
}

void seen_add(struct seen *seen, const char *directory, const char *program, enum watch_call call,
              int64_t result)
{
    bool miss = result == -ENOENT || result == -ENOTDIR;

    count(find(&seen->directories, directory), call, miss);
    count(find(&seen->programs, program), call, miss);
    count(&seen->all, call, miss);
}

static uint64_t by_lookups(const void *item)
{
    return (*(struct seen_entry *const *)item)->counts.lookups;
}

static uint64_t by_misses(const void *item)
{
    return (*(struct seen_entry *const *)item)->counts.misses;
}

size_t seen_top(struct seen_table *table, bool misses, struct seen_entry *out[], size_t most)
{
    size_t listed = 0;

    for (size_t i = 0; i < table->count; i++) {
        struct seen_entry *e = &table->list[i];
        if (!misses || e->counts.misses)
            ranking_offer(out, &listed, most, sizeof(struct seen_entry *), &e,
                          misses ? by_misses : by_lookups);
    }
    return listed;
}

static void release(struct seen_table *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->list[i].name);
    free(t->list);
    free(t->slots);
}

void seen_free(struct seen *seen)
{
    release(&seen->directories);
    release(&seen->programs);
    *seen = (struct seen){0};
}
