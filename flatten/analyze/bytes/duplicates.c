#include "flatten/analyze/bytes/duplicates.h"

#include "base/ranking.h"
#include "flatten/analyze/bytes/stale_pyc.h"

#include <string.h>

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* ---- files to read ---- */

/* Returns the sizes of all files that are not empty, sorted; NULL without memory. */
static uint64_t *all_sizes(const struct duplicate_image *images, size_t count, size_t *total,
                           struct err *err)
{
    size_t room = 1, used = 0;

    for (size_t i = 0; i < count; i++)
        room += images[i].stack->file_count;
    uint64_t *sizes = calloc(room, sizeof(*sizes));
    if (!sizes) {
        err_nomem(err);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t f = 0; f < images[i].stack->file_count; f++)
            if (images[i].stack->files[f].layer && images[i].stack->files[f].size)
                sizes[used++] = images[i].stack->files[f].size;
    qsort(sizes, used, sizeof(*sizes), by_number);
    *total = used;
    return sizes;
}

static bool is_common(const uint64_t *sizes, size_t count, uint64_t size)
{
    const uint64_t *found = count ? bsearch(&size, sizes, count, sizeof(size), by_number) : NULL;

    return found && ((found > sizes && found[-1] == size) ||
                     (found + 1 < sizes + count && found[1] == size));
}

static int want_files(const struct layer_stack *s, const uint64_t *sizes, size_t count,
                      uint8_t **out, struct err *err)
{
    _cleanup_free_ uint16_t *floors = layer_stack_floors(s, err);

    if (!floors)
        return -1;
    uint8_t *wanted = *out = calloc(s->file_count + 1, 1);
    if (!wanted)
        return err_nomem(err);
    for (size_t f = 0; f < s->file_count; f++)
        if (s->files[f].layer && is_common(sizes, count, s->files[f].size))
            wanted[f] = CONTENT_HASH;
    return stale_pyc_want(s, floors, wanted, err);
}

int duplicates_want(const struct duplicate_image *images, size_t count, uint8_t **wanted,
                    struct err *err)
{
    size_t total = 0;
    _cleanup_free_ uint64_t *sizes = all_sizes(images, count, &total, err);

    for (size_t i = 0; i < count; i++)
        wanted[i] = NULL;
    for (size_t i = 0; sizes && i < count; i++)
        if (want_files(images[i].stack, sizes, total, &wanted[i], err) < 0)
            return -1;
    return sizes ? 0 : -1;
}

/* ---- one image ---- */

static uint64_t savings(const void *group)
{
    const struct duplicate_group *g = group;

    return g->size * (g->copies - 1);
}

/* Sums up files of one content, in the order of layers. Hidden ones are dead bytes, no duplicates.
 */
static void sum_group(const struct layer_stack *s, const struct content *list, size_t count,
                      struct duplicate_report *out)
{
    struct duplicate_group group = {0};
    unsigned layer = 0;

    for (size_t i = 0; i < count; i++) {
        const struct stack_file *f = &s->files[list[i].inode];
        if (f->killer)
            continue;
        if (group.copies < DUPLICATE_PATHS)
            group.nodes[group.copies] = f->node;
        group.size = f->size;
        group.copies++;
        group.layers += f->layer != layer;
        layer = f->layer;
    }
    if (group.copies < 2)
        return;
    out->groups++;
    out->files += group.copies - 1;
    out->bytes += savings(&group);
    ranking_offer(out->worst, &out->worst_count, DUPLICATE_WORST, sizeof(group), &group, savings);
}

static bool same_content(const struct content *a, const struct content *b)
{
    return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

int duplicates_find(const struct duplicate_image *image, struct duplicate_report *out,
                    struct stale_report *stale, struct err *err)
{
    struct content_list *hashes = &image->contents->hashes;
    _cleanup_free_ uint16_t *floors = layer_stack_floors(image->stack, err);

    *out = (struct duplicate_report){0};
    if (!floors)
        return -1;
    contents_sort(hashes);
    for (size_t i = 0, end; i < hashes->count; i = end) {
        for (end = i + 1; end < hashes->count && same_content(&hashes->list[i], &hashes->list[end]);
             end++)
            ;
        sum_group(image->stack, hashes->list + i, end - i, out);
    }
    return stale_pyc_find(image, floors, stale, err);
}

/* ---- all images ---- */

/* A content or a layer, by its hash. */
struct stored {
    char key[DIGEST_SIZE];
    uint64_t bytes;
};

static int by_key(const void *a, const void *b)
{
    return memcmp(a, b, DIGEST_SIZE);
}

/* Returns the bytes with each key counted once. Sorts the list. */
static uint64_t stored_once(struct stored *list, size_t count)
{
    uint64_t bytes = 0;

    qsort(list, count, sizeof(*list), by_key);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || by_key(&list[i - 1], &list[i]) != 0)
            bytes += list[i].bytes;
    return bytes;
}

static size_t put_layers(const struct duplicate_image *image, struct stored *list)
{
    const struct layer_stack *s = image->stack;

    for (size_t i = 0; i < image->image->layer_count; i++) {
        memset(&list[i], 0, sizeof(list[i]));
        memcpy(list[i].key, image->image->layers[i].diff_id.text, DIGEST_SIZE);
    }
    for (size_t f = 0; f < s->file_count; f++)
        if (s->files[f].layer)
            list[s->files[f].layer - 1].bytes += s->files[f].size;
    return image->image->layer_count;
}

static size_t put_contents(const struct duplicate_image *image, struct stored *list)
{
    const struct content_list *hashes = &image->contents->hashes;

    for (size_t i = 0; i < hashes->count; i++) {
        memset(&list[i], 0, sizeof(list[i]));
        memcpy(list[i].key, hashes->list[i].bytes, CONTENT_BYTES);
        list[i].bytes = image->stack->files[hashes->list[i].inode].size;
    }
    return hashes->count;
}

int duplicates_share(const struct duplicate_image *images, size_t count,
                     struct duplicate_shared *out, struct err *err)
{
    size_t layers = 1, contents = 1, used = 0;
    uint64_t hashed = 0;

    *out = (struct duplicate_shared){0};
    for (size_t i = 0; i < count; i++) {
        layers += images[i].image->layer_count;
        contents += images[i].contents->hashes.count;
        for (size_t f = 0; f < images[i].stack->file_count; f++)
            out->payload += images[i].stack->files[f].layer ? images[i].stack->files[f].size : 0;
    }
    _cleanup_free_ struct stored *list = calloc(layers + contents, sizeof(*list));
    if (!list)
        return err_nomem(err);
    for (size_t i = 0; i < count; i++)
        used += put_layers(&images[i], list + used);
    out->by_layer = stored_once(list, used);
    used = 0;
    for (size_t i = 0; i < count; i++)
        used += put_contents(&images[i], list + used);
    for (size_t i = 0; i < used; i++)
        hashed += list[i].bytes;
    /* Files that were not read have a size of their own: no other file has their content. */
    out->by_file = out->payload - hashed + stored_once(list, used);
    return 0;
}
