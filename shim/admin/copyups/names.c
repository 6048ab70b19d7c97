#include "shim/admin/copyups/names.h"

#include "base/hash.h"

#include <dirent.h>
#include <string.h>

enum { BUFFER = 32 * 1024, FIRST_SIZE = 4096 };

/* Returns the slot of a hash, or the empty one where it belongs. */
static uint64_t *find_slot(uint64_t *slots, size_t size, uint64_t hash)
{
    size_t at = (size_t)hash & (size - 1);

    while (slots[at] && slots[at] != hash)
        at = (at + 1) & (size - 1);
    return &slots[at];
}

/* Returns the hash of a name, never 0. */
static uint64_t hash_of(const char *name)
{
    uint64_t hash = hash_bytes(name, strlen(name), 0);

    return hash ? hash : 1;
}

/* Doubles the table. */
static bool grow(struct names *names)
{
    size_t size = names->size ? names->size * 2 : FIRST_SIZE;
    uint64_t *slots = calloc(size, sizeof(*slots));

    if (!slots)
        return false;
    for (size_t i = 0; i < names->size; i++)
        if (names->slots[i])
            *find_slot(slots, size, names->slots[i]) = names->slots[i];
    free(names->slots);
    names->slots = slots;
    names->size = size;
    return true;
}

static bool add(struct names *names, const char *name)
{
    uint64_t hash = hash_of(name), *slot = find_slot(names->slots, names->size, hash);

    if (*slot)
        return true;
    *slot = hash;
    return ++names->count < names->size / 2 || (names->count < NAMES_MOST && grow(names));
}

/* Adds the names of a directory, which is read from its beginning. Returns false on any failure. */
static bool add_directory(struct names *names, int fd, char *buffer)
{
    ssize_t len;

    if (lseek(fd, 0, SEEK_SET) < 0)
        return false;
    while ((len = getdents64(fd, buffer, BUFFER)) > 0)
        for (ssize_t at = 0; at < len;) {
            const struct dirent64 *e = (const void *)(buffer + at);
            if (!add(names, e->d_name))
                return false;
            at += e->d_reclen;
        }
    return len == 0;
}

void names_read(struct names *names, const struct lowers *lowers)
{
    _cleanup_free_ char *buffer = malloc(BUFFER);
    bool whole = buffer && grow(names);

    for (size_t i = 0; whole && i < lowers->count; i++)
        whole = add_directory(names, lowers->list[i].fd, buffer);
    if (!whole)
        names_free(names);
}

bool names_may_have(const struct names *names, const char *name)
{
    return !names->slots || *find_slot(names->slots, names->size, hash_of(name));
}

void names_free(struct names *names)
{
    free(names->slots);
    *names = (struct names){0};
}
