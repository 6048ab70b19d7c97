#include "flatten/image/image.h"
#include "flatten/layer/layer_blob.h"
#include "flatten/stream/compress.h"
#include "tests/unit/lib/documents.h"
#include "tests/unit/lib/image_unit.h"
#include "tests/unit/lib/stream_unit.h"
#include "tests/unit/lib/tempdir.h"

#define DIFF   "sha256:1111111111111111111111111111111111111111111111111111111111111111"
#define CONFIG "{\"rootfs\":{\"diff_ids\":[\"" DIFF "\"]}}"
#define ITEM(tags, config, layers)                                                                 \
    "{\"Config\":\"" config "\",\"RepoTags\":" tags ",\"Layers\":" layers "}"
#define USUAL "[" ITEM("[\"image:v1\"]", "c.json", "[\"l/layer.tar\"]") "]"

struct member {
    const char *name, *data;
    mode_t type; /* 0: a hard link to `data`; AE_IFLNK: a symbolic one; AE_IFREG holds it */
};

static const struct member config = {"c.json", CONFIG, AE_IFREG};
static const struct member layer = {"l/layer.tar", "layer", AE_IFREG};

static void make_tar(const struct member *members, size_t count, struct buf *out)
{
    struct archive *a = tar_begin(out);

    for (const struct member *m = members; m < members + count; m++) {
        struct archive_entry *e = archive_entry_new();
        size_t len = m->type == AE_IFREG ? strlen(m->data) : 0;
        archive_entry_set_pathname(e, m->name);
        archive_entry_set_filetype(e, m->type ? m->type : AE_IFREG);
        archive_entry_set_perm(e, 0644);
        archive_entry_set_size(e, (la_int64_t)len);
        if (m->type == AE_IFLNK)
            archive_entry_set_symlink(e, m->data);
        else if (!m->type)
            archive_entry_set_hardlink(e, m->data);
        assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
        if (len)
            assert_int_equal(archive_write_data(a, m->data, len), len);
        archive_entry_free(e);
    }
    archive_write_free(a);
}

static struct image *open_archive(const struct tempdir *dir, const char *name, struct err *err)
{
    char path[128];
    struct reference ref = {
        .transport = TRANSPORT_DOCKER_ARCHIVE, .path = path, .name = (char *)(uintptr_t)name};

    *err = (struct err)ERR_INIT;
    snprintf(path, sizeof(path), "%s/image.tar", dir->path);
    return image_unit_open(&ref, NULL, err);
}

static void put_archive(const struct tempdir *dir, const struct buf *data)
{
    put_file(dir->fd, "image.tar", data->data, data->len);
}

#define ARCHIVE(...)                                                                               \
    const struct tempdir *dir = *state;                                                            \
    const struct member members[] = {__VA_ARGS__};                                                 \
    _cleanup_buf_ struct buf tar = BUF_INIT;                                                       \
    make_tar(members, sizeof(members) / sizeof(*members), &tar);                                   \
    put_archive(dir, &tar)

static void check_layer(const struct image *image, const char *content)
{
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    struct stream *s = layer_blob(&image->layers[0], &err);

    assert_non_null(s);
    assert_works(read_stream(s, 100, &out, &err), err);
    assert_int_equal(out.len, strlen(content));
    assert_memory_equal(out.data, content, out.len);
}

static void opens(const struct tempdir *dir, const char *name, const char *content)
{
    struct err err;
    _cleanup_image_ struct image *image = open_archive(dir, name, &err);

    if (!image)
        fail_msg("%s", err.msg);
    assert_int_equal(image->layer_count, 1);
    assert_string_equal(image->layers[0].diff_id.text, DIFF);
    assert_string_equal(image->layers[0].digest.text, "");
    check_layer(image, content);
}

static void refused(const struct tempdir *dir, const char *name, enum err_kind kind,
                    const char *why)
{
    struct err err;
    _cleanup_image_ struct image *image = open_archive(dir, name, &err);

    if (image)
        fail_msg("it opens");
    if (err.kind != kind)
        fail_msg("kind %d: %s", err.kind, err.msg);
    assert_contains(err.msg, dir->path);
    assert_contains(err.msg, why);
}

static void test_opens(void **state)
{
    ARCHIVE(config, layer, {"manifest.json", USUAL, AE_IFREG});
    struct err err;
    _cleanup_image_ struct image *image = open_archive(dir, NULL, &err);

    assert_non_null(image);
    assert_string_equal(image->name, "image:v1");
    assert_null(image->manifest);
    check_layer(image, "layer");
    opens(dir, "image:v1", "layer");
}

/* The order and a "./" before names are ignored; the last of one name wins. */
static void test_order_and_names(void **state)
{
    ARCHIVE({"./manifest.json", USUAL, AE_IFREG}, {"./l/layer.tar", "old", AE_IFREG},
            {"/l//layer.tar", "layer", AE_IFREG}, {"x/../c.json", CONFIG, AE_IFREG});
    opens(dir, NULL, "layer");
}

