#include "flatten/layer/layer.h"
#include "flatten/stream/ustar.h"
#include "tests/unit/lib/tar_image.h"
#include "tests/unit/lib/unit.h"

/* Writes one entry to an archive; `link`: the target of a hard (mode_t 0) or symbolic link. */
static void put(struct archive *a, const char *name, mode_t type, const char *link)
{
    struct archive_entry *e = archive_entry_new();

    archive_entry_set_pathname(e, name);
    archive_entry_set_filetype(e, type ? type : AE_IFREG);
    archive_entry_set_perm(e, 0644);
    archive_entry_set_size(e, type == AE_IFREG ? 4 : 0);
    if (link && type)
        archive_entry_set_symlink(e, link);
    else if (link)
        archive_entry_set_hardlink(e, link);
    assert_true(archive_write_header(a, e) >= ARCHIVE_WARN);
    if (type == AE_IFREG)
        assert_int_equal(archive_write_data(a, "data", 4), 4);
    archive_entry_free(e);
}

static struct image *image_with(const char *name, mode_t type, const char *link)
{
    _cleanup_buf_ struct buf tar = BUF_INIT;
    struct archive *a = tar_begin(&tar);

    put(a, name, type, link);
    archive_write_free(a);
    return image_of(&tar, 1, NULL);
}

/* Checks the one entry of a layer: its kind, clean path and link. */
static void check(const char *name, mode_t type, const char *link, enum entry_kind kind,
                  const char *path, const char *clean_link)
{
    _cleanup_image_ struct image *image = image_with(name, type, link);
    struct err err = ERR_INIT;
    _cleanup_layer_reader_ struct layer_reader *r = layer_reader_open(&image->layers[0], &err);
    struct layer_entry e;

    assert_non_null(r);
    if (layer_reader_next(r, &e, &err) != 1)
        fail_msg("%s: %s", name, err.msg);
    assert_int_equal(e.info.kind, kind);
    assert_string_equal(e.info.path, path);
    assert_int_equal(e.info.path_len, strlen(path));
    assert_int_equal(e.info.ordinal, 1);
    if (clean_link)
        assert_string_equal(e.info.link, clean_link);
    assert_int_equal(layer_reader_next(r, &e, &err), 0);
}

static void refused(const char *name, mode_t type, const char *link, enum err_kind kind,
                    const char *why)
{
    _cleanup_image_ struct image *image = image_with(name, type, link);
    struct err err = ERR_INIT;
    _cleanup_layer_reader_ struct layer_reader *r = layer_reader_open(&image->layers[0], &err);
    struct layer_entry e;

    assert_non_null(r);
    if (layer_reader_next(r, &e, &err) != -1)
        fail_msg("%s is taken", name);
    assert_int_equal(err.kind, kind);
    assert_contains(err.msg, "layer 1: ");
    assert_contains(err.msg, name);
    assert_contains(err.msg, why);
}

static void test_kinds(void **state)
{
    (void)state;
    check("f", AE_IFREG, NULL, ENTRY_FILE, "f", NULL);
    check("d/", AE_IFDIR, NULL, ENTRY_DIR, "d", NULL);
    check("l", AE_IFLNK, "../x//y/", ENTRY_SYMLINK, "l", "../x//y/");
    check("h", 0, "f", ENTRY_HARDLINK, "h", "f");
    check("p", AE_IFIFO, NULL, ENTRY_OTHER, "p", NULL);
}

static void test_names_are_cleaned(void **state)
{
    (void)state;
    check("./etc/x", AE_IFREG, NULL, ENTRY_FILE, "etc/x", NULL);
    check("/etc/x", AE_IFREG, NULL, ENTRY_FILE, "etc/x", NULL);
    check("etc//x", AE_IFREG, NULL, ENTRY_FILE, "etc/x", NULL);
    check("etc/./y/../x", AE_IFREG, NULL, ENTRY_FILE, "etc/x", NULL);
    check("./", AE_IFDIR, NULL, ENTRY_DIR, "", NULL);
    check("h", 0, "/./a//b", ENTRY_HARDLINK, "h", "a/b");
    check("\xff\xfe", AE_IFREG, NULL, ENTRY_FILE, "\xff\xfe", NULL);
}

