#include "base/arena.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { FIRST_CHUNK = 8 * 1024, LARGEST_CHUNK = 1024 * 1024, FIRST_ITEMS = 8 };

struct arena_chunk {
    struct arena_chunk *next;
    size_t size; /* of data */
    size_t used;
    alignas(max_align_t) unsigned char data[];
};

/* Returns how many bytes a new chunk may hold within the limit. */
static size_t room_left(const struct arena *a)
{
    size_t taken = a->used + sizeof(struct arena_chunk);

    return a->limit > taken ? a->limit - taken : 0;
}

static struct arena_chunk *arena_grow(struct arena *a, size_t least)
{
    size_t size = a->chunks ? a->chunks->size * 2 : FIRST_CHUNK;
    size_t total;

    if (size > LARGEST_CHUNK)
        size = LARGEST_CHUNK;
    if (a->limit && size > room_left(a))
        size = room_left(a);
    if (size < least)
        size = least;
    if (__builtin_add_overflow(size, sizeof(struct arena_chunk), &total))
        return NULL;
    if (a->limit && size > room_left(a))
        return NULL;
    struct arena_chunk *chunk = malloc(total);
    if (!chunk)
        return NULL;
    chunk->size = size;
    chunk->used = 0;
    chunk->next = a->chunks;
    a->chunks = chunk;
    a->used += total;
    return chunk;
}

/*
 * Does not clear the memory: a chunk's pages are touched only as they are used, for each page costs
 * time.
 */
static void *arena_take(struct arena *a, size_t size, size_t align)
{
    struct arena_chunk *chunk = a->chunks;
    size_t at = chunk ? (chunk->used + align - 1) & ~(align - 1) : 0;

    if (!chunk || at > chunk->size || chunk->size - at < size) {
        chunk = arena_grow(a, size);
        if (!chunk)
            return NULL;
        at = 0;
    }
    chunk->used = at + size;
    return chunk->data + at;
}

void *arena_alloc(struct arena *a, size_t size)
{
    void *p = arena_take(a, size, alignof(max_align_t));

    return p ? memset(p, 0, size) : NULL;
}

char *arena_strndup(struct arena *a, const char *text, size_t len)
{
    if (len == SIZE_MAX)
        return NULL;
    char *copy = arena_take(a, len + 1, 1);
    if (!copy)
        return NULL;
    if (len)
        memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

char *arena_vprintf(struct arena *a, const char *format, va_list args)
{
    va_list again;

    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    char *text = len < 0 ? NULL : arena_take(a, (size_t)len + 1, 1);
    if (text)
        vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    return text;
}

char *arena_printf(struct arena *a, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    char *text = arena_vprintf(a, format, args);
    va_end(args);
    return text;
}

void *arena_extend(struct arena *a, void *list, size_t count, size_t size)
{
    bool full = count == 0 || (count >= FIRST_ITEMS && (count & (count - 1)) == 0);
    size_t capacity = FIRST_ITEMS, total;

    if (!full)
        return list;
    if ((count && __builtin_mul_overflow(count, 2, &capacity)) ||
        __builtin_mul_overflow(capacity, size, &total))
        return NULL;
    void *grown = arena_alloc(a, total);
    if (grown && count)
        memcpy(grown, list, count * size);
    return grown;
}

void arena_free(struct arena *a)
{
    for (struct arena_chunk *next, *c = a->chunks; c; c = next) {
        next = c->next;
        free(c);
    }
    a->chunks = NULL;
    a->used = 0;
}
