#include "base/ranking.h"

#include <string.h>

void ranking_offer(void *list, size_t *count, size_t most, size_t size, const void *item,
                   ranking_weight *weight)
{
    char *items = list;
    size_t at = *count;
    uint64_t own = weight(item);

    while (at > 0 && weight(items + (at - 1) * size) < own)
        at--;
    if (at == most)
        return;
    if (*count < most)
        ++*count;
    memmove(items + (at + 1) * size, items + at * size, (*count - at - 1) * size);
    memcpy(items + at * size, item, size);
}