static void test_whiteouts(void **state)
{
    (void)state;
    check(".wh.a", AE_IFREG, NULL, ENTRY_WHITEOUT, "a", NULL);
    check("d/.wh.a", AE_IFREG, NULL, ENTRY_WHITEOUT, "d/a", NULL);
    check("d/.wh.a/", AE_IFDIR, NULL, ENTRY_WHITEOUT, "d/a", NULL);
    check("d/.wh.a", AE_IFLNK, "x", ENTRY_WHITEOUT, "d/a", NULL);
    check("d/.wh..a", AE_IFREG, NULL, ENTRY_WHITEOUT, "d/.a", NULL);
    check("d/.wh..wh..opq", AE_IFREG, NULL, ENTRY_OPAQUE, "d", NULL);
    check(".wh..wh..opq", AE_IFREG, NULL, ENTRY_OPAQUE, "", NULL);
    check("x.wh.y", AE_IFREG, NULL, ENTRY_FILE, "x.wh.y", NULL);
    check("wh.y", AE_IFREG, NULL, ENTRY_FILE, "wh.y", NULL);
}

static void test_what_no_layer_may_hold(void **state)
{
    (void)state;
    refused("../x", AE_IFREG, NULL, ERR_FORMAT, "");
    refused("a/../../x", AE_IFREG, NULL, ERR_FORMAT, "");
    refused("h", 0, "../x", ERR_FORMAT, "");
    refused(".wh.", AE_IFREG, NULL, ERR_FORMAT, "a whiteout that names nothing");
    refused("d/.wh..", AE_IFREG, NULL, ERR_FORMAT, "a whiteout that names nothing");
    refused("d/.wh...", AE_IFREG, NULL, ERR_FORMAT, "a whiteout that names nothing");
    refused(".wh.a/b", AE_IFREG, NULL, ERR_FORMAT, "below a whiteout");
    refused("null", AE_IFCHR, NULL, ERR_UNSUPPORTED, "0:0 device");
}

static struct image *image_of_stack_text(const char *text)
{
    static struct stack stack;

    stack_parse(&stack, text);
    return image_of_stack(&stack);
}

/* AUFS's bookkeeping is ignored; it still counts as an entry, as both ways of merging number alike.
 */
static void test_aufs_names(void **state)
{
    _cleanup_buf_ struct buf tar = BUF_INIT;
    struct err err = ERR_INIT;
    struct layer_entry e;
    struct archive *a = tar_begin(&tar);

    (void)state;
    put(a, ".wh..wh.aufs", AE_IFREG, NULL);
    put(a, ".wh..wh.plnk/7.8", AE_IFREG, NULL);
    put(a, "x", AE_IFREG, NULL);
    archive_write_free(a);
    _cleanup_image_ struct image *image = image_of(&tar, 1, NULL);
    _cleanup_layer_reader_ struct layer_reader *r = layer_reader_open(&image->layers[0], &err);
    assert_non_null(r);
    assert_int_equal(layer_reader_next(r, &e, &err), 1);
    assert_string_equal(e.info.path, "x");
    assert_int_equal(e.info.ordinal, 3);
}

/* Entries are the same whether large payload before them is read or skipped. */
static void put_sized(struct archive *a, const char *name, size_t size)
{
    struct archive_entry *e = archive_entry_new();
    char *content = calloc(1, size + 1);

    assert_non_null(content);
    memset(content, name[0], size);
    archive_entry_set_pathname(e, name);
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_perm(e, 0644);
    archive_entry_set_size(e, (la_int64_t)size);
    assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
    assert_int_equal(archive_write_data(a, content, size), size);
    archive_entry_free(e);
    free(content);
}

static void test_unchecked_skips(void **state)
{
    static const size_t sizes[] = {0, 1, 511, 512, 513, 4096, 300000, 1000000, 7, 600000, 2};
    enum { COUNT = sizeof(sizes) / sizeof(*sizes) };
    _cleanup_buf_ struct buf tar = BUF_INIT;
    struct archive *a = tar_begin(&tar);
    struct err err = ERR_INIT;
    struct layer_entry e;
    char name[300];

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        /* Long names have a PAX header: several blocks, all of which must be kept. */
        snprintf(name, sizeof(name), "%c%0*d", (char)('a' + i), i % 2 ? 250 : 3, 0);
        put_sized(a, name, sizes[i]);
    }
    archive_write_free(a);
    _cleanup_image_ struct image *image = image_of(&tar, 1, NULL);
    memset(&image->layers[0].diff_id, 0, sizeof(image->layers[0].diff_id)); /* not checked */
    _cleanup_layer_reader_ struct layer_reader *r =
        layer_reader_open_unchecked(&image->layers[0], &err);
    assert_non_null(r);
    for (size_t i = 0; i < COUNT; i++) {
        const void *data;
        uint64_t offset;
        size_t len;
        if (layer_reader_next(r, &e, &err) != 1)
            fail_msg("%zu: %s", i, err.msg);
        assert_int_equal(e.info.path[0], 'a' + i);
        assert_int_equal(archive_entry_size(e.header), sizes[i]);
        if (i % 3 == 0 && sizes[i]) { /* some content is read, in part */
            assert_int_equal(layer_reader_data(r, &data, &len, &offset, &err), 1);
            assert_int_equal(*(const char *)data, 'a' + i);
        }
    }
    assert_int_equal(layer_reader_next(r, &e, &err), 0);
}

