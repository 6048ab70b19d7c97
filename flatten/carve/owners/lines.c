#include "flatten/carve/owners/finder.h"

#include <string.h>

#define DATABASE_MOST (64ULL << 20)

bool lines_open(struct finder *f, uint32_t node, struct lines *l)
{
    int64_t size = node == TREE_NONE ? -1 : f->source->size(f->source->ctx, node);

    *l = (struct lines){.finder = f, .node = node};
    if (size < 0)
        return false;
    l->end = (uint64_t)size;
    if (l->end > DATABASE_MOST)
        l->end = DATABASE_MOST;
    if (l->end > f->left)
        l->end = f->left;
    f->out->cut += l->end < (uint64_t)size;
    return true;
}

/* Reads more bytes behind those of the window. Returns 1, 0 at the end, or -1. */
static int fill_window(struct lines *l, struct err *err)
{
    struct finder *f = l->finder;
    size_t len = LINES_WINDOW - l->fill;

    if (len > l->end - l->at)
        len = l->end - l->at;
    if (len > f->left)
        len = f->left;
    if (len == 0)
        return 0;
    if (f->source->read(f->source->ctx, l->node, l->at, f->window + l->fill, len, err) < 0)
        return -1;
    l->at += len;
    l->fill += len;
    f->left -= len;
    return 1;
}

/* Moves the bytes that are not taken yet to the window's beginning. */
static void settle_window(struct lines *l)
{
    char *window = l->finder->window;

    memmove(window, window + l->from, l->fill - l->from);
    l->fill -= l->from;
    l->from = 0;
}

int lines_next(struct lines *l, const char **line, size_t *len, struct err *err)
{
    bool is_long = false;

    for (;;) {
        const char *start = l->finder->window + l->from;
        const char *newline = memchr(start, '\n', l->fill - l->from);
        if (newline) {
            *line = start;
            *len = (size_t)(newline - start);
            l->from += *len + 1;
            if (!is_long)
                return 1;
            is_long = false;
            continue;
        }
        settle_window(l);
        if (l->fill == LINES_WINDOW) {
            is_long = true;
            l->fill = 0;
        }
        int rc = fill_window(l, err);
        if (rc < 0)
            return -1;
        if (rc == 0) {
            *line = l->finder->window;
            *len = is_long ? 0 : l->fill;
            l->fill = 0;
            return *len > 0;
        }
    }
}

int lines_piece(struct lines *l, const char **piece, size_t *len, struct err *err)
{
    l->from = l->fill = 0;
    int rc = fill_window(l, err);
    *piece = l->finder->window;
    *len = l->fill;
    return rc;
}

bool lines_field(const char *line, size_t len, const char *key, const char **value,
                 size_t *value_len)
{
    size_t key_len = strlen(key);

    if (len <= key_len || memcmp(line, key, key_len) != 0 || line[key_len] != ':')
        return false;
    for (key_len++; key_len < len && line[key_len] == ' ';)
        key_len++;
    *value = line + key_len;
    *value_len = len - key_len;
    return true;
}
