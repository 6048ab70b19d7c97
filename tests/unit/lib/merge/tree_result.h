/*
 * A merged tree as a test sees it arrive: checks that it comes in a legal order, and writes it as
 * one line, sorted by path:
 *
 *   a/2 directory as layer 2 has it   a/? a directory that no entry describes   l>t symbolic link
 *   a@2 layer 2's file of that name   b@1:a with the content of layer 1's a     p% FIFO
 *   a@2#2 the second of that name in its layer             c=b one file with b (the least name)
 */
#ifndef TESTS_TREE_RESULT_H
#define TESTS_TREE_RESULT_H

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

struct result_item {
    char *path;
    char *what;   /* behind the path, but for files */
    char *origin; /* files: "layer:path" or "layer:path#copy" of the content */
    size_t inode; /* names of one file have one number */
    bool directory;
};

struct result {
    struct result_item *list;
    size_t count;
    char fault[256]; /* the first rule that was broken; or "" */
};

static inline void result_free(struct result *r)
{
    for (size_t i = 0; i < r->count; i++) {
        free(r->list[i].path);
        free(r->list[i].what);
        free(r->list[i].origin);
    }
    free(r->list);
    *r = (struct result){0};
}

#define _cleanup_result_ _cleanup_(result_free)

static inline struct result_item *result_find(struct result *r, const char *path, size_t len)
{
    for (size_t i = 0; i < r->count; i++)
        if (strlen(r->list[i].path) == len && memcmp(r->list[i].path, path, len) == 0)
            return &r->list[i];
    return NULL;
}

static inline void result_fault(struct result *r, const char *text, const char *path)
{
    if (!r->fault[0])
        snprintf(r->fault, sizeof(r->fault), "%s: %s", text, path);
}

static inline struct result_item *result_add(struct result *r, const char *path)
{
    const char *slash = strrchr(path, '/');
    struct result_item *parent = slash ? result_find(r, path, (size_t)(slash - path)) : NULL;

    if (result_find(r, path, strlen(path)))
        result_fault(r, "comes twice", path);
    if (slash && !parent)
        result_fault(r, "comes before its directory", path);
    if (parent && !parent->directory)
        result_fault(r, "lies in what is not a directory", path);
    r->list = realloc(r->list, (r->count + 1) * sizeof(*r->list));
    if (!r->list)
        abort();
    struct result_item *item = &r->list[r->count];
    *item = (struct result_item){.path = strdup(path), .inode = r->count};
    r->count++;
    return item;
}

/* `layer` 0: nothing describes it. */
static inline void result_add_dir(struct result *r, const char *path, unsigned layer)
{
    struct result_item *item = result_add(r, path);

    item->directory = true;
    item->what = layer ? strf("/%u", layer) : strdup("/?");
}

static inline void result_add_other(struct result *r, const char *path, const char *what)
{
    result_add(r, path)->what = strdup(what);
}

static inline void result_add_file(struct result *r, const char *path, const char *origin)
{
    result_add(r, path)->origin = strdup(origin);
}

static inline void result_add_link(struct result *r, const char *path, const char *target)
{
    const struct result_item *to = result_find(r, target, strlen(target));

    if (!to || to->directory) {
        result_fault(r, to ? "links to a directory" : "comes before its target", path);
        return;
    }
    struct result_item copy = *to;
    struct result_item *item = result_add(r, path);
    item->inode = copy.inode;
    item->what = copy.what ? strdup(copy.what) : NULL;
    item->origin = copy.origin ? strdup(copy.origin) : NULL;
}

static inline int result_by_path(const void *a, const void *b)
{
    return strcmp(((const struct result_item *)a)->path, ((const struct result_item *)b)->path);
}

/* "2:a" for a file a is "@2", for a file b "@2:a". */
static inline void result_put_origin(const struct result_item *item, struct buf *out)
{
    const char *colon = strchr(item->origin, ':');
    size_t layer = colon ? (size_t)(colon - item->origin) : 0;
    size_t len = colon ? strcspn(colon + 1, "#") : 0;

    buf_putc(out, '@');
    if (colon && len == strlen(item->path) && memcmp(colon + 1, item->path, len) == 0) {
        buf_append(out, item->origin, layer);
        buf_puts(out, colon + 1 + len);
    } else {
        buf_puts(out, item->origin);
    }
}

/* The whole tree as a line. Sorts the list. */
static inline void result_text(struct result *r, struct buf *out)
{
    buf_append(out, "", 0);
    if (r->fault[0])
        buf_printf(out, "FAULT: %s", r->fault);
    if (r->count)
        qsort(r->list, r->count, sizeof(*r->list), result_by_path);
    for (size_t i = 0; i < r->count; i++) {
        const struct result_item *item = &r->list[i], *first = item;
        for (size_t j = i; j-- > 0;)
            if (r->list[j].inode == item->inode)
                first = &r->list[j];
        buf_printf(out, "%s%s", out->len ? " " : "", *item->path ? item->path : ".");
        if (first != item)
            buf_printf(out, "=%s", first->path);
        else if (item->origin)
            result_put_origin(item, out);
        else
            buf_puts(out, item->what);
    }
}

#endif
