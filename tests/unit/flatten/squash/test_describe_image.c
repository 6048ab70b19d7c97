#include "flatten/name/media_type.h"
#include "flatten/squash/describe_image.h"
#include "tests/unit/lib/unit.h"

#define ID     "sha256:1111111111111111111111111111111111111111111111111111111111111111"
#define NEW    "sha256:2222222222222222222222222222222222222222222222222222222222222222"
#define ROOTFS "\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"" ID "\",\"" ID "\"]}"

static const struct written_layer made = {
    .diff_id = {NEW}, .digest = {ID}, .size = 77, .kind = COMPRESSION_ZSTD};

static const struct layer_note notes[] = {{"", "not used"}, {"flatten squash", "2 layers merged"}};

/* Returns the squashed config, which the caller frees, or NULL and sets the error. */
static char *squash(const char *config, const char *created, struct err *err)
{
    struct json_doc *doc = json_parse(config, strlen(config), NULL, err);
    assert_non_null(doc);
    _cleanup_image_ struct image *image = image_new(doc, err);
    const struct new_layers one = {.list = &made, .notes = &notes[1], .count = 1};
    _cleanup_buf_ struct buf out = BUF_INIT;

    assert_non_null(image);
    if (config_squash(image, &one, created, &out, err) < 0)
        return NULL;
    return buf_take(&out, err);
}

static void check(const char *config, const char *created, const char *expected)
{
    struct err err = ERR_INIT;
    _cleanup_free_ char *text = squash(config, created, &err);

    if (!text)
        fail_msg("%s", err.msg);
    assert_string_equal(text, expected);
}

#define FLAT   "\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"" NEW "\"]}"
#define MERGED "\"created_by\":\"flatten squash\",\"comment\":\"2 layers merged\"}"

/* All but rootfs, history and created keeps its bytes: spaces, escapes, digits, order. */
static void test_the_rest_is_untouched(void **state)
{
    static const char rest[] =
        "\"config\": { \"Env\":[ \"A=\\u0062\" ], \"Healthcheck\":{\"Interval\": 3e9},\n"
        "\t\"OnBuild\":null, \"Shell\" : [], \"Labels\":{\"\":\"\",\"a.b/c\":\"\\/\"} },"
        "\"org.example.unknown\" : [18446744073709551615, 1.50, -0, 1e400,true , null]";
    char config[1024];

    (void)state;
    snprintf(config, sizeof(config), "{%s,%s,\"history\":[]}", rest, ROOTFS);
    struct err err = ERR_INIT;
    _cleanup_free_ char *text = squash(config, NULL, &err);
    assert_non_null(text);
    /* In an object that is edited, the other values keep their bytes. */
    static const char *const kept[] = {
        "{ \"Env\":[ \"A=\\u0062\" ], \"Healthcheck\":{\"Interval\": 3e9},\n\t\"OnBuild\":null, "
        "\"Shell\" : [], \"Labels\":{\"\":\"\",\"a.b/c\":\"\\/\"} }",
        "[18446744073709551615, 1.50, -0, 1e400,true , null]", FLAT, MERGED};
    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
        assert_contains(text, kept[i]);
}

static void test_order_of_members_stays(void **state)
{
    (void)state;
    check("{\"os\":\"linux\"," ROOTFS ",\"created\":\"x\",\"history\":[],\"z\":1,\"a\":2}",
          "2020-01-01T00:00:00Z",
          "{\"os\":\"linux\"," FLAT ",\"created\":\"2020-01-01T00:00:00Z\",\"history\":[{"
          "\"created\":\"2020-01-01T00:00:00Z\"," MERGED "],\"z\":1,\"a\":2}");
}

/* Without a given time the new entry has that of the image. */
static void test_created_is_kept(void **state)
{
    (void)state;
    check("{\"created\":\"then\"," ROOTFS ",\"history\":[]}", NULL,
          "{\"created\":\"then\"," FLAT ",\"history\":[{\"created\":\"then\"," MERGED "]}");
}

static void test_history_is_emptied_and_kept(void **state)
{
    (void)state;
    check("{" ROOTFS ",\"history\":[{\"created_by\":\"a\",\"x\":1},{\"empty_layer\":true},"
          "{\"created_by\":\"b\",\"empty_layer\":false}]}",
          NULL,
          "{" FLAT ",\"history\":[{\"created_by\":\"a\",\"x\":1,\"empty_layer\":true},"
          "{\"empty_layer\":true},{\"created_by\":\"b\",\"empty_layer\":true},{" MERGED "]}");
}

static void test_history_absent_or_null(void **state)
{
    (void)state;
    check("{" ROOTFS "}", NULL, "{" FLAT ",\"history\":[{" MERGED "]}");
    check("{\"history\":null," ROOTFS "}", NULL, "{\"history\":[{" MERGED "]," FLAT "}");
}

static void test_history_of_another_type(void **state)
{
    static const char *const bad[] = {"{}", "\"\"", "1", "true"};
    char config[512];

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct err err = ERR_INIT;
        snprintf(config, sizeof(config), "{%s,\"history\":%s}", ROOTFS, bad[i]);
        assert_null(squash(config, NULL, &err));
        assert_int_equal(err.kind, ERR_FORMAT);
        assert_contains(err.msg, "history");
    }
}

