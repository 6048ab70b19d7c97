/*
 * The JSON around images: index, manifest and config of an OCI layout, manifest.json and config of
 * a docker-archive. An image that opens is squashed, and its new config and manifest must be valid.
 *
 * The first byte chooses: 'o' a layout, 'd' an archive, both from documents parted by form feeds;
 * else the rest is an archive itself. The first document is index.json or manifest.json; in a
 * layout the others are blobs, in an archive members 1, 2, … In a document "@N" stands for digest
 * and size of the Nth, one that comes later.
 */
#include "fuzz.h"

#include "flatten/image/image.h"
#include "flatten/squash/describe_image.h"
#include "tests/unit/lib/documents.h"
#include "tests/unit/lib/image_unit.h"
#include "tests/unit/lib/tempdir.h"

static struct tempdir *dir;

static void remove_dir(void)
{
    tempdir_remove((void **)&dir);
}

static void make_dir(void)
{
    if (dir)
        return;
    must(tempdir_make((void **)&dir) == 0);
    atexit(remove_dir);
}

static size_t split(const char *text, size_t size, struct document *docs)
{
    size_t count = 0;

    while (count < DOCUMENTS_MOST) {
        const char *end = memchr(text, '\f', size);
        size_t len = end ? (size_t)(end - text) : size;
        docs[count++] = (struct document){.text = text, .len = len};
        if (!end)
            break;
        text += len + 1;
        size -= len + 1;
    }
    return count;
}

/* ---- images that open ---- */

static size_t with_layer(const struct json *history)
{
    size_t count = 0;

    for (size_t i = 0; i < json_count(history); i++) {
        const struct json *entry = json_at(history, i), *empty = json_get(entry, "empty_layer");
        count += json_is(entry, JSON_OBJECT) && !(json_is(empty, JSON_BOOL) && empty->boolean);
    }
    return count;
}

static void check_squashed(struct image *image)
{
    struct written_layer layer = {.size = 1, .kind = COMPRESSION_ZSTD};
    const struct layer_note note = {"flatten squash", "1 layer merged"};
    const struct new_layers layers = {.list = &layer, .notes = &note, .count = 1};
    _cleanup_buf_ struct buf config = BUF_INIT, manifest = BUF_INIT;
    struct err err = ERR_INIT;
    struct digest digest;

    must(sha256_digest("x", 1, &layer.digest, &err) == 0);
    layer.diff_id = layer.digest;
    if (config_squash(image, &layers, "2020-01-01T00:00:00Z", &config, &err) < 0) {
        must(err.kind == ERR_FORMAT);
        return;
    }
    _cleanup_json_ struct json_doc *doc = json_parse(config.data, config.len, NULL, &err);
    must(doc);
    struct json *root = json_root(doc);
    must(json_count(json_path(root, "rootfs", "diff_ids", NULL)) == 1);
    must(with_layer(json_get(root, "history")) == 1);
    must(strcmp(json_text(json_get(root, "created")), "2020-01-01T00:00:00Z") == 0);
    must(sha256_digest(config.data, config.len, &digest, &err) == 0);
    must(manifest_make(image, &digest, config.len, &layers, &manifest, &err) == 0);
    _cleanup_json_ struct json_doc *made = json_parse(manifest.data, manifest.len, NULL, &err);
    must(made && json_count(json_get(json_root(made), "layers")) == 1);
}

static void check(enum transport transport, const char *name, const char *platform)
{
    char path[128];
    struct reference ref = {.transport = transport, .path = path, .name = (char *)(uintptr_t)name};
    struct err err = ERR_INIT;

    snprintf(path, sizeof(path), "%s%s", dir->path, transport == TRANSPORT_OCI ? "" : "/image.tar");
    _cleanup_image_ struct image *image = image_unit_open(&ref, platform, &err);
    must(image || (err.kind != ERR_NONE && err.msg[0]));
    if (!image)
        return;
    must(image->layer_count > 0);
    for (size_t i = 0; i < image->layer_count; i++)
        must(image->layers[i].fd >= 0 && image->layers[i].number == i + 1);
    check_squashed(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct document docs[DOCUMENTS_MOST] = {{0}};

    if (size == 0)
        return 0;
    make_dir();
    if (data[0] != 'o' && data[0] != 'd') {
        put_file(dir->fd, "image.tar", (const char *)data + 1, size - 1);
        check(TRANSPORT_DOCKER_ARCHIVE, NULL, NULL);
        return 0;
    }
    size_t count = split((const char *)data + 1, size - 1, docs);
    documents_fill(docs, count);
    if (data[0] == 'o') {
        documents_layout(dir->fd, docs, count);
        check(TRANSPORT_OCI, NULL, NULL);
        check(TRANSPORT_OCI, "v1", NULL);
        check(TRANSPORT_OCI, NULL, "linux/arm64");
        documents_remove(dir->fd, docs, count);
    } else {
        _cleanup_buf_ struct buf tar = BUF_INIT;
        documents_archive(docs, count, &tar);
        put_file(dir->fd, "image.tar", tar.data, tar.len);
        check(TRANSPORT_DOCKER_ARCHIVE, NULL, NULL);
        check(TRANSPORT_DOCKER_ARCHIVE, "image", NULL);
    }
    for (size_t i = 0; i < count; i++)
        buf_free(&docs[i].data);
    return 0;
}
