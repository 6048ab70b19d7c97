#include "shim/admin/bench/bench.h"
#include "shim/admin/start/start.h"

#include <string.h>

const char *const start_root_names[START_ROOTS] = {"overlay", "restacked", "caches"};
const char *const start_state_names[START_STATES] = {"cold", "warm"};

#define LEAST_GAIN 0.05

/* Sets median and quartiles: the medians of the halves, both with the middle of an odd number. */
static void measure_spread(const struct start_result *r, enum start_state state,
                           enum start_root root, struct start_summary *out)
{
    double values[START_MOST_RUNS];
    unsigned half = (r->runs + 1) / 2;

    memcpy(values, r->seconds[state][root], r->runs * sizeof(*values));
    out->median = bench_median(values, r->runs); /* sorts */
    out->low = bench_median(values, half);
    out->high = bench_median(values + r->runs - half, half);
}

void start_summarize(const struct start_result *r, enum start_state state, enum start_root root,
                     struct start_summary *out)
{
    struct start_summary base;

    *out = (struct start_summary){.ratio = 1, .verdict = START_BASE};
    measure_spread(r, state, root, out);
    if (root == START_OVERLAY)
        return;
    measure_spread(r, state, START_OVERLAY, &base);
    double gain = base.median - out->median;
    double noise = base.high - base.low, own = out->high - out->low;
    noise = own > noise ? own : noise;
    out->ratio = out->median > 0 ? base.median / out->median : 1;
    out->verdict = gain > LEAST_GAIN * base.median && gain > noise ? START_WORTH : START_NOT_WORTH;
}

enum start_state start_first_state(const struct start_result *r)
{
    return r->measured[START_COLD][START_OVERLAY] ? START_COLD : START_WARM;
}

bool start_exceeds(const struct start_report *report, const struct start_result *r)
{
    struct start_summary s;

    if (report->limit <= 0 || r->why[report->chosen][0])
        return false;
    start_summarize(r, start_first_state(r), report->chosen, &s);
    return s.median > report->limit;
}
