#include "flatten/command/squash/family_print.h"

#include "base/human.h"
#include "flatten/command/squash/squash_family.h"

#include <inttypes.h>
#include <string.h>

/* The sizes of a family's images. Bytes are packed, or unpacked as long as nothing is written. */
struct family_sizes {
    uint64_t apart;    /* each image by itself, summed up */
    uint64_t together; /* each layer once */
    uint64_t shared;   /* of that: in layers of several images */
    uint64_t source;   /* the layers as they were built, each once; 0: not known */
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

static bool has_digest(const struct squash_job *job, size_t count, const struct digest *digest)
{
    for (size_t i = 0; i < count; i++)
        if (digest_equal(&job->squashed.layers[i].digest, digest))
            return true;
    return false;
}

/* True for the first time that the layer, or one with the same bytes, is in an image. */
static bool counts_layer(const struct squash_run *run, const struct squash_job *job, size_t layer)
{
    const struct digest *digest = &job->squashed.layers[layer].digest;
    size_t first = (size_t)__builtin_ctzll(job->carved.images[layer]);

    if (first != (size_t)(job - run->jobs))
        return false;
    if (!is_written(run))
        return true;
    for (size_t i = 0; i < first; i++)
        if (has_digest(&run->jobs[i], run->jobs[i].squashed.count, digest))
            return false;
    return !has_digest(job, layer, digest);
}

/* True if several images have the layer, or another one with the same bytes. */
static bool is_shared(const struct squash_run *run, const struct squash_job *job, size_t layer)
{
    uint64_t images = job->carved.images[layer];

    if ((images & (images - 1)) != 0)
        return true;
    for (size_t i = 0; is_written(run) && i < run->count; i++)
        if (&run->jobs[i] != job && has_digest(&run->jobs[i], run->jobs[i].squashed.count,
                                               &job->squashed.layers[layer].digest))
            return true;
    return false;
}

/* ---- the sources ---- */

static bool is_compressed(const struct layer *layer)
{
    return !layer->walk && layer->digest.text[0] && !digest_equal(&layer->digest, &layer->diff_id);
}

static bool has_source_layer(const struct image *image, size_t count, const struct digest *digest)
{
    for (size_t i = 0; i < count; i++)
        if (digest_equal(&image->layers[i].digest, digest))
            return true;
    return false;
}

static bool counts_source_layer(const struct squash_run *run, size_t which, size_t layer)
{
    const struct image *image = run->jobs[which].image;
    const struct digest *digest = &image->layers[layer].digest;

    for (size_t i = 0; i < which; i++)
        if (has_source_layer(run->jobs[i].image, run->jobs[i].image->layer_count, digest))
            return false;
    return !has_source_layer(image, layer, digest);
}

/* Archives of Docker, and the stores of engines, do not tell what a registry has. */
static uint64_t source_bytes(const struct squash_run *run)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < run->count; i++) {
        const struct image *image = run->jobs[i].image;
        for (size_t layer = 0; layer < image->layer_count; layer++) {
            if (!is_compressed(&image->layers[layer]))
                return 0;
            sum += counts_source_layer(run, i, layer) ? image->layers[layer].size : 0;
        }
    }
    return sum;
}

/* ---- sums ---- */

static struct family_sizes measure(const struct squash_run *run)
{
    struct family_sizes s = {.source = is_written(run) ? source_bytes(run) : 0};

    for (size_t i = 0; i < run->count; i++) {
        const struct squash_job *job = &run->jobs[i];
        for (size_t layer = 0; layer < job->carved.layout.count; layer++) {
            uint64_t bytes = layer_bytes(run, job, layer);
            bool shared = is_shared(run, job, layer);
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
    if (s.source)
        buf_printf(out, "; as built: %s together", human_size(s.source, apart));
}

void print_family_json(const struct squash_run *run, struct buf *out)
{
    struct family_sizes s = measure(run);

    buf_printf(out,
               ",\"family\":{\"%s\":{\"apart\":%" PRIu64 ",\"together\":%" PRIu64
               ",\"shared\":%" PRIu64 "},\"layers\":%zu,\"shared_layers\":%zu,\"source\":",
               is_written(run) ? "packed" : "unpacked", s.apart, s.together, s.shared, s.layers,
               s.shared_layers);
    if (s.source)
        buf_printf(out, "{\"together\":%" PRIu64 "}}", s.source);
    else
        buf_puts(out, "null}");
}

/* ---- who shares a layer ---- */

/* Appends the image's name, and its platform if an index holds it. */
static void put_image(const struct squash_run *run, size_t image, struct buf *out)
{
    const struct squash_entry *entry = run->entries;
    const char *platform = run->jobs[image].platform;

    while (entry->first + entry->count <= image)
        entry++;
    if (!squash_family_put_name(run, entry, out))
        buf_printf(out, "%zu", image + 1);
    if (entry->count > 1 && platform) {
        buf_putc(out, ' ');
        buf_put_printable(out, platform, strlen(platform));
    }
}

void print_family_sharers(const struct squash_run *run, const struct squash_job *job, size_t layer,
                          struct buf *out)
{
    uint64_t images = job->carved.images[layer];

    if ((images & (images - 1)) == 0)
        return;
    if ((size_t)__builtin_popcountll(images) == run->count) {
        buf_puts(out, "  [in all images]");
        return;
    }
    for (uint64_t left = images; left; left &= left - 1) {
        bool last = (left & (left - 1)) == 0;
        buf_puts(out, left == images ? "  [in " : last ? " and " : ", ");
        put_image(run, (size_t)__builtin_ctzll(left), out);
    }
    buf_putc(out, ']');
}

void print_family_sharers_json(const struct squash_run *run, const struct squash_job *job,
                               size_t layer, struct buf *out)
{
    const char *before = ",\"images\":[";

    for (uint64_t left = job->carved.images[layer]; left; left &= left - 1) {
        _cleanup_buf_ struct buf name = BUF_INIT;
        put_image(run, (size_t)__builtin_ctzll(left), &name);
        buf_puts(out, before);
        json_quote(out, name.data ? name.data : "", name.len);
        before = ",";
    }
    buf_putc(out, ']');
}
