#include "flatten/command/squash/carve_pull.h"

#include "base/human.h"
#include "flatten/carve/pull/pull_cost.h"
#include "flatten/carve/pull/pull_image.h"

#include <inttypes.h>
#include <stdlib.h>

static const unsigned streams[] = {1, 3, 10};
enum { STREAMS = sizeof(streams) / sizeof(*streams) };

/* The layers of an image, of which a host has the oldest `had`. */
struct pull {
    const char *key, *text;
    const struct pull_layer *layers;
    size_t count, had;
};

struct pulls {
    struct pull_layer *source, *carved;
    struct pull list[3];
    size_t count;
};

static void pulls_clear(struct pulls *p)
{
    free(p->source);
    free(p->carved);
}

/* ---- sizes ---- */

size_t carve_first_layer(const struct squash_job *job)
{
    return job->squashed.count - job->carved.layout.count;
}

static const struct written_layer *written(const struct squash_job *job, size_t layer)
{
    const struct written_layer *w = &job->squashed.layers[carve_first_layer(job) + layer];

    return w->size > 0 && w->kind != COMPRESSION_NONE ? w : NULL;
}

uint64_t carve_packed(const struct squash_job *job, size_t layer)
{
    const struct written_layer *w = written(job, layer);

    return w ? w->size
             : (uint64_t)((double)job->carved.layout.layers[layer].bytes *
                          pull_image_share(job->image, carve_first_layer(job),
                                           job->squashed.report.payload_in));
}

static bool is_estimated(const struct squash_job *job)
{
    for (size_t i = 0; i < job->carved.layout.count; i++)
        if (!written(job, i))
            return true;
    return !pull_image_is_packed(job->image);
}

static void list_source(const struct squash_job *job, struct pulls *p)
{
    if (pull_image_list(job->image, carve_first_layer(job), job->squashed.report.payload_in,
                        p->source))
        p->list[p->count++] =
            (struct pull){"source", "the source", p->source, job->image->layer_count, 0};
}

/* Lists the layers of the source that are kept below the carved ones, and these. */
static void list_carved(const struct squash_job *job, struct pulls *p)
{
    const struct layout *layout = &job->carved.layout;
    size_t first = carve_first_layer(job);

    for (size_t i = 0; i < first; i++)
        p->carved[i] = p->source[i];
    for (size_t i = 0; i < layout->count; i++)
        p->carved[first + i] = (struct pull_layer){carve_packed(job, i), layout->layers[i].bytes};
    p->list[p->count++] = (struct pull){"carved", "carved", p->carved, first + layout->count, 0};
}

static int list_pulls(const struct squash_job *job, bool like, struct pulls *p)
{
    size_t count = job->squashed.count;

    p->source = calloc(job->image->layer_count + 1, sizeof(*p->source));
    p->carved = calloc(count + 1, sizeof(*p->carved));
    if (!p->source || !p->carved)
        return -1;
    list_source(job, p);
    list_carved(job, p);
    if (like)
        p->list[p->count++] = (struct pull){"update", "carved, above the previous version",
                                            p->carved, count, job->carved.layout.in_place};
    return 0;
}

static uint64_t bytes_of(const struct pull *p)
{
    return pull_bytes(p->layers + p->had, p->count - p->had);
}

static double seconds_of(const struct pull *p, unsigned number)
{
    return pull_seconds(p->layers + p->had, p->count - p->had, number, &pull_default_rates);
}

/* ---- output ---- */

void print_pulls_text(const struct squash_job *job, bool like, struct buf *out)
{
    _cleanup_(pulls_clear) struct pulls p = {0};
    char size[HUMAN_SIZE];

    if (list_pulls(job, like, &p) < 0)
        return; /* out of memory: the table is for people alone */
    buf_puts(out,
             "pull, in seconds:                      bytes  1 stream  3 streams  10 streams\n");
    for (size_t i = 0; i < p.count; i++) {
        buf_printf(out, "  %-34s %8s", p.list[i].text, human_size(bytes_of(&p.list[i]), size));
        buf_printf(out, "  %8.1f  %9.1f  %10.1f\n", seconds_of(&p.list[i], streams[0]),
                   seconds_of(&p.list[i], streams[1]), seconds_of(&p.list[i], streams[2]));
    }
    buf_printf(
        out, "  (a model: %.0f MB/s a stream; %.0f MB/s are unpacked, one layer after another%s)\n",
        pull_default_rates.stream / 1e6, pull_default_rates.unpack / 1e6,
        is_estimated(job) ? "; sizes when compressed are estimated" : "");
}

void print_pulls_line(const struct squash_job *job, bool like, struct buf *out)
{
    _cleanup_(pulls_clear) struct pulls p = {0};
    char size[HUMAN_SIZE];

    if (list_pulls(job, like, &p) < 0)
        return; /* out of memory: the line is for people alone */
    buf_puts(out, "a pull takes about ");
    for (size_t i = 0; i < p.count; i++)
        buf_printf(out, "%s%.1f s (%s: %s)", i ? ", " : "", seconds_of(&p.list[i], streams[1]),
                   p.list[i].text, human_size(bytes_of(&p.list[i]), size));
    buf_printf(out, ", with %u streams of %.0f MB/s%s", streams[1], pull_default_rates.stream / 1e6,
               is_estimated(job) ? "; sizes when compressed are estimated" : "");
}

void print_pulls_json(const struct squash_job *job, bool like, struct buf *out)
{
    _cleanup_(pulls_clear) struct pulls p = {0};

    buf_printf(out, ",\"pull\":{\"stream_rate\":%.0f,\"unpack_rate\":%.0f,\"estimated\":%s",
               pull_default_rates.stream, pull_default_rates.unpack,
               is_estimated(job) ? "true" : "false");
    if (list_pulls(job, like, &p) < 0) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < p.count; i++) {
        buf_printf(out, ",\"%s\":{\"bytes\":%" PRIu64 ",\"seconds\":{", p.list[i].key,
                   bytes_of(&p.list[i]));
        for (size_t s = 0; s < STREAMS; s++)
            buf_printf(out, "%s\"%u\":%.6f", s ? "," : "", streams[s],
                       seconds_of(&p.list[i], streams[s]));
        buf_puts(out, "}}");
    }
    buf_putc(out, '}');
}
