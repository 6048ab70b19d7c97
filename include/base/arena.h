/*
 * Memory that is freed all at once. Everything allocated lives until arena_free; nothing is
 * released singly. A limit bounds what hostile input can make it hold.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/cleanup.h"

#include <stdarg.h>
#include <stddef.h>

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks;
    size_t used;  /* bytes taken from the system */
    size_t limit; /* the most that may be; 0: no limit */
};

/* Returns zeroed memory, aligned for any type; NULL without memory or beyond the limit. */
void *arena_alloc(struct arena *a, size_t size) must_check;

/* Returns a NUL-terminated copy of len bytes (which may hold NUL themselves); NULL as above. */
char *arena_strndup(struct arena *a, const char *text, size_t len) must_check;

/* As asprintf(3), in the arena; NULL as above. */
char *arena_printf(struct arena *a, const char *format, ...)
    __attribute__((format(printf, 2, 3))) must_check;
char *arena_vprintf(struct arena *a, const char *format, va_list args)
    __attribute__((format(printf, 2, 0))) must_check;

/*
 * Returns the list of `count` items of `size` bytes with room for one more: the same, or a larger
 * copy. The list must have grown in this way from NULL and 0. Returns NULL as above.
 */
void *arena_extend(struct arena *a, void *list, size_t count, size_t size) must_check;

/* Frees everything. The arena is empty then and keeps its limit. */
void arena_free(struct arena *a);

#define _cleanup_arena_ _cleanup_(arena_free)

#endif
