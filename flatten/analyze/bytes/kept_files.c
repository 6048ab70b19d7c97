#include "flatten/analyze/bytes/kept_files.h"

#include "flatten/merge/tree/array.h"

#include <stdlib.h>

void kept_files_clear(struct kept_files *k)
{
    for (size_t i = 0; i < k->count; i++)
        free(k->list[i].data);
    free(k->list);
    free(k->newest);
    *k = (struct kept_files){0};
}

static void drop_older(struct kept_files *k, uint32_t node)
{
    if (k->newest[node] == 0)
        return;
    struct kept_file *older = &k->list[k->newest[node] - 1];
    k->bytes -= older->data ? older->len : 0;
    free(steal_ptr(&older->data));
}

int kept_files_add(struct kept_files *k, uint32_t node, uint32_t inode, uint64_t size, char **data,
                   struct err *err)
{
    *data = NULL;
    if (array_reserve(&k->newest, &k->newest_cap, (size_t)node + 1, sizeof(*k->newest), err) < 0)
        return -1;
    struct kept_file *f = array_push(&k->list, &k->count, &k->cap, sizeof(*f), err);
    if (!f)
        return -1;
    drop_older(k, node);
    k->newest[node] = (uint32_t)k->count;
    *f = (struct kept_file){.inode = inode, .node = node, .len = size};
    f->cut = size > KEPT_FILES_MOST - k->bytes;
    if (f->cut || size == 0)
        return 0;
    *data = f->data = malloc(size);
    if (!f->data)
        return err_nomem(err);
    k->bytes += size;
    return 0;
}

static int by_inode(const void *a, const void *b)
{
    const struct kept_file *x = a, *y = b;

    return x->inode < y->inode ? -1 : x->inode > y->inode;
}

const struct kept_file *kept_files_find(const struct kept_files *k, uint32_t inode)
{
    const struct kept_file key = {.inode = inode};

    return k->count ? bsearch(&key, k->list, k->count, sizeof(key), by_inode) : NULL;
}

size_t kept_files_cut(const struct kept_files *k)
{
    size_t count = 0;

    for (size_t i = 0; i < k->count; i++)
        count += k->list[i].cut && k->newest[k->list[i].node] == i + 1;
    return count;
}
