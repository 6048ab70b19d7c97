#include "base/cli/suggest.h"

#include <limits.h>
#include <string.h>

enum { LONGEST = 48 };

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/*
 * Returns the optimal string alignment distance, in bytes; words longer than LONGEST are far from
 * everything.
 */
static unsigned distance(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b);
    unsigned row[3][LONGEST + 1];

    if (la > LONGEST || lb > LONGEST)
        return UINT_MAX;
    for (size_t j = 0; j <= lb; j++)
        row[0][j] = (unsigned)j;
    for (size_t i = 1; i <= la; i++) {
        unsigned *now = row[i % 3], *prev = row[(i - 1) % 3], *prev2 = row[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= lb; j++) {
            unsigned cost = a[i - 1] != b[j - 1];
            now[j] = least(least(prev[j] + 1, now[j - 1] + 1), prev[j - 1] + cost);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], prev2[j - 2] + 1);
        }
    }
    return row[la % 3][lb];
}

const char *suggest_nearest(const char *word, const char *const *names, size_t count)
{
    const char *best = NULL;
    unsigned best_distance = (unsigned)strlen(word) / 3 + 1;

    for (size_t i = 0; i < count; i++) {
        if (!names[i])
            continue;
        unsigned d = distance(word, names[i]);
        if (d <= best_distance && (!best || d < best_distance)) {
            best = names[i];
            best_distance = d;
        }
    }
    return best;
}
