#include "flatten/carve/pull/pull_cost.h"

const struct pull_rates pull_default_rates = {.stream = 40e6, .unpack = 200e6};

/* Returns the stream that is free first. */
static unsigned first_free(const double *free_at, unsigned streams)
{
    unsigned first = 0;

    for (unsigned i = 1; i < streams; i++)
        if (free_at[i] < free_at[first])
            first = i;
    return first;
}

double pull_seconds(const struct pull_layer *layers, size_t count, unsigned streams,
                    const struct pull_rates *rates)
{
    double free_at[PULL_MOST_STREAMS] = {0}, unpacked_at = 0;

    if (streams < 1)
        streams = 1;
    if (streams > PULL_MOST_STREAMS)
        streams = PULL_MOST_STREAMS;
    for (size_t i = 0; i < count; i++) {
        double *whole_at = &free_at[first_free(free_at, streams)];
        *whole_at += (double)layers[i].packed / rates->stream;
        if (unpacked_at < *whole_at)
            unpacked_at = *whole_at;
        unpacked_at += (double)layers[i].unpacked / rates->unpack;
    }
    return unpacked_at;
}

uint64_t pull_bytes(const struct pull_layer *layers, size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += layers[i].packed;
    return sum;
}