/* Entries of other types stay. */
static void test_odd_history_entries(void **state)
{
    (void)state;
    check("{" ROOTFS ",\"history\":[null,1,\"x\",{\"empty_layer\":\"yes\"}]}", NULL,
          "{" FLAT ",\"history\":[null,1,\"x\",{\"empty_layer\":true},{" MERGED "]}");
}

static void test_rootfs_must_name_layers(void **state)
{
    static const char *const bad[] = {
        "[]",
        "null",
        "{}",
        "{\"rootfs\":[]}",
        "{\"rootfs\":{}}",
        "{\"rootfs\":{\"diff_ids\":null}}",
        "{\"rootfs\":{\"diff_ids\":[]}}",
        "{\"rootfs\":{\"diff_ids\":[1]}}",
        "{\"rootfs\":{\"diff_ids\":[\"sha256:xyz\"]}}",
        "{\"rootfs\":{\"diff_ids\":[\"sha512:" ID "\"]}}",
        "{\"rootfs\":{\"diff_ids\":{\"a\":\"" ID "\"}}}",
        "{\"rootfs\":{\"diff_ids\":[\"" ID "\",\"../../x\"]}}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct err err = ERR_INIT;
        struct json_doc *doc = json_parse(bad[i], strlen(bad[i]), NULL, &err);
        assert_non_null(doc);
        struct image *image = image_new(doc, &err);
        if (image)
            fail_msg("%s is taken", bad[i]);
        assert_int_equal(err.kind, ERR_FORMAT);
    }
}

static char *manifest(const char *old, enum compression kind)
{
    static const char config[] = "{" ROOTFS "}";
    struct err err = ERR_INIT;
    struct digest digest = {NEW};
    struct written_layer layer = made;
    struct json_doc *doc = json_parse(config, strlen(config), NULL, &err);
    _cleanup_image_ struct image *image = image_new(doc, &err);
    _cleanup_buf_ struct buf out = BUF_INIT;

    assert_non_null(image);
    image->digest = (struct digest){NEW};
    image->config_digest = (struct digest){ID};
    if (old) {
        image->manifest = json_parse(old, strlen(old), NULL, &err);
        assert_non_null(image->manifest);
    }
    layer.kind = kind;
    const struct new_layers layers = {.list = &layer, .notes = &notes[1], .count = 1};
    assert_works(manifest_make(image, &digest, 5, &layers, &out, &err), err);
    return buf_take(&out, &err);
}

static void test_manifest(void **state)
{
    _cleanup_free_ char *text = manifest(NULL, COMPRESSION_ZSTD);

    (void)state;
    assert_string_equal(text,
                        "{\"schemaVersion\":2,\"mediaType\":\"" MEDIA_TYPE_MANIFEST
                        "\",\"config\":{\"mediaType\":\"" MEDIA_TYPE_CONFIG "\",\"digest\":\"" NEW
                        "\",\"size\":5},\"layers\":[{\"mediaType\":\"" MEDIA_TYPE_LAYER_ZSTD
                        "\",\"digest\":\"" ID "\",\"size\":77}],\"annotations\":{"
                        "\"dev.flatbed.source.digest\":\"" ID "\"}}");
}

static void test_manifest_media_types(void **state)
{
    _cleanup_free_ char *gzip = manifest(NULL, COMPRESSION_GZIP);
    _cleanup_free_ char *none = manifest(NULL, COMPRESSION_NONE);

    (void)state;
    assert_contains(gzip, "\"" MEDIA_TYPE_LAYER_GZIP "\"");
    assert_contains(none, "\"" MEDIA_TYPE_LAYER "\"");
}

static void test_manifest_annotations(void **state)
{
    _cleanup_free_ char *text =
        manifest("{\"annotations\":{\"a\":\"b\",\"dev.flatbed.source.digest\":\"old\"},\"x\":1}",
                 COMPRESSION_NONE);
    _cleanup_free_ char *odd = manifest("{\"annotations\":[1]}", COMPRESSION_NONE);

    (void)state;
    assert_contains(text,
                    "\"annotations\":{\"a\":\"b\",\"dev.flatbed.source.digest\":\"" NEW "\"}");
    assert_contains(odd, "\"annotations\":{\"dev.flatbed.source.digest\":\"" NEW "\"}");
}

/* ---- layers that stay ---- */

#define OLD    "sha256:3333333333333333333333333333333333333333333333333333333333333333"
#define THREE  "\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"" OLD "\",\"" ID "\",\"" ID "\"]}"
#define ABOVE  "\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"" OLD "\",\"" NEW "\"]}"
#define ONE_BY "\"created_by\":\"flatten squash\",\"comment\":\"2 layers merged\"}"

