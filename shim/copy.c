/*
 * memcpy and memmove for flatbed-runtime where it is linked with musl, whose own for x86-64 are
 * `rep movsq` whatever the size; to begin that takes longer than most copies here, of words and
 * paths.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* As many bytes at once, at any address, of objects of any type. */
typedef uint16_t two __attribute__((aligned(1), may_alias));
typedef uint32_t four __attribute__((aligned(1), may_alias));
typedef uint64_t eight __attribute__((aligned(1), may_alias));
typedef uint64_t sixteen __attribute__((vector_size(16), aligned(1), may_alias));

enum { BLOCK = sizeof(sixteen) };

/* The first and the last ones, which overlap unless there are twice as many. */
#define MOVE_ENDS(type, to, from, len)                                                             \
    do {                                                                                           \
        type first_ = *(const type *)(from);                                                       \
        type last_ = *(const type *)((from) + (len) - sizeof(type));                               \
        *(type *)(to) = first_;                                                                    \
        *(type *)((to) + (len) - sizeof(type)) = last_;                                            \
    } while (0)

/* Less than a block; all is read before anything is written. */
static void move_few(unsigned char *to, const unsigned char *from, size_t len)
{
    if (len >= sizeof(eight))
        MOVE_ENDS(eight, to, from, len);
    else if (len >= sizeof(four))
        MOVE_ENDS(four, to, from, len);
    else if (len >= sizeof(two))
        MOVE_ENDS(two, to, from, len);
    else if (len > 0)
        *to = *from;
}

void *memcpy(void *restrict dest, const void *restrict src, size_t n)
{
    unsigned char *to = dest;
    const unsigned char *from = src;

    if (n < BLOCK) {
        move_few(to, from, n);
        return dest;
    }
    for (size_t i = 0; i < n - BLOCK; i += BLOCK)
        *(sixteen *)(to + i) = *(const sixteen *)(from + i);
    *(sixteen *)(to + n - BLOCK) = *(const sixteen *)(from + n - BLOCK);
    return dest;
}

void *memmove(void *dest, const void *src, size_t n)
{
    unsigned char *to = dest;
    const unsigned char *from = src;

    if (n < BLOCK) {
        move_few(to, from, n);
    } else if ((uintptr_t)to - (uintptr_t)from < n) { /* backwards, as to is within what is moved */
        sixteen first = *(const sixteen *)from;
        for (size_t i = n; i > BLOCK; i -= BLOCK)
            *(sixteen *)(to + i - BLOCK) = *(const sixteen *)(from + i - BLOCK);
        *(sixteen *)to = first;
    } else { /* forwards */
        sixteen last = *(const sixteen *)(from + n - BLOCK);
        for (size_t i = 0; i < n - BLOCK; i += BLOCK)
            *(sixteen *)(to + i) = *(const sixteen *)(from + i);
        *(sixteen *)(to + n - BLOCK) = last;
    }
    return dest;
}
