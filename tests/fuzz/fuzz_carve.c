/*
 * flatten carve: two images, the second as the next version of the first. Carved alone, and with
 * --like on the first as it is and as it was carved, each shows its own tree, but for the times
 * that it takes.
 *
 * The input: a byte that says how many of the others are entries of the first image (fuzz_stack.h),
 * a byte for the options, then the entries of both.
 */
#include "fuzz.h"
#include "fuzz_stack.h"
#include "fuzz_tar.h"
#include "threadless.h"

#include "flatten/carve/carve.h"
#include "flatten/layer/verifier.h"
#include "flatten/squash/squash_verify.h"

#include <string.h>
#include <sys/mman.h>

enum { MOST_LAYERS = 8, MOST_SIZE = 1 << 24 };

/* Keeps each layer in a file of its own. */
struct memory_sink {
    struct sink base;
    int fd;
};

static int begin_layer(struct sink *base, bool once, int *fd, off_t *offset, struct err *err)
{
    struct memory_sink *s = (struct memory_sink *)base;

    (void)once, (void)err;
    if (s->fd >= 0)
        close(s->fd);
    *fd = s->fd = memfd_create("layer", MFD_CLOEXEC);
    *offset = 0;
    must(s->fd >= 0);
    return 0;
}

static int end_layer(struct sink *base, const struct written_layer *layer, struct err *err)
{
    (void)base, (void)layer, (void)err;
    return 0;
}

static struct image *image_of_entries(const uint8_t *data, size_t size)
{
    static struct stack stack;
    struct image *image = calloc(1, sizeof(*image));

    fuzz_stack(&stack, data, size);
    must(image && (image->layers = calloc(stack.layers, sizeof(*image->layers))));
    image->layer_count = stack.layers;
    for (unsigned i = 0; i < stack.layers; i++) {
        struct buf tar = BUF_INIT;
        struct layer *layer = &image->layers[i];
        fuzz_tar_layer(&stack, i + 1, &tar);
        *layer = (struct layer){
            .number = i + 1, .fd = memfd_create("source", MFD_CLOEXEC), .size = tar.len};
        must(layer->fd >= 0 && write(layer->fd, tar.data, tar.len) == (ssize_t)tar.len);
        threadless_digest(tar.data, tar.len, &layer->diff_id);
        buf_free(&tar);
    }
    return image;
}

static void differs(void *ctx, const char *path, const char *a, const char *b)
{
    (void)ctx;
    fprintf(stderr, "/%s\n  %s\n  %s\n", path, a ? a : "-", b ? b : "-");
}

/* Makes the carved image's configuration, in which --like finds the state layer. */
static void describe(struct squashed *squashed, const struct layout *layout)
{
    struct buf text = BUF_INIT;
    struct err err;

    buf_puts(&text, "{\"history\":[");
    for (size_t i = 0; i < layout->count; i++)
        buf_printf(&text, "%s{\"created_by\":\"%sx\",\"comment\":\"%s\"}", i ? "," : "",
                   CARVE_LABEL_PREFIX, carve_tier_names[layout->layers[i].tier]);
    buf_puts(&text, "]}");
    must(squashed->result->config = json_parse(text.data, text.len, NULL, &err));
    buf_free(&text);
}

/* Verifies with the digests of threadless.c, which readers by themselves do not know. */
static void check_tree(struct image *image, const struct squashed *out,
                       const struct merged_options *options, const struct stable_times *times)
{
    struct err err = ERR_INIT;
    size_t differing = 0;
    struct verifier *source = verifier_new(image, &err), *result = verifier_new(out->result, &err);

    if (squash_verify(image, out, options, times->paths, differs, NULL, &differing, &err) < 0)
        fprintf(stderr, "%s\n", err.msg);
    must(err.kind == ERR_NONE && differing == 0);
    cleanup_verifier(&source);
    cleanup_verifier(&result);
}

/* Carves the image, and checks that the result shows the same tree. False if it is refused. */
static bool carve(struct image *image, struct image *like, uint8_t how, struct squashed *out)
{
    static const struct sink_ops ops = {.begin_layer = begin_layer, .end_layer = end_layer};
    static int spool = -1;
    struct memory_sink sink = {.base = {.ops = &ops}, .fd = -1};
    const struct squash_options options = {.merged = {.max_size = MOST_SIZE}, .readable = true};
    struct carved carved = {0};
    struct err err = ERR_INIT;
    struct verifier *verifier = like ? verifier_new(like, &err) : NULL;

    if (spool < 0)
        spool = memfd_create("spool", MFD_CLOEXEC);
    const struct carve_options how_to = {
        .layout = {.cap = how & 1 ? 1500 : 4000, .layers = how & 2 ? 3 : MOST_LAYERS},
        .spool = spool,
        .like = like,
        .max_dead = how & 4 ? 1 : 0.2,
        .inventory = how & 8,
        .stable_times = how & 16};
    int rc = carve_layers(image, &options, &how_to, &sink.base, out, &carved, &err);
    must(rc == 0 || err.kind != ERR_NONE);
    if (rc == 0) {
        must(out->count <= MOST_LAYERS);
        check_tree(image, out, &options.merged, &carved.times);
        describe(out, &carved.layout);
    }
    cleanup_verifier(&verifier);
    carved_clear(&carved);
    if (sink.fd >= 0)
        close(sink.fd);
    return rc == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    size_t first = data[0] % (size - 1);
    uint8_t how = data[1];
    _cleanup_image_ struct image *before = image_of_entries(data + 2, first > 0 ? first - 1 : 0);
    _cleanup_image_ struct image *after = image_of_entries(data + 1 + first, size - 1 - first);
    _cleanup_squashed_ struct squashed old = {0}, raw = {0}, new = {0};

    if (!carve(before, NULL, how, &old))
        return 0;
    (void)carve(after, before, how >> 3, &raw);
    (void)carve(after, old.result, how >> 3, &new);
    return 0;
}