static void test_names(void **state)
{
    ARCHIVE(
        config, layer, {"m", "other", AE_IFREG},
        {"manifest.json",
         "[" ITEM("[\"a:latest\",\"a:v1\"]", "c.json", "[\"l/layer.tar\"]") "," ITEM(
             "null", "c.json", "[\"m\"]") "," ITEM("[\"host:5000/b:v2\"]", "c.json", "[\"m\"]") "]",
         AE_IFREG});
    opens(dir, "a", "layer");
    opens(dir, "a:v1", "layer");
    opens(dir, "host:5000/b:v2", "other");
    refused(dir, NULL, ERR_USAGE, "3 images");
    refused(dir, NULL, ERR_USAGE, "image.tar:a:latest; they are a:latest, @1, host:5000/b:v2");
    opens(dir, "@0", "layer");
    opens(dir, "@1", "other");
    refused(dir, "@3", ERR_USAGE, "no image named @3 in the archive; it has a:latest, @1");
    refused(dir, "@-1", ERR_USAGE, "no image named @-1");
    refused(dir, "@", ERR_USAGE, "no image named @");
    refused(dir, "host:5000/b", ERR_USAGE, "no image named");
    refused(dir, "b:v2", ERR_USAGE, "no image named b:v2");
}

/* Old versions of docker save replace a layer that images share by a symbolic link. */
static void test_links(void **state)
{
    ARCHIVE(config, {"m/layer.tar", "layer", AE_IFREG}, {"k/layer.tar", "../m/layer.tar", AE_IFLNK},
            {"l/layer.tar", "../k/layer.tar", AE_IFLNK}, {"manifest.json", USUAL, AE_IFREG});
    opens(dir, NULL, "layer");
}

static void test_hard_link(void **state)
{
    ARCHIVE(config, {"m/layer.tar", "layer", AE_IFREG}, {"l/layer.tar", "m/layer.tar", 0},
            {"manifest.json", USUAL, AE_IFREG});
    opens(dir, NULL, "layer");
}

static void test_link_loop(void **state)
{
    ARCHIVE(config, {"l/layer.tar", "../m", AE_IFLNK}, {"m", "l/layer.tar", AE_IFLNK},
            {"manifest.json", USUAL, AE_IFREG});
    refused(dir, NULL, ERR_FORMAT, "too many links");
}

static void test_link_to_itself(void **state)
{
    ARCHIVE(config, {"l/layer.tar", "layer.tar", AE_IFLNK}, {"manifest.json", USUAL, AE_IFREG});
    refused(dir, NULL, ERR_FORMAT, "too many links");
}

/* Links never lead to the file system, nor above the root of the archive. */
static void test_links_that_leave(void **state)
{
    static const char *const targets[] = {"/etc/passwd", "../../x", "../../../etc/passwd"};
    const struct tempdir *dir = *state;

    for (size_t i = 0; i < 3; i++) {
        _cleanup_buf_ struct buf tar = BUF_INIT;
        const struct member members[] = {
            config, {"l/layer.tar", targets[i], AE_IFLNK}, {"manifest.json", USUAL, AE_IFREG}};
        make_tar(members, 3, &tar);
        put_archive(dir, &tar);
        refused(dir, NULL, ERR_FORMAT, "");
    }
}

static void test_members_above_the_root(void **state)
{
    ARCHIVE(config, layer, {"manifest.json", USUAL, AE_IFREG}, {"../x", "x", AE_IFREG});
    refused(dir, NULL, ERR_FORMAT, "");
}

static void test_missing_members(void **state)
{
    const struct tempdir *dir = *state;
    const struct member all[] = {config, layer, {"manifest.json", USUAL, AE_IFREG}};
    static const char *const said[] = {"c.json is not in the archive",
                                       "layer 1: ", "not made by docker save"};

    for (size_t missing = 0; missing < 3; missing++) {
        _cleanup_buf_ struct buf tar = BUF_INIT;
        struct member some[2];
        for (size_t i = 0, n = 0; i < 3; i++)
            if (i != missing)
                some[n++] = all[i];
        make_tar(some, 2, &tar);
        put_archive(dir, &tar);
        refused(dir, NULL, ERR_FORMAT, said[missing]);
    }
}

