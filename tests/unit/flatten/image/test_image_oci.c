#include "flatten/exchange/image_limits.h"
#include "flatten/image/image.h"
#include "tests/unit/lib/documents.h"
#include "tests/unit/lib/image_unit.h"
#include "tests/unit/lib/tempdir.h"
#include "tests/unit/lib/unit.h"

#define DIFF          "sha256:1111111111111111111111111111111111111111111111111111111111111111"
#define INDEX         "{\"schemaVersion\":2,\"manifests\":[{\"mediaType\":\"" MANIFEST_TYPE "\",@1}]}"
#define DIFF_IDS      "\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"" DIFF "\"]}"
#define CONFIG        "{" DIFF_IDS "}"
#define MANIFEST_TYPE "application/vnd.oci.image.manifest.v1+json"
#define INDEX_TYPE    "application/vnd.oci.image.index.v1+json"
#define MANIFEST      "{\"config\":{@2},\"layers\":[{\"mediaType\":\"x.tar\",@3}]}"
#define TAG(name)     "\"annotations\":{\"org.opencontainers.image.ref.name\":\"" name "\"}"

/* Writes the documents as a layout into the test's directory. `docs` gets the digests and sizes. */
static void put_layout(const struct tempdir *dir, struct document *docs, const char *const *texts)
{
    size_t count = 0;

    for (; texts[count]; count++)
        docs[count] = (struct document){.text = texts[count], .len = strlen(texts[count])};
    documents_fill(docs, count);
    documents_layout(dir->fd, docs, count);
    for (size_t i = 0; i < count; i++)
        buf_free(&docs[i].data);
}

static struct image *open_layout(const struct tempdir *dir, const char *tag, const char *platform,
                                 struct err *err)
{
    struct reference ref = {.transport = TRANSPORT_OCI,
                            .path = (char *)(uintptr_t)dir->path,
                            .name = (char *)(uintptr_t)tag};

    *err = (struct err)ERR_INIT;
    return image_unit_open(&ref, platform, err);
}

static void refused(const struct tempdir *dir, const char *tag, const char *platform,
                    enum err_kind kind, const char *why)
{
    struct err err;
    _cleanup_image_ struct image *image = open_layout(dir, tag, platform, &err);

    if (image)
        fail_msg("it opens");
    if (err.kind != kind)
        fail_msg("kind %d: %s", err.kind, err.msg);
    assert_contains(err.msg, dir->path);
    assert_contains(err.msg, why);
}

#define LAYOUT(...)                                                                                \
    struct document docs[DOCUMENTS_MOST];                                                          \
    const struct tempdir *dir = *state;                                                            \
    put_layout(dir, docs, (const char *const[]){__VA_ARGS__, NULL})

static void test_opens(void **state)
{
    LAYOUT(INDEX, MANIFEST, CONFIG, "layer");
    struct err err;
    _cleanup_image_ struct image *image = open_layout(dir, NULL, NULL, &err);

    if (!image)
        fail_msg("%s", err.msg);
    assert_int_equal(image->layer_count, 1);
    assert_string_equal(image->digest.text, docs[1].digest.text);
    assert_string_equal(image->config_digest.text, docs[2].digest.text);
    assert_string_equal(image->layers[0].digest.text, docs[3].digest.text);
    assert_string_equal(image->layers[0].diff_id.text, DIFF);
    assert_int_equal(image->layers[0].number, 1);
    assert_int_equal(image->layers[0].size, 5);
    assert_null(image->name);
}

static void test_tags(void **state)
{
    LAYOUT("{\"manifests\":[{" TAG("a") ",@1},{" TAG("b") ",@1},{@1}]}", MANIFEST, CONFIG, "layer");
    struct err err;
    _cleanup_image_ struct image *image = open_layout(dir, "b", NULL, &err);

    assert_non_null(image);
    assert_string_equal(image->name, "b");
    refused(dir, "c", NULL, ERR_USAGE, "no image named c");
    refused(dir, NULL, NULL, ERR_USAGE, "3 images");
}

