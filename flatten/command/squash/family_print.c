#include "flatten/command/squash/family_print.h"

#include "base/human.h"

#include <inttypes.h>

/* What the images of a family take. Bytes are packed, or unpacked as long as nothing is written. */
struct family_sizes {
    uint64_t apart;    /* each image by itself, summed up */
    uint64_t together; /* each layer once */
    uint64_t shared;   /* of that: in layers of several images */
    size_t layers, shared_layers;
};

static bool is_written(const struct squash_run *run)
{
    return !run->command->dry_run;
}

static uint64_t layer_bytes(const struct squash_run *run, const struct squash_job *job,
                            size_t layer)
{
    return is_written(run) ? job->squashed.layers[layer].size
                           : job->carved.layout.layers[layer].bytes;
}

/* True for the first of the images that have the layer, which counts it. */
static bool counts_layer(const struct squash_run *run, const struct squash_job *job, size_t layer)
{
    uint64_t images = job->carved.images[layer];

    return (size_t)__builtin_ctzll(images) == (size_t)(job - run->jobs);
}

static struct family_sizes measure(const struct squash_run *run)
{
    struct family_sizes s = {0};

    for (size_t i = 0; i < run->count; i++) {
        const struct squash_job *job = &run->jobs[i];
        for (size_t layer = 0; layer < job->carved.layout.count; layer++) {
            uint64_t images = job->carved.images[layer], bytes = layer_bytes(run, job, layer);
            bool shared = (images & (images - 1)) != 0;
            s.apart += bytes;
            if (!counts_layer(run, job, layer))
                continue;
            s.layers++;
            s.together += bytes;
            s.shared_layers += shared;
            s.shared += shared ? bytes : 0;
        }
    }
    return s;
}

void print_family_text(const struct squash_run *run, struct buf *out)
{
    struct family_sizes s = measure(run);
    char apart[HUMAN_SIZE], together[HUMAN_SIZE], shared[HUMAN_SIZE];

    buf_printf(out,
               "family: %zu images take %s apart and %s together%s: %zu of %zu layers (%s) are "
               "shared",
               run->count, human_size(s.apart, apart), human_size(s.together, together),
               is_written(run) ? "" : " unpacked", s.shared_layers, s.layers,
               human_size(s.shared, shared));
}

void print_family_json(const struct squash_run *run, struct buf *out)
{
    struct family_sizes s = measure(run);

    buf_printf(out,
               ",\"family\":{\"%s\":{\"apart\":%" PRIu64 ",\"together\":%" PRIu64
               ",\"shared\":%" PRIu64 "},\"layers\":%zu,\"shared_layers\":%zu}",
               is_written(run) ? "packed" : "unpacked", s.apart, s.together, s.shared, s.layers,
               s.shared_layers);
}

void print_family_images(const struct squash_job *job, size_t layer, struct buf *out)
{
    bool first = true;

    for (uint64_t left = job->carved.images[layer]; left; left &= left - 1) {
        bool last = (left & (left - 1)) == 0;
        buf_printf(out, "%s%d", first ? "" : last ? " and " : ", ", __builtin_ctzll(left) + 1);
        first = false;
    }
}