static void test_malformed_manifests(void **state)
{
    static const char *const bad[] = {
        "{}",
        ITEM("[]", "c.json", "[\"l/layer.tar\"]"),
        "not json",
        "[1]",
        "[{}]",
        "[null]",
        "[" ITEM("[]", "../c.json", "[\"l/layer.tar\"]") "]",
        "[" ITEM("[]", "c.json", "[]") "]",
        "[" ITEM("[]", "c.json", "[\"l/layer.tar\",\"l/layer.tar\"]") "]",
        "[" ITEM("[]", "c.json", "[1]") "]",
        "[" ITEM("[]", "c.json", "{\"a\":1}") "]",
        "[" ITEM("[]", "c.json", "[\"../../l/layer.tar\"]") "]",
        "[" ITEM("[]", "l/layer.tar", "[\"l/layer.tar\"]") "]",
    };
    const struct tempdir *dir = *state;

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        _cleanup_buf_ struct buf tar = BUF_INIT;
        const struct member members[] = {config, layer, {"manifest.json", bad[i], AE_IFREG}};
        struct err err;
        make_tar(members, 3, &tar);
        put_archive(dir, &tar);
        struct image *image = open_archive(dir, NULL, &err);
        if (image)
            fail_msg("%s is taken", bad[i]);
        if (err.kind != ERR_FORMAT)
            fail_msg("%s: kind %d: %s", bad[i], err.kind, err.msg);
    }
}

static void test_no_images(void **state)
{
    ARCHIVE({"manifest.json", "[]", AE_IFREG});
    refused(dir, NULL, ERR_USAGE, "0 images");
}

/* A config that is named by its digest is verified. */
static void test_config_digest(void **state)
{
    ARCHIVE({&DIFF[7], CONFIG, AE_IFREG}, layer,
            {"manifest.json",
             "[{\"Config\":\"1111111111111111111111111111111111111111111111111111111111111111\","
             "\"Layers\":[\"l/layer.tar\"]}]",
             AE_IFREG});
    refused(dir, NULL, ERR_DIGEST, "has content sha256:");
}

static void test_compressed_archives(void **state)
{
    static const struct compress_options kinds[] = {
        {.kind = COMPRESSION_GZIP, .level = 1},
        {.kind = COMPRESSION_ZSTD, .level = 1, .threads = 1},
    };
    ARCHIVE(config, layer, {"manifest.json", USUAL, AE_IFREG});

    for (size_t i = 0; i < 2; i++) {
        _cleanup_buf_ struct buf packed = BUF_INIT;
        compress_to(&packed, &kinds[i], tar.data, tar.len, 1000);
        put_archive(dir, &packed);
        opens(dir, NULL, "layer");
        packed.len -= 20;
        put_archive(dir, &packed);
        refused(dir, NULL, ERR_FORMAT, i ? "zstd" : "gzip");
    }
}

static void test_standard_input(void **state)
{
    ARCHIVE(config, layer, {"manifest.json", USUAL, AE_IFREG});
    struct reference ref = {.transport = TRANSPORT_DOCKER_ARCHIVE, .path = (char *)(uintptr_t) "-"};
    struct err err = ERR_INIT;
    int ends[2], saved = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], tar.data, tar.len), tar.len);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    _cleanup_image_ struct image *image = image_unit_open(&ref, NULL, &err);
    if (saved >= 0) {
        dup2(saved, STDIN_FILENO);
        close(saved);
    }
    if (!image)
        fail_msg("%s", err.msg);
    check_layer(image, "layer");
}

static void test_cut_archives(void **state)
{
    ARCHIVE({"manifest.json", USUAL, AE_IFREG}, config, layer);

    for (size_t len = tar.len - 1024 - 512; len > 0; len -= len > 100 ? 100 : len) {
        struct err err;
        tar.len = len;
        put_archive(dir, &tar);
        struct image *image = open_archive(dir, NULL, &err);
        if (image)
            fail_msg("%zu bytes are taken for the whole", len);
        assert_int_equal(err.kind, ERR_FORMAT);
    }
}

static void test_what_is_no_archive(void **state)
{
    const struct tempdir *dir = *state;
    static char text[4000];

    memset(text, 'x', sizeof(text));
    put_file(dir->fd, "image.tar", text, sizeof(text));
    refused(dir, NULL, ERR_FORMAT, "");
    put_file(dir->fd, "image.tar", "", 0);
    refused(dir, NULL, ERR_FORMAT, "");
    assert_int_equal(unlinkat(dir->fd, "image.tar", 0), 0);
    refused(dir, NULL, ERR_SYSTEM, "");
    assert_int_equal(mkdirat(dir->fd, "image.tar", 0700), 0);
    refused(dir, NULL, ERR_USAGE, "directory");
}

#define UNIT(test) cmocka_unit_test_setup_teardown(test, tempdir_make, tempdir_remove)

UNIT_SUITE(test_image_archive)
{
    static const struct CMUnitTest tests[] = {
        UNIT(test_opens),
        UNIT(test_order_and_names),
        UNIT(test_names),
        UNIT(test_links),
        UNIT(test_hard_link),
        UNIT(test_link_loop),
        UNIT(test_link_to_itself),
        UNIT(test_links_that_leave),
        UNIT(test_members_above_the_root),
        UNIT(test_missing_members),
        UNIT(test_malformed_manifests),
        UNIT(test_no_images),
        UNIT(test_config_digest),
        UNIT(test_compressed_archives),
        UNIT(test_standard_input),
        UNIT(test_cut_archives),
        UNIT(test_what_is_no_archive),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
