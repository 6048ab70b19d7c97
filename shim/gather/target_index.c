#include "shim/gather/target_index.h"

#include <string.h>

struct target_place {
    const char *path; /* of `len` bytes */
    size_t len;
    uint64_t hash;
    size_t last; /* the number of the last mount there */
    bool hides;
    bool foreign;
};

/* The beginning of a path that ends with a component; first of all "/". */
struct prefix {
    const char *path;
    size_t len;
    uint64_t hash; /* of the components, by that of the prefix before */
};

static struct prefix prefix_begin(const char *path)
{
    return (struct prefix){path, 1, 0};
}

/* Adds a component. False at the end of the path. */
static bool prefix_next(const struct target_index *index, struct prefix *p)
{
    const char *name = p->path + p->len + strspn(p->path + p->len, "/");
    size_t len = strcspn(name, "/");

    if (!len)
        return false;
    p->hash = hash_bytes_by(&index->key, name, len, p->hash);
    p->len = (size_t)(name - p->path) + len;
    return true;
}

static bool is_whole(const struct prefix *p)
{
    return p->path[p->len] == '\0';
}

/* Returns the place of a prefix, or the free one that it would have. */
static struct target_place *find_place(const struct target_index *index, const struct prefix *p)
{
    size_t at = (size_t)p->hash & index->mask;
    struct target_place *place;

    while ((place = &index->places[at])->path && !(place->hash == p->hash && place->len == p->len &&
                                                   memcmp(place->path, p->path, p->len) == 0))
        at = (at + 1) & index->mask;
    return place;
}

int target_index_init(struct target_index *index, size_t count, struct arena *arena,
                      struct err *err)
{
    size_t size = 2;

    while (size < 2 * (count + 1))
        size *= 2;
    *index = (struct target_index){.mask = size - 1, .key = hash_key()};
    index->places = arena_alloc(arena, size * sizeof(*index->places));
    return index->places ? 0 : err_nomem(err);
}

void target_index_add(struct target_index *index, const struct target *target, size_t number)
{
    struct prefix p = prefix_begin(target->path);

    while (prefix_next(index, &p))
        continue;
    struct target_place *place = find_place(index, &p);
    *place = (struct target_place){
        .path = p.path,
        .len = p.len,
        .hash = p.hash,
        .last = number,
        .hides = place->hides || target->content != TARGET_OF_ROOT,
        .foreign = place->foreign || target->content == TARGET_FOREIGN,
    };
}

struct target_above target_index_above(const struct target_index *index, const char *path)
{
    struct target_above above = {.within = TARGET_ROOT};
    struct prefix p = prefix_begin(path);

    do {
        const struct target_place *place = find_place(index, &p);
        if (!place->path)
            continue;
        above.hidden = above.hidden || place->hides;
        if (is_whole(&p)) {
            above.covers = place->foreign;
            continue;
        }
        above.within = place->last;
        above.foreign = above.foreign || place->foreign;
    } while (prefix_next(index, &p));
    return above;
}
