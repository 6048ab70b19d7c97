/* A knapsack: costs[n] is the least cost of items that are worth n steps. */
#include "flatten/carve/layout/like/cover.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 4096 };

/* Worths are counted in steps of so many. */
static uint64_t step_of(uint64_t need)
{
    return need / STEPS + 1;
}

static size_t steps_of(uint64_t worth, uint64_t need)
{
    uint64_t steps = worth / step_of(need);

    return steps < STEPS ? (size_t)steps : STEPS;
}

/* Adds an item to those that may be taken; taken[n] tells whether the cheapest for n have it. */
static void offer(uint64_t *costs, bool *taken, size_t most, size_t worth, uint64_t cost)
{
    for (size_t n = most; n > 0; n--) {
        uint64_t before = costs[n > worth ? n - worth : 0];
        if (before == UINT64_MAX || before + cost >= costs[n])
            continue;
        costs[n] = before + cost;
        taken[n] = true;
    }
}

int cover_choose(const struct cover_item *items, size_t count, uint64_t need, bool *chosen,
                 struct err *err)
{
    size_t left = need > 0 ? (size_t)((need - 1) / step_of(need)) + 1 : 0, row = left + 1;
    _cleanup_free_ uint64_t *costs = malloc(row * sizeof(*costs));
    _cleanup_free_ bool *taken = calloc(count + 1, row);

    if (!costs || !taken)
        return err_nomem(err);
    memset(costs, 0xff, row * sizeof(*costs));
    costs[0] = 0;
    for (size_t i = 0; i < count; i++)
        offer(costs, taken + i * row, left, steps_of(items[i].worth, need), items[i].cost);
    bool enough = costs[left] != UINT64_MAX;
    for (size_t i = count; i-- > 0;) {
        chosen[i] = !enough || taken[i * row + left];
        if (!chosen[i])
            continue;
        size_t worth = steps_of(items[i].worth, need);
        left = left > worth ? left - worth : 0;
    }
    return 0;
}