static void test_two_of_one_name(void **state)
{
    LAYOUT("{\"manifests\":[{" TAG("a") ",@1},{" TAG("a") ",@1}]}", MANIFEST, CONFIG, "layer");
    refused(dir, "a", NULL, ERR_USAGE, "2 images");
}

static void test_no_image(void **state)
{
    LAYOUT("{\"manifests\":[]}");
    refused(dir, NULL, NULL, ERR_USAGE, "no image");
    put_file(dir->fd, "index.json", "{}", 2);
    refused(dir, NULL, NULL, ERR_USAGE, "no image");
    put_file(dir->fd, "index.json", "[]", 2);
    refused(dir, NULL, NULL, ERR_USAGE, "no image");
    put_file(dir->fd, "index.json", "", 0);
    refused(dir, NULL, NULL, ERR_FORMAT, "index.json");
}

#define PLATFORM(arch, n)                                                                          \
    "{\"mediaType\":\"" MANIFEST_TYPE "\",\"platform\":{\"os\":\"linux\",\"architecture\":\"" arch \
    "\"}," n "}"

static void test_platforms(void **state)
{
    LAYOUT("{\"manifests\":[{\"mediaType\":\"" INDEX_TYPE "\",@1}]}",
           "{\"manifests\":[" PLATFORM("mips", "@2") "," PLATFORM(
               "arm64\",\"variant\":\"v8",
               "@3") ",{\"platform\":{\"os\":\"unknown\",\"architecture\":\"unknown\"},@2}]}",
           "{\"config\":{@4},\"layers\":[{@5}]}", "{\"config\":{@4},\"layers\":[{@5}],\"x\":1}",
           CONFIG, "layer");
    struct err err;
    static const char *const names[] = {"linux/mips", "linux/arm64", "linux/arm64/v8"};

    for (size_t i = 0; i < 3; i++) {
        _cleanup_image_ struct image *image = open_layout(dir, NULL, names[i], &err);
        if (!image)
            fail_msg("%s: %s", names[i], err.msg);
        assert_string_equal(image->digest.text, docs[i ? 3 : 2].digest.text);
    }
    refused(dir, NULL, "linux/arm64/v7", ERR_USAGE, "linux/arm64/v7");
    refused(dir, NULL, "linux", ERR_USAGE, "linux");
    refused(dir, NULL, "unknown/unknown", ERR_USAGE, "unknown");
}

/* A requested platform must match that of the image. */
static void test_platform_of_the_only_image(void **state)
{
    LAYOUT("{\"manifests\":[{" TAG("a") ",@1}]}", MANIFEST,
           "{\"os\":\"linux\",\"architecture\":\"arm\",\"variant\":\"v7\"," DIFF_IDS "}", "layer");
    static const char *const good[] = {NULL, "linux/arm", "linux/arm/v7"};
    struct err err;

    for (size_t i = 0; i < 3; i++) {
        _cleanup_image_ struct image *image = open_layout(dir, i ? "a" : NULL, good[i], &err);
        assert_non_null(image);
    }
    refused(dir, NULL, "linux/s390x", ERR_USAGE, "not for linux/s390x");
    refused(dir, "a", "linux/arm/v6", ERR_USAGE, "not for linux/arm/v6");
}

static void test_missing_blobs(void **state)
{
    static const char *const said[] = {"", "", "", "layer 1: "};
    LAYOUT(INDEX, MANIFEST, CONFIG, "layer");
    char path[96];

    for (size_t i = 4; i-- > 1;) {
        document_path(&docs[i], path);
        assert_int_equal(unlinkat(dir->fd, path, 0), 0);
        refused(dir, NULL, NULL, ERR_SYSTEM, path);
        refused(dir, NULL, NULL, ERR_SYSTEM, said[i]);
    }
}

static void test_sizes_that_lie(void **state)
{
    LAYOUT(INDEX, MANIFEST, CONFIG, "layer");
    char path[96];

    for (size_t i = 4; i-- > 1;) {
        document_path(&docs[i], path);
        put_file(dir->fd, path, "x", 1);
        refused(dir, NULL, NULL, ERR_DIGEST, "bytes");
    }
}

