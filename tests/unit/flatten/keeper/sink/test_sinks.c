#include "tests/unit/flatten/keeper/sink/sinks.h"

/* ---- OCI layouts ---- */

static void test_oci_new(void **state)
{
    const struct tempdir *dir = *state;
    _cleanup_buf_ struct buf names = BUF_INIT, text = BUF_INIT;
    struct stat st;

    make_image(dir, TRANSPORT_OCI, "new", "layer", "v1");
    tags(dir, "new", &names);
    assert_string_equal(names.data, "v1 ");
    read_text(dir, "new/oci-layout", &text);
    assert_string_equal(text.data, OCI_LAYOUT_JSON);
    assert_true(has_blob(dir, "new", "layer"));
    assert_true(has_blob(dir, "new", "{\"the\":\"config\"}"));
    assert_int_equal(fstatat(dir->fd, "new/index.json", &st, 0), 0);
    assert_int_equal(st.st_mode & 0777, 0644);
    buf_truncate(&text, 0);
    list_dir(dir->fd, "", &text);
    assert_null(strstr(text.data, "/."));
    assert_int_equal(strncmp(text.data, "d new\n", 6), 0);
}

/* The disk writes a layer while the next ones are made: it gets its name when all are there. */
static void test_oci_names_layers_late(void **state)
{
    const struct tempdir *dir = *state;
    struct err err;

    make_image(dir, TRANSPORT_OCI, "l", "one", "a");
    _cleanup_sink_ struct sink *sink = open_sink(dir, TRANSPORT_OCI, "l", &err);
    assert_non_null(sink);
    struct written_layer layer = put_layer(sink, "two"), other = layer;
    other.digest = digest_of("three");
    assert_false(has_blob(dir, "l", "two"));
    assert_int_equal(sink_has_layer(sink, 0, &layer, &err), 1);
    assert_int_equal(sink_has_layer(sink, 0, &other, &err), 0);
    for (size_t i = 0; i < 300; i++) { /* more than are kept open */
        char content[16];
        snprintf(content, sizeof(content), "layer %zu", i);
        put_layer(sink, content);
    }
    assert_int_equal(sink_has_layer(sink, 0, &layer, &err), 1);
    assert_works(publish(sink, &layer, "b", &err), err);
    assert_true(has_blob(dir, "l", "two"));
    assert_true(has_blob(dir, "l", "layer 0"));
    assert_true(has_blob(dir, "l", "layer 299"));
}

static void test_oci_second_image_keeps_the_first(void **state)
{
    const struct tempdir *dir = *state;
    _cleanup_buf_ struct buf names = BUF_INIT;

    make_image(dir, TRANSPORT_OCI, "l", "one", "a");
    make_image(dir, TRANSPORT_OCI, "l", "two", "b");
    tags(dir, "l", &names);
    assert_string_equal(names.data, "a b ");
    assert_true(has_blob(dir, "l", "one"));
    assert_true(has_blob(dir, "l", "two"));
}

static void test_oci_tag_is_replaced(void **state)
{
    const struct tempdir *dir = *state;
    _cleanup_buf_ struct buf names = BUF_INIT, text = BUF_INIT;
    struct digest two = digest_of("two");
    _cleanup_free_ char *manifest = strf("{\"of\":\"%s\"}", two.text);
    struct digest digest = digest_of(manifest);

    make_image(dir, TRANSPORT_OCI, "l", "one", "a");
    make_image(dir, TRANSPORT_OCI, "l", "other", "b");
    make_image(dir, TRANSPORT_OCI, "l", "two", "a");
    tags(dir, "l", &names);
    assert_string_equal(names.data, "b a ");
    read_text(dir, "l/index.json", &text);
    assert_contains(text.data, digest.text);
}

/* An existing index.json keeps every byte beside the new descriptor. */
static void test_oci_index_is_edited_without_loss(void **state)
{
    static const char old[] = "{\"schemaVersion\": 2, \"x\" : 1.50, \"manifests\":[ {\"size\": "
                              "18446744073709551615, \"annotations\":{\"k\" : \"v\","
                              "\"" REF_NAME "\":\"kept\"}} ]}";
    const struct tempdir *dir = *state;
    _cleanup_buf_ struct buf text = BUF_INIT;

    make_image(dir, TRANSPORT_OCI, "l", "one", "a");
    _cleanup_fd_ int fd = openat(dir->fd, "l/index.json", O_WRONLY | O_TRUNC | O_CLOEXEC);
    assert_int_equal(write(fd, old, strlen(old)), strlen(old));
    make_image(dir, TRANSPORT_OCI, "l", "two", "b");
    read_text(dir, "l/index.json", &text);
    assert_contains(text.data, "{\"size\": 18446744073709551615, \"annotations\":{\"k\" : \"v\"");
    assert_contains(text.data, "1.50");
}

