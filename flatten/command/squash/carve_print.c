#include "flatten/command/squash/carve_print.h"

#include "base/human.h"
#include "flatten/command/squash/carve_pull.h"
#include "flatten/command/squash/family_print.h"
#include "flatten/image/history.h"

#include <inttypes.h>
#include <string.h>

/* True if the layer of the layout is one of the previous version, which is kept. */
static bool is_kept(const struct squash_job *job, size_t layer)
{
    return carve_first_layer(job) + layer < job->squashed.kept;
}

void print_carved_layers(const struct squash_job *job, bool like, struct buf *out)
{
    const struct squashed *s = &job->squashed;
    char size[HUMAN_SIZE];
    uint64_t bytes = 0;

    for (size_t i = s->kept; i < s->count; i++)
        bytes += s->layers[i].size;
    if (like && s->kept > 0 && job->carved.layout.in_place == s->count)
        buf_printf(out, "all %zu layers are those of the previous version", s->count);
    else if (like)
        buf_printf(out, "%zu of %zu layers are kept; %s in the other %zu", s->kept, s->count,
                   human_size(bytes, size), s->count - s->kept);
    else if (job->carved.layout.count == 0)
        buf_printf(out, "%zu layer%s kept: nothing else is left to carve", s->count,
                   s->count == 1 ? " is" : "s are");
    else
        buf_printf(out, "%u layer%s became %zu", s->report.layers, human_s(s->report.layers),
                   s->count);
}

/* The label of a kept layer may be a long command. */
static void put_label(const char *label, struct buf *out)
{
    enum { SHOWN = 80 };

    buf_put_printable(out, label, strnlen(label, SHOWN));
}

static void print_largest(const struct layout *layout, struct buf *out)
{
    const struct layout_layer *largest = NULL;
    char size[HUMAN_SIZE];

    for (size_t i = 0; i < layout->count; i++)
        if (!largest || layout->layers[i].bytes > largest->bytes)
            largest = &layout->layers[i];
    if (!largest)
        return;
    buf_printf(out, "largest layer: %s unpacked: ", human_size(largest->bytes, size));
    put_label(largest->label, out);
    buf_putc(out, '\n');
}

void print_carved_times(const struct squash_job *job, struct buf *out)
{
    const struct stable_times *t = &job->carved.times;

    buf_printf(out,
               "%" PRIu64 " file%s and %" PRIu64 " director%s got their time of the previous "
               "version",
               t->files, human_s(t->files), t->directories, human_y(t->directories));
}

/* Two digits are shown: means that look the same are the same. */
static bool is_slower(const struct squash_job *job)
{
    double source = job->squashed.report.probes;

    return source > 0 && job->carved.layout.probes >= source + 0.005;
}

void print_carved_probes(const struct squash_job *job, bool like, struct buf *out)
{
    const struct layout *layout = &job->carved.layout;

    if (carve_first_layer(job) > 0) {
        buf_puts(out, "lookups are not counted with --keep-base: flatten analyze counts them");
        return;
    }
    buf_printf(out, "lookups search %.2f layers on average", layout->probes);
    if (job->squashed.report.probes > 0)
        buf_printf(out, is_slower(job) ? ", more than in the source (%.2f)" : " (source: %.2f)",
                   job->squashed.report.probes);
    if (is_slower(job) && !like && layout->count > 3)
        buf_printf(out, ": --layers=%zu makes fewer layers", layout->count / 2);
}

/* Layers of --keep-base are not in the layout: their blobs are known, and their history. */
static void print_base(const struct squash_job *job, struct buf *out)
{
    char size[HUMAN_SIZE];

    for (size_t i = 0; i < carve_first_layer(job); i++) {
        const char *by = history_created_by(json_root(job->image->config), i);
        buf_printf(out, "keep layer %-3zu %10s as it is  ", i + 1,
                   human_size(job->image->layers[i].size, size));
        put_label(by ? by : "", out);
        buf_putc(out, '\n');
    }
}

void print_carved_text(const struct squash_run *run, const struct squash_job *job, struct buf *out)
{
    const struct squash_command *c = run->command;
    const struct layout *layout = &job->carved.layout;
    char size[HUMAN_SIZE], packed[HUMAN_SIZE];

    print_base(job, out);
    for (size_t i = 0; i < layout->count; i++) {
        const struct layout_layer *layer = &layout->layers[i];
        buf_printf(out, "%s layer %-3zu %10s %10s packed  %7zu file%s  ",
                   is_kept(job, i) ? "keep" : "make", carve_first_layer(job) + i + 1,
                   human_size(layer->bytes, size), human_size(carve_packed(job, i), packed),
                   layer->files, layer->files == 1 ? " " : "s");
        put_label(layer->label, out);
        if (job->carved.images)
            print_family_sharers(run, job, i, out);
        buf_putc(out, '\n');
    }
    print_largest(layout, out);
    print_carved_probes(job, c->like != NULL, out);
    buf_printf(out, "; %" PRIu64 " director%s in several layers\n", layout->split_dirs,
               layout->split_dirs == 1 ? "y is" : "ies are");
    if (c->stable_times) {
        buf_puts(out, "times: ");
        print_carved_times(job, out);
        buf_putc(out, '\n');
    }
    print_pulls_text(job, c->like != NULL, out);
}

static void put_layer(const struct squash_run *run, const struct squash_job *job, size_t i,
                      struct buf *out)
{
    const struct layout_layer *layer = &job->carved.layout.layers[i];
    uint64_t size = job->squashed.layers[carve_first_layer(job) + i].size;

    buf_printf(out,
               "{\"layer\":%zu,\"action\":\"%s\",\"bytes\":%" PRIu64 ",\"files\":%zu,\"label\":",
               carve_first_layer(job) + i + 1, is_kept(job, i) ? "keep" : "make", layer->bytes,
               layer->files);
    json_quote(out, layer->label, strlen(layer->label));
    if (size > 0) /* written: an archive is never empty */
        buf_printf(out, ",\"size\":%" PRIu64, size);
    buf_printf(out, ",\"packed\":%" PRIu64, carve_packed(job, i));
    if (job->carved.images)
        print_family_sharers_json(run, job, i, out);
    buf_putc(out, '}');
}

void print_carved_json(const struct squash_run *run, const struct squash_job *job, struct buf *out)
{
    const struct squash_command *c = run->command;
    const struct layout *layout = &job->carved.layout;

    buf_puts(out, ",\"carved\":[");
    for (size_t i = 0; i < layout->count; i++) {
        if (i)
            buf_putc(out, ',');
        put_layer(run, job, i, out);
    }
    buf_puts(out, "],\"lookups\":{\"probes\":");
    if (carve_first_layer(job) > 0)
        buf_puts(out, "null");
    else
        buf_printf(out, "%.4f", layout->probes);
    buf_puts(out, ",\"source_probes\":");
    if (job->squashed.report.probes > 0)
        buf_printf(out, "%.4f,\"above_source\":%s", job->squashed.report.probes,
                   is_slower(job) ? "true" : "false");
    else
        buf_puts(out, "null,\"above_source\":null");
    buf_printf(out, ",\"split_directories\":%" PRIu64 "}", layout->split_dirs);
    if (c->stable_times)
        buf_printf(out, ",\"stable_times\":{\"files\":%" PRIu64 ",\"directories\":%" PRIu64 "}",
                   job->carved.times.files, job->carved.times.directories);
    print_pulls_json(job, c->like != NULL, out);
}
