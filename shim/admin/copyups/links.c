#include "shim/admin/copyups/links.h"

#include "base/hash.h"

enum { FIRST_SIZE = 256 };

static struct link *find_slot(struct link *slots, size_t size, const struct link *link)
{
    size_t at = (size_t)hash_bytes(&link->inode, sizeof(link->inode), link->device) & (size - 1);

    while (slots[at].inode && (slots[at].inode != link->inode || slots[at].device != link->device))
        at = (at + 1) & (size - 1);
    return &slots[at];
}

static bool grow(struct links *links)
{
    size_t size = links->size ? links->size * 2 : FIRST_SIZE;
    struct link *slots = calloc(size, sizeof(*slots));

    if (!slots)
        return false;
    for (size_t i = 0; i < links->size; i++)
        if (links->slots[i].inode)
            *find_slot(slots, size, &links->slots[i]) = links->slots[i];
    free(links->slots);
    links->slots = slots;
    links->size = size;
    return true;
}

bool links_first(struct links *links, dev_t device, ino_t inode)
{
    const struct link link = {device, inode};

    if (links->count >= links->size / 2 && (links->count >= LINKS_MOST || !grow(links)))
        return true;
    struct link *slot = find_slot(links->slots, links->size, &link);
    if (slot->inode)
        return false;
    *slot = link;
    links->count++;
    return true;
}

void links_free(struct links *links)
{
    free(links->slots);
    *links = (struct links){0};
}
