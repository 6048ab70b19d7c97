#include "flatten/analyze/bytes/dead_dive.h"

/*
 * dive counts the leaves of each layer's own tree: files, links, empty directories, and whiteouts
 * with the size of what they hid. A hard link has no size. Opaque markers are ignored.
 */
void dead_dive(const struct layer_stack *s, struct dead_report *out)
{
    uint64_t least_sum = 0, sum = 0;

    for (uint32_t node = 1; node < s->nodes; node++) {
        uint64_t least = UINT64_MAX, total = 0;
        unsigned leaves = 0;
        for (uint32_t at = s->newest[node]; at != STACK_NONE; at = s->records[at].older) {
            const struct stack_record *r = &s->records[at];
            if (!r->leaf)
                continue;
            leaves++;
            total += r->size;
            least = r->size < least ? r->size : least;
        }
        if (leaves == 0)
            continue;
        least_sum += least;
        sum += total;
        out->wasted_bytes += leaves > 1 ? total : 0;
    }
    out->efficiency = sum ? (double)least_sum / (double)sum : 1;
}