static void test_overlay_xattrs_go(void **state)
{
    _cleanup_buf_ struct buf tar = BUF_INIT;
    struct archive *a = tar_begin(&tar);
    struct archive_entry *h = archive_entry_new();
    struct err err = ERR_INIT;
    struct layer_entry e;
    const char *name;
    const void *value;
    size_t size;

    (void)state;
    archive_entry_set_pathname(h, "d/");
    archive_entry_set_filetype(h, AE_IFDIR);
    archive_entry_xattr_add_entry(h, "trusted.overlay.opaque", "y", 1);
    archive_entry_xattr_add_entry(h, "user.kept", "v", 1);
    archive_entry_xattr_add_entry(h, "user.overlay.redirect", "/", 1);
    assert_int_equal(archive_write_header(a, h), ARCHIVE_OK);
    archive_entry_free(h);
    archive_write_free(a);
    _cleanup_image_ struct image *image = image_of(&tar, 1, NULL);
    _cleanup_layer_reader_ struct layer_reader *r = layer_reader_open(&image->layers[0], &err);
    assert_non_null(r);
    assert_int_equal(layer_reader_next(r, &e, &err), 1);
    assert_non_null(e.dropped);
    assert_int_equal(archive_entry_xattr_reset(e.header), 1);
    assert_int_equal(archive_entry_xattr_next(e.header, &name, &value, &size), ARCHIVE_OK);
    assert_string_equal(name, "user.kept");
}

/* Reads the first entry of a layer whose owner is this number. Returns as layer_reader_next. */
static int read_owner(int64_t uid, int64_t gid, struct err *err)
{
    _cleanup_buf_ struct buf tar = BUF_INIT;
    struct ustar header = {.name = "a", .type = "0", .magic = "ustar", .version = "00"};
    struct layer_entry e;

    ustar_put_number(header.uid, sizeof(header.uid), (uint64_t)uid);
    ustar_put_number(header.gid, sizeof(header.gid), (uint64_t)gid);
    if (uid < 0)
        header.uid[0] = '\xff';
    ustar_put_checksum(&header);
    buf_append(&tar, &header, sizeof(header));
    _cleanup_image_ struct image *image = image_of(&tar, 1, NULL);
    _cleanup_layer_reader_ struct layer_reader *r = layer_reader_open(&image->layers[0], err);
    assert_non_null(r);
    int rc = layer_reader_next(r, &e, err);
    if (rc > 0)
        assert_true(archive_entry_uid(e.header) == uid && archive_entry_gid(e.header) == gid);
    return rc;
}

/* chown(2) takes 32 bits: -2 and 2^32 would be other owners. */
static void test_owners(void **state)
{
    struct err err = ERR_INIT;

    (void)state;
    assert_int_equal(read_owner(4294967295, 4294967295, &err), 1);
    assert_fails(read_owner(-2, 0, &err), err, ERR_LIMIT);
    assert_contains(err.msg, "layer 1: a: the owner -2:0");
    assert_fails(read_owner(0, 4294967296, &err), err, ERR_LIMIT);
    assert_contains(err.msg, "the owner 0:4294967296");
}

/* chmod(2) takes 12 bits, and engines ignore the others of a mode. */
static void test_mode_bits(void **state)
{
    _cleanup_buf_ struct buf tar = BUF_INIT;
    struct ustar header = {.name = "a", .type = "0", .magic = "ustar", .version = "00"};
    struct err err = ERR_INIT;
    struct layer_entry e;

    (void)state;
    ustar_put_number(header.mode, sizeof(header.mode), 0xf3f30000 | 03644);
    ustar_put_checksum(&header);
    buf_append(&tar, &header, sizeof(header));
    _cleanup_image_ struct image *image = image_of(&tar, 1, NULL);
    _cleanup_layer_reader_ struct layer_reader *r = layer_reader_open(&image->layers[0], &err);
    assert_non_null(r);
    assert_int_equal(layer_reader_next(r, &e, &err), 1);
    assert_int_equal(archive_entry_mode(e.header), S_IFREG | 03644);
}

/* Reads all entries and their content. Returns 0 or -1. */
static int read_all(const struct layer *layer, struct err *err)
{
    _cleanup_layer_reader_ struct layer_reader *r = layer_reader_open(layer, err);
    struct layer_entry e;
    int rc = -1;

    while (r && (rc = layer_reader_next(r, &e, err)) > 0) {
        const void *data;
        uint64_t offset;
        size_t len;
        while ((rc = layer_reader_data(r, &data, &len, &offset, err)) > 0)
            ;
        if (rc < 0)
            return -1;
    }
    return rc;
}

