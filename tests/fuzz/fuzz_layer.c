/*
 * Layers, from the tar archive to the merged tree: the stream (merge.h) and the index
 * (merge_index.h) must agree if the stream decides, and both must keep the rules for the content of
 * a layer.
 *
 * The first byte chooses: bit 0 set, the rest are entries (fuzz_stack.h) made into archives; clear,
 * the rest is archives themselves, each behind its length (two bytes, big endian). Their header
 * checksums are corrected: otherwise every change by libFuzzer would be rejected at once.
 */
#include "fuzz.h"
#include "fuzz_model.h"
#include "fuzz_stack.h"
#include "fuzz_tar.h"
#include "threadless.h"

#include "base/hash.h"
#include "flatten/layer/layer.h"
#include "flatten/layer/layer_writer.h"
#include "flatten/layer/verifier.h"
#include "flatten/squash/listing.h"
#include "tests/unit/lib/merge/result_sink.h"
#include "tests/unit/lib/tar_image.h"

#ifdef FLATBED_FUZZ
/* Small inputs allocate much: the defaults for stacks, for the fill of new memory and for the
 * quarantine would cost as much as the checks. ASAN_OPTIONS restores them for a crash. */
enum { STACK_BYTES = 40 }; /* about 16 entries: more cost much and show little */

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=1:thread_local_quarantine_size_kb=64:malloc_context_size=0:"
           "max_malloc_fill_size=64";
}
#endif

enum { BLOCK = 512, MOST_PAYLOAD = 1 << 20, MOST_ENTRIES = 200 };

struct collected {
    enum merge_result rc;
    struct err err;
    struct result_sink sink;
    struct buf text;
    uint64_t out;
};

static void collect(const struct image *image, enum semantics semantics, bool indexed,
                    struct collected *c)
{
    struct merged_options options = {.semantics = semantics, .indexed = indexed};
    struct merged_report report;

    *c = (struct collected){.err = ERR_INIT};
    result_sink_init(&c->sink);
    c->rc = merged_entries(image, &options, &c->sink.base, &report, &c->err);
    result_sink_end(&c->sink);
    c->out = report.entries_out;
    if (c->rc == MERGE_DONE)
        must(c->sink.result.count == report.entries_out);
    result_text(&c->sink.result, &c->text);
    if (c->sink.result.fault[0])
        fprintf(stderr, "%s\n", c->sink.result.fault);
    must(!c->sink.result.fault[0]);
    must(c->rc != MERGE_FAILED || (c->err.kind != ERR_NONE && c->err.msg[0]));
}

static void collected_free(struct collected *c)
{
    buf_free(&c->text);
    result_sink_clear(&c->sink);
}

static void differs(void *ctx, const char *path, const char *a, const char *b)
{
    (void)ctx;
    fprintf(stderr, "/%s\n  %s\n  %s\n", path, a ? a : "-", b ? b : "-");
}

static void check_listing(const struct image *image)
{
    struct merged_options options = {.semantics = SEMANTICS_OVERLAY};
    struct err err = ERR_INIT;
    _cleanup_listing_ struct listing *a = listing_new(image, &options, NULL, &err);
    _cleanup_listing_ struct listing *b = a ? listing_new(image, &options, a, &err) : NULL;

    if (b)
        must(listing_compare(a, b, differs, NULL) == 0);
}

static bool disagree(const struct collected *stream, const struct collected *index)
{
    if (stream->rc == MERGE_DONE)
        return index->rc != MERGE_DONE || strcmp(stream->text.data, index->text.data) != 0;
    return stream->rc == MERGE_FAILED && index->rc == MERGE_DONE;
}

/* ---- layers above kept ones ---- */

/* Writes the given entries as a layer. */
static int write_above(const struct image *image, size_t kept, enum semantics semantics, int fd,
                       struct written_layer *out, struct err *err)
{
    const struct compress_options plain = {.kind = COMPRESSION_NONE};
    const struct merged_options options = {.semantics = semantics, .kept = kept, .indexed = true};
    struct merged_report report;
    _cleanup_layer_writer_ struct layer_writer *w =
        layer_writer_new(fd, 0, &plain, hasher_new(err), err);

    must(w);
    if (merged_entries(image, &options, layer_writer_sink(w), &report, err) == MERGE_FAILED)
        return -1;
    must(layer_writer_finish(w, out, err) == 0);
    return 0;
}

