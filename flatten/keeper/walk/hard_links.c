#include "flatten/keeper/walk/hard_links.h"

#include <search.h>
#include <string.h>

struct file {
    dev_t dev;
    ino_t ino;
    char path[];
};

static int compare_files(const void *a, const void *b)
{
    const struct file *x = a, *y = b;

    if (x->dev != y->dev)
        return x->dev < y->dev ? -1 : 1;
    return x->ino < y->ino ? -1 : x->ino > y->ino;
}

int hard_links_find(struct hard_links *l, const struct stat *st, const char *path,
                    const char **origin, struct err *err)
{
    size_t size = strlen(path) + 1;
    _cleanup_free_ struct file *file = malloc(sizeof(*file) + size);

    if (!file)
        return err_nomem(err);
    file->dev = st->st_dev;
    file->ino = st->st_ino;
    memcpy(file->path, path, size);
    struct file *const *found = tsearch(file, &l->root, compare_files);
    if (!found)
        return err_nomem(err);
    *origin = *found == file ? NULL : (*found)->path;
    if (*found == file)
        steal_ptr(&file);
    return 0;
}

void hard_links_clear(struct hard_links *l)
{
    tdestroy(l->root, free);
    l->root = NULL;
}