/* The config of an image whose oldest layer stays, with `count` layers in all. */
static void check_kept(const char *config, size_t count, const char *expected)
{
    const struct written_layer list[] = {{.diff_id = {OLD}, .digest = {OLD}}, made};
    const struct new_layers layers = {.list = list, .notes = notes, .count = count, .kept = 1};
    struct err err = ERR_INIT;
    struct json_doc *doc = json_parse(config, strlen(config), NULL, &err);
    _cleanup_image_ struct image *image = image_new(doc, &err);
    _cleanup_buf_ struct buf out = BUF_INIT;

    assert_non_null(image);
    assert_works(config_squash(image, &layers, NULL, &out, &err), err);
    assert_string_equal(out.data, expected);
}

static void test_kept_history(void **state)
{
    (void)state;
    check_kept(
        "{" THREE ",\"history\":[{\"empty_layer\":true},{\"created_by\":\"base\"},{\"created_by\":"
        "\"b\"},{\"created_by\":\"ENV\",\"empty_layer\":true},{\"created_by\":\"c\"}]}",
        2,
        "{" ABOVE ",\"history\":[{\"empty_layer\":true},{\"created_by\":\"base\"},{\"created_by\":"
        "\"b\",\"empty_layer\":true},{\"created_by\":\"ENV\",\"empty_layer\":true},{\"created_by\":"
        "\"c\",\"empty_layer\":true},{" ONE_BY "]}");
}

/* Merged layers that were empty leave history without a layer. */
static void test_kept_alone(void **state)
{
    (void)state;
    check_kept("{" THREE ",\"history\":[{\"x\":1},{\"x\":2},{\"x\":3}]}", 1,
               "{\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"" OLD
               "\"]},\"history\":[{\"x\":1},{"
               "\"x\":2,\"empty_layer\":true},{\"x\":3,\"empty_layer\":true}]}");
}

/* A history that is too short gets an entry for each kept layer. */
static void test_kept_without_history(void **state)
{
    (void)state;
    check_kept("{" THREE "}", 2,
               "{" ABOVE
               ",\"history\":[{\"created_by\":\"flatten squash\",\"comment\":\"a layer without "
               "history, kept\"},{" ONE_BY "]}");
}

static char *kept_manifest(const char *old)
{
    static const char config[] = "{" THREE "}";
    const struct written_layer list[] = {
        {.diff_id = {OLD}, .digest = {OLD}, .size = 5, .kind = COMPRESSION_GZIP}, made};
    const struct new_layers layers = {.list = list, .notes = notes, .count = 2, .kept = 1};
    struct err err = ERR_INIT;
    struct digest digest = {NEW};
    struct json_doc *doc = json_parse(config, strlen(config), NULL, &err);
    _cleanup_image_ struct image *image = image_new(doc, &err);
    _cleanup_buf_ struct buf out = BUF_INIT;

    assert_non_null(image);
    image->digest = image->config_digest = digest;
    if (old)
        image->manifest = json_parse(old, strlen(old), NULL, &err);
    assert_works(manifest_make(image, &digest, 5, &layers, &out, &err), err);
    return buf_take(&out, &err);
}

/* The descriptor of a kept layer stays as it is, except for Docker's media types. */
static void test_kept_descriptor(void **state)
{
    static const char oci[] = "{\"mediaType\":\"" MEDIA_TYPE_LAYER_GZIP "\",\"digest\":\"" OLD
                              "\",\"size\":5.0e0,\"annotations\":{\"toc\":\"x\"}}";
    _cleanup_free_ char *old = strf("{\"layers\":[%s,{},{}]}", oci);
    _cleanup_free_ char *text = kept_manifest(old);
    _cleanup_free_ char *docker = kept_manifest(
        "{\"layers\":[{\"mediaType\":\"application/vnd.docker.image.rootfs.diff.tar.gzip\","
        "\"digest\":\"" OLD "\",\"size\":5,\"x\":1},{},{}]}");
    _cleanup_free_ char *archive = kept_manifest(NULL);

    (void)state;
    assert_contains(text, oci);
    assert_contains(text, "\"digest\":\"" ID "\"");
    assert_contains(docker, "{\"mediaType\":\"" MEDIA_TYPE_LAYER_GZIP "\",\"digest\":\"" OLD
                            "\",\"size\":5,\"x\":1}");
    assert_contains(archive, "{\"mediaType\":\"" MEDIA_TYPE_LAYER_GZIP "\",\"digest\":\"" OLD
                             "\",\"size\":5}");
}

UNIT_SUITE(test_describe_image)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_rest_is_untouched),
        cmocka_unit_test(test_order_of_members_stays),
        cmocka_unit_test(test_created_is_kept),
        cmocka_unit_test(test_history_is_emptied_and_kept),
        cmocka_unit_test(test_history_absent_or_null),
        cmocka_unit_test(test_history_of_another_type),
        cmocka_unit_test(test_odd_history_entries),
        cmocka_unit_test(test_rootfs_must_name_layers),
        cmocka_unit_test(test_manifest),
        cmocka_unit_test(test_manifest_media_types),
        cmocka_unit_test(test_manifest_annotations),
        cmocka_unit_test(test_kept_history),
        cmocka_unit_test(test_kept_alone),
        cmocka_unit_test(test_kept_without_history),
        cmocka_unit_test(test_kept_descriptor),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