static void test_digest_of_what_follows_the_end(void **state)
{
    _cleanup_buf_ struct buf tar = BUF_INIT;
    static struct stack stack;
    struct digest without;
    struct err err = ERR_INIT;

    (void)state;
    stack_parse(&stack, "a b");
    tar_layer(&stack, 1, &tar);
    assert_works(sha256_digest(tar.data, tar.len, &without, &err), err);
    buf_puts(&tar, "what no reader of tar sees");
    _cleanup_image_ struct image *good = image_of(&tar, 1, NULL);
    assert_works(read_all(&good->layers[0], &err), err);
    _cleanup_image_ struct image *bad = image_of(&tar, 1, &without);
    assert_fails(read_all(&bad->layers[0], &err), err, ERR_DIGEST);
    assert_contains(err.msg, "layer 1");
}

static void test_blob_digest(void **state)
{
    _cleanup_image_ struct image *image = image_of_stack_text("a");
    struct err err = ERR_INIT;

    (void)state;
    image->layers[0].digest.text[10] ^= 1;
    assert_fails(read_all(&image->layers[0], &err), err, ERR_DIGEST);
    image->layers[0].digest.text[0] = '\0'; /* as in a docker-archive */
    assert_works(read_all(&image->layers[0], &err), err);
}

static void test_cut_archives(void **state)
{
    _cleanup_buf_ struct buf tar = BUF_INIT;
    static struct stack stack;

    (void)state;
    stack_parse(&stack, "a b");
    tar_layer(&stack, 1, &tar);
    for (size_t len = 2 * 1024; len-- > 1;) {
        struct err err = ERR_INIT;
        tar.len = len;
        struct image *image = image_of(&tar, 1, NULL);
        int rc = read_all(&image->layers[0], &err);
        image_free(image);
        if (rc < 0)
            assert_int_equal(err.kind, ERR_FORMAT);
        /* Engines accept an archive that ends between two members, without an end mark. */
        if (rc == 0 && len % 512)
            fail_msg("%zu bytes are taken for the whole", len);
    }
}

static void test_a_blob_that_is_shorter_than_said(void **state)
{
    _cleanup_image_ struct image *image = image_of_stack_text("a");
    struct err err = ERR_INIT;

    (void)state;
    image->layers[0].size += 512;
    assert_fails(read_all(&image->layers[0], &err), err, ERR_FORMAT);
}

static void test_an_empty_blob(void **state)
{
    _cleanup_buf_ struct buf none = BUF_INIT;
    struct err err = ERR_INIT;

    (void)state;
    buf_append(&none, "", 0);
    _cleanup_image_ struct image *image = image_of(&none, 1, NULL);
    assert_works(read_all(&image->layers[0], &err), err);
}

static void test_what_is_no_archive(void **state)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err err = ERR_INIT;

    (void)state;
    for (int i = 0; i < 100; i++)
        buf_puts(&text, "this is not a tar archive, it is a text; ");
    _cleanup_image_ struct image *image = image_of(&text, 1, NULL);
    assert_fails(read_all(&image->layers[0], &err), err, ERR_FORMAT);
}

/* Control characters in a name are escaped. */
static void test_messages_are_printable(void **state)
{
    _cleanup_image_ struct image *image = image_with("../\x1b[2J\n", AE_IFREG, NULL);
    struct err err = ERR_INIT;

    (void)state;
    assert_fails(read_all(&image->layers[0], &err), err, ERR_FORMAT);
    assert_contains(err.msg, "\\x1b[2J\\x0a");
}

UNIT_SUITE(test_layer)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_names_are_cleaned),
        cmocka_unit_test(test_whiteouts),
        cmocka_unit_test(test_what_no_layer_may_hold),
        cmocka_unit_test(test_aufs_names),
        cmocka_unit_test(test_unchecked_skips),
        cmocka_unit_test(test_overlay_xattrs_go),
        cmocka_unit_test(test_owners),
        cmocka_unit_test(test_mode_bits),
        cmocka_unit_test(test_digest_of_what_follows_the_end),
        cmocka_unit_test(test_blob_digest),
        cmocka_unit_test(test_cut_archives),
        cmocka_unit_test(test_a_blob_that_is_shorter_than_said),
        cmocka_unit_test(test_an_empty_blob),
        cmocka_unit_test(test_what_is_no_archive),
        cmocka_unit_test(test_messages_are_printable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