/* Only the headers of kept layers were read: an error in their content shows here first. */
static void check_same_tree(const struct image *image, const struct image *after, size_t kept,
                            enum semantics semantics)
{
    const struct merged_options options = {.semantics = semantics};
    struct err err = ERR_INIT;
    _cleanup_listing_ struct listing *a = listing_new(image, &options, NULL, &err);
    _cleanup_listing_ struct listing *b = a ? listing_new(after, &options, a, &err) : NULL;

    if (!a && kept > 0 && err.kind == ERR_FORMAT)
        return;
    if (!b)
        fprintf(stderr, "%s\n", err.msg);
    must(b && listing_compare(a, b, differs, NULL) == 0);
}

/* A flat image stays as it is, byte for byte. */
static void check_flat(const struct image *flat, enum semantics semantics)
{
    struct err err = ERR_INIT;
    struct written_layer again;
    int fd = memfd_create("again", MFD_CLOEXEC);

    must(fd >= 0);
    if (write_above(flat, 0, semantics, fd, &again, &err) < 0)
        fprintf(stderr, "%s\n", err.msg);
    must(err.kind == ERR_NONE && digest_equal(&again.diff_id, &flat->layers[0].diff_id));
    close(fd);
}

/* Kept layers and the layer above them show the same tree as all layers. */
static void check_above(const struct image *image, size_t kept, enum semantics semantics)
{
    struct err err = ERR_INIT;
    struct written_layer layer;
    int fd = memfd_create("above", MFD_CLOEXEC);

    must(fd >= 0);
    if (write_above(image, kept, semantics, fd, &layer, &err) == 0) {
        struct layer layers[FUZZ_STACK_LAYERS];
        struct image after = {.layers = layers, .layer_count = kept + 1};
        memcpy(layers, image->layers, kept * sizeof(*layers));
        layers[kept] = (struct layer){
            .number = (unsigned)kept + 1, .diff_id = layer.diff_id, .fd = fd, .size = layer.size};
        check_same_tree(image, &after, kept, semantics);
        if (kept == 0)
            check_flat(&after, semantics);
    }
    close(fd);
}

static void check_spec(const struct image *image)
{
    static struct collected spec;

    collect(image, SEMANTICS_SPEC, true, &spec);
    collected_free(&spec);
}

/* The checks beside check_orders: one of the specification, one of listings, two for each number of
 * kept layers. */
static void check_more(const struct image *image, size_t which)
{
    if (which == 0)
        check_spec(image);
    else if (which == 1)
        check_listing(image);
    else
        check_above(image, which / 2 - 1, which % 2 ? SEMANTICS_SPEC : SEMANTICS_OVERLAY);
}

/* ---- an image ---- */

/* Puts the archives into one file in memory, which serves for all inputs. */
static struct image *image_in_memory(const struct buf *tars, size_t count)
{
    static struct layer layers[FUZZ_STACK_LAYERS];
    static struct image image = {.layers = layers};
    static int fd = -1;
    off_t at = 0;

    if (fd < 0)
        fd = memfd_create("layers", MFD_CLOEXEC);
    image.layer_count = count;
    for (size_t i = 0; i < count; i++) {
        layers[i] =
            (struct layer){.number = (unsigned)i + 1, .fd = fd, .offset = at, .size = tars[i].len};
        must(pwrite(fd, tars[i].data, tars[i].len, at) == (ssize_t)tars[i].len);
        threadless_digest(tars[i].data, tars[i].len, &layers[i].diff_id);
        at += (off_t)tars[i].len;
    }
    return &image;
}

/* Collects the tree; with a verifier, readers skip the payload that they do not need. */
static void collect_order(struct image *image, bool indexed, bool skipping, struct collected *out)
{
    struct err err;
    struct verifier *verifier = skipping ? verifier_new(image, &err) : NULL;

    collect(image, SEMANTICS_OVERLAY, indexed, out);
    cleanup_verifier(&verifier);
}

/* `stack`: the source of the image, or NULL. */
static void check_orders(struct image *image, const struct stack *stack, bool skipping)
{
    static struct collected stream, index;

    collect_order(image, false, !skipping, &stream);
    collect_order(image, true, skipping, &index);
    if (disagree(&stream, &index)) {
        if (stack)
            fuzz_stack_print(stack);
        fprintf(stderr, "stream: %s %s\nindex:  %s %s\n", stream.text.data, stream.err.msg,
                index.text.data, index.err.msg);
    }
    must(!disagree(&stream, &index));
    if (stack && index.rc == MERGE_DONE)
        model_check(stack, index.text.data);
    collected_free(&stream);
    collected_free(&index);
}

