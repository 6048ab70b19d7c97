#include "shim/admin/copyups/tally.h"

#include "base/ranking.h"

#include <string.h>

const char *const change_names[CHANGES] = {"copied", "metadata", "replaced", "new"};

int tally_begin(struct tally *t, size_t layers, size_t top, struct err *err)
{
    *t = (struct tally){.top = top < TALLY_TOP_MOST ? top : TALLY_TOP_MOST};
    t->layers = calloc(layers + 1, sizeof(*t->layers));
    t->files = calloc(t->top + 1, sizeof(*t->files));
    t->largest = calloc(t->top + 1, sizeof(*t->largest));
    if (!t->layers || !t->files || !t->largest) {
        tally_free(t);
        return err_nomem(err);
    }
    t->layer_count = layers;
    return 0;
}

static void add_sum(struct tally_sum *to, const struct tally_sum *from)
{
    to->files += from->files;
    to->size += from->size;
    to->disk += from->disk;
}

static void add_file(struct tally_sum *to, const struct tally_file *file)
{
    add_sum(to, &(struct tally_sum){1, file->size, file->disk});
}

static uint64_t weight_of_file(const void *item)
{
    return ((const struct tally_file *)item)->disk;
}

static uint64_t weight_of_directory(const void *item)
{
    return ((const struct tally_directory *)item)->sum.disk;
}

/* Keeps a copy of the file if it is one of the largest. */
static void keep_file(struct tally *t, const struct tally_file *file)
{
    struct tally_file kept = *file;

    if (t->top == 0 || (t->file_count == t->top && t->files[t->top - 1].disk >= file->disk))
        return;
    if (!(kept.path = strdup(file->path))) {
        t->failed = true;
        return;
    }
    if (t->file_count == t->top)
        free(t->files[t->top - 1].path);
    ranking_offer(t->files, &t->file_count, t->top, sizeof(kept), &kept, weight_of_file);
}

void tally_add(struct tally *t, const struct tally_file *file)
{
    add_file(&t->sums[file->change], file);
    t->disk += file->disk;
    if (file->change == CHANGE_NEW)
        return;
    if (file->shared) {
        add_file(&t->reflinked, file);
        t->reflinked.disk += file->shared - file->disk;
    }
    if (file->change != CHANGE_REPLACED && file->layer < t->layer_count)
        add_file(&t->layers[file->layer], file);
    keep_file(t, file);
}

void tally_directory_add_file(struct tally_directory *to, const struct tally_file *file)
{
    add_file(&to->sum, file);
    if (file->change != CHANGE_NEW)
        to->hidden += file->disk;
}

void tally_directory_add(struct tally_directory *to, const struct tally_directory *from)
{
    add_sum(&to->sum, &from->sum);
    to->hidden += from->hidden;
    if (from->sum.disk > to->largest.disk)
        to->largest = from->sum;
}

void tally_directory_end(struct tally *t, const struct tally_directory *directory)
{
    struct tally_directory kept = *directory;
    uint64_t disk = directory->sum.disk;

    if (t->top == 0 || disk == 0 || directory->largest.disk >= disk - disk / 10 ||
        (t->largest_count == t->top && t->largest[t->top - 1].sum.disk >= disk))
        return;
    if (!(kept.path = strdup(directory->path))) {
        t->failed = true;
        return;
    }
    if (t->largest_count == t->top)
        free(t->largest[t->top - 1].path);
    ranking_offer(t->largest, &t->largest_count, t->top, sizeof(kept), &kept, weight_of_directory);
}

struct tally_sum tally_all(const struct tally *t)
{
    struct tally_sum all = {0};

    for (size_t i = 0; i < CHANGES; i++)
        add_sum(&all, &t->sums[i]);
    return all;
}

void tally_free(struct tally *t)
{
    for (size_t i = 0; t->files && i < t->file_count; i++)
        free(t->files[i].path);
    for (size_t i = 0; t->largest && i < t->largest_count; i++)
        free(t->largest[i].path);
    free(t->files);
    free(t->largest);
    free(t->layers);
    *t = (struct tally){0};
}