static void test_json_of_another_digest(void **state)
{
    LAYOUT(INDEX, MANIFEST, CONFIG, "layer");
    char path[96], text[sizeof(CONFIG)];

    memcpy(text, CONFIG, sizeof(CONFIG));
    text[sizeof(CONFIG) - 2] = ' ';
    document_path(&docs[2], path);
    put_file(dir->fd, path, text, strlen(text));
    refused(dir, NULL, NULL, ERR_DIGEST, "has content sha256:");
}

static void test_digests_that_are_paths(void **state)
{
    static const char *const digests[] = {
        "sha256:../../index.json",
        "../../../etc/passwd",
        "sha512:00",
        "sha256:",
        "sha256:1111111111111111111111111111111111111111111111111111111111111111/../x",
        "sha256:1111111111111111111111111111111111111111111111111111111111111\\u0000/x",
    };
    LAYOUT(INDEX, MANIFEST, CONFIG, "layer");

    for (size_t i = 0; i < sizeof(digests) / sizeof(*digests); i++) {
        _cleanup_free_ char *index =
            strf("{\"manifests\":[{\"digest\":\"%s\",\"size\":9}]}", digests[i]);
        put_file(dir->fd, "index.json", index, strlen(index));
        refused(dir, NULL, NULL, ERR_FORMAT, "digest");
    }
}

static void test_malformed_descriptors(void **state)
{
    static const char *const bad[] = {
        "{}", "[]", "1", "{\"digest\":1,\"size\":1}", "{\"digest\":\"" DIFF "\",\"size\":\"x\"}",
    };
    const struct tempdir *dir = *state;

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct document docs[DOCUMENTS_MOST];
        _cleanup_free_ char *manifest = strf("{\"config\":{@2},\"layers\":[%s]}", bad[i]);
        put_layout(dir, docs, (const char *const[]){INDEX, manifest, CONFIG, NULL});
        struct err err;
        struct image *image = open_layout(dir, NULL, NULL, &err);
        assert_null(image);
        assert_true(err.kind == ERR_FORMAT || err.kind == ERR_SYSTEM);
        assert_contains(err.msg, "layer 1: ");
    }
}

static void test_malformed_manifests(void **state)
{
    static const struct {
        const char *manifest, *config, *why;
    } bad[] = {
        {"{\"layers\":[{@3}]}", CONFIG, "no config"},
        {"[]", CONFIG, "no config"},
        {"not json", CONFIG, "1:1"},
        {"{\"config\":{@2},\"layers\":[]}", CONFIG, "0 layers, the config 1"},
        {"{\"config\":{@2},\"layers\":[{@3},{@3}]}", CONFIG, "2 layers, the config 1"},
        {"{\"config\":{@2}}", CONFIG, "0 layers"},
        {MANIFEST, "{}", "rootfs.diff_ids"},
        {MANIFEST, "[1]", "rootfs.diff_ids"},
        {MANIFEST, "{\"a\":1,\"a\":2}", "a"},
    };
    const struct tempdir *dir = *state;

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct document docs[DOCUMENTS_MOST];
        put_layout(dir, docs,
                   (const char *const[]){INDEX, bad[i].manifest, bad[i].config, "layer", NULL});
        refused(dir, NULL, NULL, ERR_FORMAT, bad[i].why);
    }
}

static void test_encrypted(void **state)
{
    LAYOUT(INDEX, "{\"config\":{@2},\"layers\":[{\"mediaType\":\"x.tar+gzip+encrypted\",@3}]}",
           CONFIG, "layer");
    refused(dir, NULL, NULL, ERR_UNSUPPORTED, "layer 1: it is encrypted");
}

#define NEXT(n) "{\"manifests\":[{\"mediaType\":\"" INDEX_TYPE "\"," n "}]}"

