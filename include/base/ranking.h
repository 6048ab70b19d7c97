/* The few greatest of many items: an array, sorted, greatest first. */
#ifndef BASE_RANKING_H
#define BASE_RANKING_H

#include <stddef.h>
#include <stdint.h>

/* Returns the weight of an item of the array. */
typedef uint64_t ranking_weight(const void *item);

/*
 * Copies the item into the array of at most `most` items of `size` bytes if it is one of the
 * greatest so far; *count is how many there are. Of equals the earlier stays in front.
 */
void ranking_offer(void *list, size_t *count, size_t most, size_t size, const void *item,
                   ranking_weight *weight);

#endif
