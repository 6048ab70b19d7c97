#include "flatten/carve/layout/family/family_sets.h"

#include "flatten/merge/tree/array.h"

#include <stdlib.h>

/* A file, and images that have it in a layer of a set. */
struct placed {
    uint64_t images;
    uint32_t file;
};

struct sorting {
    const struct layout_family_input *in;
    struct placed *list;
    size_t count, cap;
    struct family_set *sets;
    size_t set_count, set_cap;
};

static void sorting_clear(struct sorting *s)
{
    free(s->list);
    free(s->sets);
}

static int by_images_and_file(const void *a, const void *b)
{
    const struct placed *left = a, *right = b;

    if (left->images != right->images)
        return left->images < right->images ? -1 : 1;
    return (left->file > right->file) - (left->file < right->file);
}

static int add_file(struct sorting *s, uint64_t images, uint32_t file, struct err *err)
{
    struct placed *to = array_push(&s->list, &s->count, &s->cap, sizeof(*to), err);

    if (!to)
        return -1;
    *to = (struct placed){images, file};
    return 0;
}

/* Makes a set of each range of neighbours with the same images. */
static int list_sets(struct sorting *s, struct err *err)
{
    s->set_count = 0;
    if (s->count > 0)
        qsort(s->list, s->count, sizeof(*s->list), by_images_and_file);
    for (size_t i = 0; i < s->count; i++) {
        struct family_set *set = s->set_count ? &s->sets[s->set_count - 1] : NULL;
        if (!set || set->images != s->list[i].images) {
            set = array_push(&s->sets, &s->set_count, &s->set_cap, sizeof(*set), err);
            if (!set)
                return -1;
            *set = (struct family_set){.images = s->list[i].images, .start = i};
        }
        set->end = i + 1;
        set->bytes += s->in->all->files[s->list[i].file].bytes;
    }
    return 0;
}

/* Every image has a set of its own, for its state layer. */
static int add_own_sets(struct sorting *s, struct err *err)
{
    uint64_t found = 0;

    for (size_t i = 0; i < s->set_count; i++)
        if (family_set_size(s->sets[i].images) == 1)
            found |= s->sets[i].images;
    for (size_t i = 0; i < s->in->image_count; i++) {
        if (found >> i & 1)
            continue;
        struct family_set *set =
            array_push(&s->sets, &s->set_count, &s->set_cap, sizeof(*set), err);
        if (!set)
            return -1;
        *set = (struct family_set){.images = (uint64_t)1 << i, .start = s->count, .end = s->count};
    }
    return 0;
}

/* ---- too many sets ---- */

/* Sorts sets that save the fewest bytes by being shared first. */
static int by_saving(const void *a, const void *b)
{
    const struct family_set *left = a, *right = b;
    uint64_t left_saves = left->bytes * (family_set_size(left->images) - 1);
    uint64_t right_saves = right->bytes * (family_set_size(right->images) - 1);

    if (left_saves != right_saves)
        return left_saves < right_saves ? -1 : 1;
    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return (left->images > right->images) - (left->images < right->images);
}

/* Adds to, or takes from, the number of sets of each image. Returns the images with too many. */
static uint64_t count_sets(size_t *counts, uint64_t images, int change, size_t most)
{
    uint64_t over = 0;

    for (uint64_t left = images; left; left &= left - 1) {
        int image = __builtin_ctzll(left);
        counts[image] += (size_t)change;
        if (counts[image] > most)
            over |= (uint64_t)1 << image;
    }
    return over;
}

/* Gives the files of the set to each of its images. */
static int dissolve(struct sorting *s, const struct family_set *set, struct err *err)
{
    for (size_t i = set->start; i < set->end; i++) {
        uint64_t left = set->images;
        s->list[i].images = left & -left;
        for (left &= left - 1; left; left &= left - 1)
            if (add_file(s, left & -left, s->list[i].file, err) < 0)
                return -1;
    }
    return 0;
}

static int reduce(struct sorting *s, size_t most, struct err *err)
{
    size_t counts[LAYOUT_MOST_IMAGES] = {0};
    uint64_t over = 0;

    for (size_t i = 0; i < s->set_count; i++)
        over |= count_sets(counts, s->sets[i].images, 1, most);
    if (!over)
        return 0;
    qsort(s->sets, s->set_count, sizeof(*s->sets), by_saving);
    for (size_t i = 0; i < s->set_count; i++) {
        const struct family_set *set = &s->sets[i];
        if (family_set_size(set->images) == 1 || !count_sets(counts, set->images, 0, most))
            continue;
        (void)count_sets(counts, set->images, -1, most);
        if (dissolve(s, set, err) < 0)
            return -1;
    }
    return list_sets(s, err) < 0 ? -1 : add_own_sets(s, err);
}

/* ---- order ---- */

/* Makes the key of a set from all names in it, so that their order does not matter. */
static int set_keys(struct sorting *s, const uint64_t *hash, struct err *err)
{
    const struct layout_input *all = s->in->all;
    _cleanup_free_ uint64_t *keys = calloc(all->file_count + 1, sizeof(*keys));

    if (!keys)
        return err_nomem(err);
    for (size_t i = 0; i < all->file_count; i++)
        keys[i] = hash[all->files[i].node];
    for (size_t i = 0; i < all->name_count; i++)
        keys[all->names[i].file] += hash[all->names[i].node];
    for (size_t i = 0; i < s->set_count; i++)
        for (size_t at = s->sets[i].start; at < s->sets[i].end; at++)
            s->sets[i].key += keys[s->list[at].file];
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const struct family_set *left = a, *right = b;
    unsigned left_size = family_set_size(left->images), right_size = family_set_size(right->images);

    if (left_size != right_size)
        return left_size > right_size ? -1 : 1;
    if (left->bytes != right->bytes)
        return left->bytes > right->bytes ? -1 : 1;
    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return (left->images > right->images) - (left->images < right->images);
}

static int take_sets(struct sorting *s, struct family_sets *out, struct err *err)
{
    if (s->set_count > 1)
        qsort(s->sets, s->set_count, sizeof(*s->sets), by_place);
    out->files = calloc(s->count + 1, sizeof(*out->files));
    if (!out->files)
        return err_nomem(err);
    for (size_t i = 0; i < s->count; i++)
        out->files[i] = s->list[i].file;
    out->file_count = s->count;
    out->count = s->set_count;
    out->list = steal_ptr(&s->sets);
    return 0;
}

int family_sets_make(const struct layout_family_input *in, const uint64_t *hash, size_t most,
                     struct family_sets *out, struct err *err)
{
    _cleanup_(sorting_clear) struct sorting s = {.in = in};

    *out = (struct family_sets){0};
    for (size_t i = 0; i < in->all->file_count; i++)
        if (add_file(&s, in->images[i], (uint32_t)i, err) < 0)
            return -1;
    if (list_sets(&s, err) < 0 || add_own_sets(&s, err) < 0 || set_keys(&s, hash, err) < 0 ||
        reduce(&s, most, err) < 0)
        return -1;
    for (size_t i = 0; i < s.set_count; i++)
        s.sets[i].key = 0;
    return set_keys(&s, hash, err) < 0 ? -1 : take_sets(&s, out, err);
}

void family_sets_clear(struct family_sets *s)
{
    free(s->list);
    free(s->files);
    *s = (struct family_sets){0};
}