/* A failure anywhere leaves the directory as it was. */
static void test_oci_abort(void **state)
{
    const struct tempdir *dir = *state;

    for (int existing = 0; existing < 2; existing++) {
        _cleanup_buf_ struct buf before = BUF_INIT, after = BUF_INIT;
        list_dir(dir->fd, "", &before);
        for (int step = 0; step < 3; step++) {
            struct err err;
            off_t offset;
            int fd;
            _cleanup_sink_ struct sink *sink = open_sink(dir, TRANSPORT_OCI, "l", &err);
            assert_non_null(sink);
            if (step > 0)
                put_layer(sink, "first, complete");
            if (step > 1)
                assert_works(sink_begin_layer(sink, false, &fd, &offset, &err), err);
        }
        list_dir(dir->fd, "", &after);
        assert_string_equal(before.data ? before.data : "", after.data ? after.data : "");
        make_image(dir, TRANSPORT_OCI, "l", "one", "a");
    }
}

/* A failed run removes no blob that existed before it. */
static void test_oci_abort_keeps_shared_blobs(void **state)
{
    const struct tempdir *dir = *state;
    struct err err;

    make_image(dir, TRANSPORT_OCI, "l", "one", "a");
    struct sink *sink = open_sink(dir, TRANSPORT_OCI, "l", &err);
    assert_non_null(sink);
    put_layer(sink, "one");
    sink_free(sink);
    assert_true(has_blob(dir, "l", "one"));
}

/* A destination that appears during the run stays as it is, and nothing else is left. */
static void test_oci_made_meanwhile(void **state)
{
    const struct tempdir *dir = *state;
    _cleanup_buf_ struct buf after = BUF_INIT;
    struct err err;
    struct sink *sink = open_sink(dir, TRANSPORT_OCI, "l", &err);

    assert_non_null(sink);
    struct written_layer layer = put_layer(sink, "one");
    assert_int_equal(mkdirat(dir->fd, "l", 0755), 0);
    assert_int_equal(mkdirat(dir->fd, "l/theirs", 0755), 0);
    assert_fails(publish(sink, &layer, "a", &err), err, ERR_USAGE);
    assert_contains(err.msg, "not an OCI layout");
    sink_free(sink);
    list_dir(dir->fd, "", &after);
    assert_string_equal(after.data, "d l\nd l/theirs\n");
}