/* Digests cannot form a cycle, but a chain can have any length. */
static void test_indexes_without_end(void **state)
{
    LAYOUT(NEXT("@1"), NEXT("@2"), NEXT("@3"), NEXT("@4"), NEXT("@5"), NEXT("@6"), NEXT("@7"),
           "{}");
    refused(dir, NULL, NULL, ERR_LIMIT, "indexes point to indexes");
}

static void test_an_index_that_names_itself(void **state)
{
    LAYOUT(INDEX, MANIFEST, CONFIG, "layer");
    char path[96];
    _cleanup_free_ char *cycle =
        strf("{\"manifests\":[{\"mediaType\":\"%s\",\"digest\":\"%s\",\"size\":%zu}]}", INDEX_TYPE,
             docs[1].digest.text, strlen(MANIFEST));

    put_file(dir->fd, "index.json", cycle, strlen(cycle));
    document_path(&docs[1], path);
    put_file(dir->fd, path, cycle, strlen(cycle));
    refused(dir, NULL, NULL, ERR_DIGEST, docs[1].digest.text);
}

static void test_what_is_no_layout(void **state)
{
    LAYOUT(INDEX, MANIFEST, CONFIG, "layer");

    put_file(dir->fd, "oci-layout", "{\"imageLayoutVersion\":\"2.0.0\"}", 30);
    refused(dir, NULL, NULL, ERR_FORMAT, "imageLayoutVersion 1");
    put_file(dir->fd, "oci-layout", "{", 1);
    refused(dir, NULL, NULL, ERR_FORMAT, "");
    assert_int_equal(unlinkat(dir->fd, "oci-layout", 0), 0);
    refused(dir, NULL, NULL, ERR_SYSTEM, "not an OCI image layout");
    assert_int_equal(unlinkat(dir->fd, "index.json", 0), 0);
    put_file(dir->fd, "oci-layout", OCI_LAYOUT_JSON, strlen(OCI_LAYOUT_JSON));
    refused(dir, NULL, NULL, ERR_SYSTEM, "index.json");
}

/* A blob may be a link, as in some stores; a FIFO or a directory must not block. */
static void test_blobs_that_are_no_files(void **state)
{
    LAYOUT(INDEX, MANIFEST, CONFIG, "layer");
    char path[96];

    document_path(&docs[3], path);
    assert_int_equal(unlinkat(dir->fd, path, 0), 0);
    assert_int_equal(mkfifoat(dir->fd, path, 0600), 0);
    refused(dir, NULL, NULL, ERR_FORMAT, "not a regular file");
    assert_int_equal(unlinkat(dir->fd, path, 0), 0);
    assert_int_equal(mkdirat(dir->fd, path, 0700), 0);
    refused(dir, NULL, NULL, ERR_FORMAT, "not a regular file");
}

static void test_json_that_is_too_long(void **state)
{
    LAYOUT(INDEX, MANIFEST, CONFIG, "layer");
    _cleanup_fd_ int fd = openat(dir->fd, "index.json", O_WRONLY | O_CLOEXEC);

    assert_int_equal(ftruncate(fd, IMAGE_JSON_LIMIT + 1), 0);
    refused(dir, NULL, NULL, ERR_LIMIT, "");
}

#define UNIT(test) cmocka_unit_test_setup_teardown(test, tempdir_make, tempdir_remove)

UNIT_SUITE(test_image_oci)
{
    static const struct CMUnitTest tests[] = {
        UNIT(test_opens),
        UNIT(test_tags),
        UNIT(test_two_of_one_name),
        UNIT(test_no_image),
        UNIT(test_platforms),
        UNIT(test_platform_of_the_only_image),
        UNIT(test_missing_blobs),
        UNIT(test_sizes_that_lie),
        UNIT(test_json_of_another_digest),
        UNIT(test_digests_that_are_paths),
        UNIT(test_malformed_descriptors),
        UNIT(test_malformed_manifests),
        UNIT(test_encrypted),
        UNIT(test_indexes_without_end),
        UNIT(test_an_index_that_names_itself),
        UNIT(test_what_is_no_layout),
        UNIT(test_blobs_that_are_no_files),
        UNIT(test_json_that_is_too_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