/*
 * A replay makes all checks. libFuzzer has many inputs that lead to the same code: one of four gets
 * one check beside check_orders, as a hash of the input says.
 */
static void check_image(struct image *image, const struct stack *stack, uint64_t chance)
{
    size_t count = 2 + 2 * image->layer_count;
#ifdef FLATBED_FUZZ
    struct err err;

    check_orders(image, stack, chance % 4 > 0);
    if (chance / 4 % 4 > 0)
        return;
    struct verifier *verifier = verifier_new(image, &err);
    check_more(image, chance / 16 % count);
    cleanup_verifier(&verifier);
#else
    (void)chance;
    check_orders(image, stack, false);
    check_orders(image, stack, true);
    for (size_t i = 0; i < count; i++)
        check_more(image, i);
#endif
}

/* ---- archives as they come ---- */

static uint64_t size_field(const uint8_t *header)
{
    uint64_t size = 0;

    for (int i = 124; i < 136 && header[i] >= '0' && header[i] <= '7'; i++)
        size = size * 8 + (uint64_t)(header[i] - '0');
    return size;
}

static void fix_checksums(uint8_t *tar, size_t size)
{
    size_t at = 0;

    while (size - at >= BLOCK) {
        uint8_t *header = tar + at;
        unsigned sum = 8 * ' ';
        bool empty = true;
        for (int i = 0; i < BLOCK; i++) {
            sum += i >= 148 && i < 156 ? 0 : header[i];
            empty = empty && !header[i];
        }
        if (!empty)
            snprintf((char *)header + 148, 8, "%06o", sum & 0777777);
        uint64_t blocks = (size_field(header) + BLOCK - 1) / BLOCK + 1;
        if (blocks > (size - at) / BLOCK)
            return;
        at += blocks * BLOCK;
    }
}

/* Bounds the cost of one input: holes and repeated reads, which the code does not bound. */
static bool affordable(const struct image *image)
{
    uint64_t payload = 0, entries = 0;

    for (size_t i = 0; i < image->layer_count; i++) {
        struct err err = ERR_INIT;
        _cleanup_layer_reader_ struct layer_reader *r = layer_reader_open(&image->layers[i], &err);
        struct layer_entry e;
        while (r && layer_reader_next(r, &e, &err) > 0) {
            uint64_t size = (uint64_t)archive_entry_size(e.header);
            payload += size < MOST_PAYLOAD ? size : MOST_PAYLOAD + 1;
            if (payload > MOST_PAYLOAD || ++entries > MOST_ENTRIES)
                return false;
        }
    }
    return true;
}

static void check_archives(const uint8_t *data, size_t size, uint64_t chance)
{
    struct buf tars[FUZZ_STACK_LAYERS] = {{0}};
    size_t count = 0;

    while (size > 2 && count < FUZZ_STACK_LAYERS) {
        size_t len = (size_t)data[0] << 8 | data[1];
        data += 2;
        size -= 2;
        len = len < size ? len : size;
        buf_append(&tars[count], data, len);
        fix_checksums((uint8_t *)tars[count].data, len);
        count++;
        data += len;
        size -= len;
    }
    struct image *image = image_in_memory(tars, count);
    if (count && affordable(image))
        check_image(image, NULL, chance);
    for (size_t i = 0; i < count; i++)
        buf_free(&tars[i]);
}

static void check_stack(const uint8_t *data, size_t size, uint64_t chance)
{
    static struct stack stack;
    struct buf tars[FUZZ_STACK_LAYERS] = {{0}};

#ifdef FLATBED_FUZZ
    size = size < STACK_BYTES ? size : STACK_BYTES;
#endif
    fuzz_stack(&stack, data, size);
    for (unsigned i = 0; i < stack.layers; i++)
        fuzz_tar_layer(&stack, i + 1, &tars[i]);
    check_image(image_in_memory(tars, stack.layers), &stack, chance);
    for (unsigned i = 0; i < stack.layers; i++)
        buf_free(&tars[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct hash_key key = {{1, 2}};

    if (size == 0)
        return 0;
    uint64_t chance = hash_bytes_by(&key, data, size, 0);
    if (data[0] & 1)
        check_stack(data + 1, size - 1, chance);
    else
        check_archives(data + 1, size - 1, chance);
    return 0;
}