static void test_oci_destinations_that_are_refused(void **state)
{
    const struct tempdir *dir = *state;
    _cleanup_buf_ struct buf after = BUF_INIT;
    struct err err;

    assert_int_equal(mkdirat(dir->fd, "plain", 0755), 0);
    assert_int_equal(mkdirat(dir->fd, "plain/x", 0755), 0);
    assert_null(open_sink(dir, TRANSPORT_OCI, "plain", &err));
    assert_int_equal(err.kind, ERR_USAGE);
    close(openat(dir->fd, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    assert_null(open_sink(dir, TRANSPORT_OCI, "file", &err));
    assert_int_equal(err.kind, ERR_USAGE);
    assert_contains(err.msg, "not a directory");
    assert_null(open_sink(dir, TRANSPORT_OCI, "no/such/parent", &err));
    assert_int_equal(err.kind, ERR_SYSTEM);
    assert_contains(err.msg, "no/such/parent");
    list_dir(dir->fd, "", &after);
    assert_string_equal(after.data, "f file\nd plain\nd plain/x\n");
}

static void test_oci_takes_an_empty_directory(void **state)
{
    const struct tempdir *dir = *state;

    assert_int_equal(mkdirat(dir->fd, "l", 0755), 0);
    make_image(dir, TRANSPORT_OCI, "l", "one", "a");
    assert_true(has_blob(dir, "l", "one"));
}

/* A blob with the right name and the wrong size is not reused. */
static void test_oci_mends_a_damaged_blob(void **state)
{
    const struct tempdir *dir = *state;
    char path[128];
    struct digest digest;
    struct stat st;
    struct err err;

    make_image(dir, TRANSPORT_OCI, "l", "one", "a");
    assert_int_equal(sha256_digest("one", 3, &digest, &err), 0);
    snprintf(path, sizeof(path), "l/blobs/sha256/%s", digest_hex(&digest));
    close(openat(dir->fd, path, O_WRONLY | O_TRUNC | O_CLOEXEC));
    make_image(dir, TRANSPORT_OCI, "l", "one", "a");
    assert_int_equal(fstatat(dir->fd, path, &st, 0), 0);
    assert_int_equal(st.st_size, 3);
}

/* A merge that one pass cannot decide starts again: the first pass leaves nothing. */
static void begin_again(const struct tempdir *dir, enum transport transport, const char *path)
{
    struct err err;
    off_t offset, again;
    int fd;
    _cleanup_sink_ struct sink *sink = open_sink(dir, transport, path, &err);

    assert_non_null(sink);
    assert_works(sink_begin_layer(sink, false, &fd, &offset, &err), err);
    assert_int_equal(pwrite(fd, "a longer first try", 18, offset), 18);
    assert_works(sink_begin_layer(sink, false, &fd, &again, &err), err);
    assert_int_equal(again, offset);
    struct written_layer layer = put_layer(sink, "short");
    assert_works(publish(sink, &layer, "a", &err), err);
}

static void test_oci_layer_begun_again(void **state)
{
    const struct tempdir *dir = *state;
    _cleanup_buf_ struct buf text = BUF_INIT;

    begin_again(dir, TRANSPORT_OCI, "l");
    assert_true(has_blob(dir, "l", "short"));
    list_dir(dir->fd, "", &text);
    assert_null(strstr(text.data, "/."));
    assert_null(strstr(text.data, "layer"));
}

static int begin_one(struct sink *sink, bool beside, const char *content)
{
    struct err err = ERR_INIT;
    off_t offset;
    int fd;

    assert_works(beside ? sink_begin_beside(sink, &fd, &offset, &err)
                        : sink_begin_layer(sink, false, &fd, &offset, &err),
                 err);
    assert_int_equal(pwrite(fd, content, strlen(content), offset), strlen(content));
    return fd;
}

/* Layers that were begun side by side end in that order; one that ends twice is kept once. */
static void test_oci_layers_side_by_side(void **state)
{
    static const char *const contents[] = {"one", "two", "one", "four"};
    const struct tempdir *dir = *state;
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct written_layer layer;
    struct err err;
    struct sink *sink = open_sink(dir, TRANSPORT_OCI, "l", &err);

    assert_non_null(sink);
    assert_true(sink->beside >= 3);
    begin_one(sink, false, "given up");
    begin_one(sink, true, "given up, too");
    for (size_t i = 0; i < 4; i++)
        begin_one(sink, i > 0, contents[i]);
    for (size_t i = 0; i < 3; i++) {
        layer =
            (struct written_layer){.size = strlen(contents[i]), .digest = digest_of(contents[i])};
        layer.diff_id = layer.digest;
        assert_works(sink_end_layer(sink, &layer, &err), err);
    }
    assert_works(publish(sink, &layer, "a", &err), err);
    sink_free(sink);
    assert_true(has_blob(dir, "l", "one"));
    assert_true(has_blob(dir, "l", "two"));
    assert_false(has_blob(dir, "l", "four"));
    list_dir(dir->fd, "", &text);
    assert_null(strstr(text.data, "/."));
}

/* ---- archives ---- */

static void test_archive_new(void **state)
{
    const struct tempdir *dir = *state;
    _cleanup_buf_ struct buf files = BUF_INIT, text = BUF_INIT;
    struct digest digest = digest_of("layer");

    make_image(dir, TRANSPORT_DOCKER_ARCHIVE, "i.tar", "layer", "image:v1");
    list_dir(dir->fd, "", &files);
    assert_string_equal(files.data, "f i.tar\n");
    read_text(dir, "i.tar", &text);
    assert_int_equal(text.len % 512, 0);
    _cleanup_free_ char *member = strf("blobs/sha256/%s", digest_hex(&digest));
    assert_string_equal(text.data, member); /* the first header's name */
    assert_memory_equal(text.data + 512, "layer", 5);
    assert_memory_equal(text.data + 257, "ustar", 5);
}

/* A run that starts again writes the same bytes as a run in one go. */
static void test_archive_layer_begun_again(void **state)
{
    const struct tempdir *dir = *state;
    _cleanup_buf_ struct buf once = BUF_INIT, again = BUF_INIT;

    make_image(dir, TRANSPORT_DOCKER_ARCHIVE, "once.tar", "short", "a");
    begin_again(dir, TRANSPORT_DOCKER_ARCHIVE, "again.tar");
    read_text(dir, "once.tar", &once);
    read_text(dir, "again.tar", &again);
    assert_int_equal(once.len, again.len);
    assert_memory_equal(once.data, again.data, once.len);
}

static void test_archive_abort(void **state)
{
    static const char packed[] = "\x1f\x8b old"; /* other files are not replaced */
    const struct tempdir *dir = *state;
    _cleanup_buf_ struct buf files = BUF_INIT, text = BUF_INIT;
    struct err err;

    close(openat(dir->fd, "old.tar", O_WRONLY | O_CREAT | O_CLOEXEC, 0640));
    _cleanup_fd_ int fd = openat(dir->fd, "old.tar", O_WRONLY | O_CLOEXEC);
    assert_int_equal(write(fd, packed, strlen(packed)), strlen(packed));
    static const char *const names[] = {"old.tar", "new.tar"};
    for (size_t i = 0; i < 2; i++) {
        struct sink *sink = open_sink(dir, TRANSPORT_DOCKER_ARCHIVE, names[i], &err);
        assert_non_null(sink);
        put_layer(sink, "layer");
        sink_free(sink);
    }
    list_dir(dir->fd, "", &files);
    assert_string_equal(files.data, "f old.tar\n");
    read_text(dir, "old.tar", &text);
    assert_string_equal(text.data, packed);
}

static void test_archive_mode(void **state)
{
    const struct tempdir *dir = *state;
    struct stat st;
    mode_t old = umask(027);

    close(openat(dir->fd, "old.tar", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    assert_int_equal(fchmodat(dir->fd, "old.tar", 0604, 0), 0);
    make_image(dir, TRANSPORT_DOCKER_ARCHIVE, "old.tar", "layer", "a");
    make_image(dir, TRANSPORT_DOCKER_ARCHIVE, "new.tar", "layer", "a");
    umask(old);
    assert_int_equal(fstatat(dir->fd, "old.tar", &st, 0), 0);
    assert_int_equal(st.st_mode & 0777, 0604);
    assert_int_equal(fstatat(dir->fd, "new.tar", &st, 0), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
}

/* The test writes no content and checks only the header. */
static void test_archive_member_beyond_8_gib(void **state)
{
    const struct tempdir *dir = *state;
    struct written_layer layer = {.digest = digest_of("x"), .size = 9000000000};
    struct err err;
    off_t offset;
    unsigned char header[512];
    int fd;
    _cleanup_sink_ struct sink *sink = open_sink(dir, TRANSPORT_DOCKER_ARCHIVE, "i.tar", &err);

    assert_non_null(sink);
    assert_works(sink_begin_layer(sink, false, &fd, &offset, &err), err);
    assert_works(sink_end_layer(sink, &layer, &err), err);
    assert_int_equal(pread(fd, header, 512, offset - 512), 512);
    uint64_t size = 0;
    assert_int_equal(header[124], 0x80);
    for (size_t i = 125; i < 136; i++)
        size = size << 8 | header[i];
    assert_int_equal(size, 9000000000);
}

static void test_archive_destinations_that_are_refused(void **state)
{
    const struct tempdir *dir = *state;
    struct err err;

    assert_null(open_sink(dir, TRANSPORT_DOCKER_ARCHIVE, "no/such/i.tar", &err));
    assert_int_equal(err.kind, ERR_SYSTEM);
    assert_contains(err.msg, "no/such/i.tar");
}

/* A directory at the destination of an archive is refused before the work starts. */
static void test_archive_over_a_directory(void **state)
{
    const struct tempdir *dir = *state;
    struct err err;

    assert_int_equal(mkdirat(dir->fd, "d", 0755), 0);
    _cleanup_sink_ struct sink *sink = open_sink(dir, TRANSPORT_DOCKER_ARCHIVE, "d", &err);
    assert_null(sink);
    assert_true(err.kind == ERR_USAGE || err.kind == ERR_SYSTEM);
}

UNIT_SUITE(test_sinks)
{
    static const struct CMUnitTest tests[] = {
        UNIT(test_oci_new),
        UNIT(test_oci_names_layers_late),
        UNIT(test_oci_second_image_keeps_the_first),
        UNIT(test_oci_tag_is_replaced),
        UNIT(test_oci_index_is_edited_without_loss),
        UNIT(test_oci_abort),
        UNIT(test_oci_abort_keeps_shared_blobs),
        UNIT(test_oci_made_meanwhile),
        UNIT(test_oci_destinations_that_are_refused),
        UNIT(test_oci_takes_an_empty_directory),
        UNIT(test_oci_mends_a_damaged_blob),
        UNIT(test_oci_layer_begun_again),
        UNIT(test_oci_layers_side_by_side),
        UNIT(test_archive_new),
        UNIT(test_archive_layer_begun_again),
        UNIT(test_archive_abort),
        UNIT(test_archive_mode),
        UNIT(test_archive_member_beyond_8_gib),
        UNIT(test_archive_destinations_that_are_refused),
        UNIT(test_archive_over_a_directory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
