#include "flatten/squash/listing.h"
#include "tests/unit/lib/tar_image.h"
#include "tests/unit/lib/unit.h"

/* An entry of a layer; defaults: mode 0644, owned by root, time 1. */
struct item {
    const char *path;
    mode_t type, perm;
    const char *content; /* files; of symbolic links the target, of hard links (type 0) as well */
    la_int64_t uid, gid;
    long nsec;
    const char *xattr; /* the value of user.x */
    dev_t rdev;
};

static void put(struct archive *a, const struct item *i)
{
    struct archive_entry *e = archive_entry_new();
    size_t len = i->type == AE_IFREG && i->content ? strlen(i->content) : 0;

    archive_entry_set_pathname(e, i->path);
    archive_entry_set_filetype(e, i->type ? i->type : AE_IFREG);
    archive_entry_set_perm(e, i->perm ? i->perm : 0644);
    archive_entry_set_uid(e, i->uid);
    archive_entry_set_gid(e, i->gid);
    archive_entry_set_mtime(e, 1, i->nsec);
    archive_entry_set_rdev(e, i->rdev);
    archive_entry_set_size(e, (la_int64_t)len);
    if (i->type == AE_IFLNK)
        archive_entry_set_symlink(e, i->content);
    if (!i->type)
        archive_entry_set_hardlink(e, i->content);
    if (i->xattr)
        archive_entry_xattr_add_entry(e, "user.x", i->xattr, strlen(i->xattr));
    assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
    if (len)
        assert_int_equal(archive_write_data(a, i->content, len), len);
    archive_entry_free(e);
}

static struct listing *listing_like(const struct listing *like, const struct item *items,
                                    size_t count)
{
    struct merged_options options = {.semantics = SEMANTICS_OVERLAY};
    _cleanup_buf_ struct buf tar = BUF_INIT;
    struct archive *a = tar_begin(&tar);
    struct err err = ERR_INIT;

    for (size_t i = 0; i < count; i++)
        put(a, &items[i]);
    archive_write_free(a);
    _cleanup_image_ struct image *image = image_of(&tar, 1, NULL);
    struct listing *l = listing_new(image, &options, like, &err);
    if (!l)
        fail_msg("%s", err.msg);
    return l;
}

static struct listing *listing_of(const struct item *items, size_t count)
{
    return listing_like(NULL, items, count);
}

struct seen {
    struct buf text;
};

static void note(void *ctx, const char *path, const char *a, const char *b)
{
    struct seen *s = ctx;

    buf_printf(&s->text, "%s|%s|%s\n", path, a ? a : "", b ? b : "");
}

/* Compares one entry each; what differs, in words. */
static char *difference(const struct item *x, const struct item *y)
{
    _cleanup_listing_ struct listing *a = listing_of(x, 1);
    _cleanup_listing_ struct listing *b = listing_of(y, 1);
    struct seen seen = {{0}};
    struct err err = ERR_INIT;

    buf_append(&seen.text, "", 0);
    size_t count = listing_compare(a, b, note, &seen);
    assert_int_equal(count, seen.text.len ? 1 : 0);
    /* The differences are the same if the second listing shares records with the first. */
    _cleanup_listing_ struct listing *sharing = listing_like(a, y, 1);
    struct seen again = {{0}};
    buf_append(&again.text, "", 0);
    assert_int_equal(listing_compare(a, sharing, note, &again), count);
    assert_string_equal(again.text.data, seen.text.data);
    buf_free(&again.text);
    return buf_take(&seen.text, &err);
}

static void test_everything_counts(void **state)
{
    static const struct item base = {.path = "f", .type = AE_IFREG, .content = "abc"};
    static const struct item others[] = {
        {.path = "f", .type = AE_IFREG, .content = "abd"},
        {.path = "f", .type = AE_IFREG, .content = "abcd"},
        {.path = "f", .type = AE_IFREG, .content = "abc", .perm = 0600},
        {.path = "f", .type = AE_IFREG, .content = "abc", .perm = 04644},
        {.path = "f", .type = AE_IFREG, .content = "abc", .uid = 1},
        {.path = "f", .type = AE_IFREG, .content = "abc", .gid = 4000000000},
        {.path = "f", .type = AE_IFREG, .content = "abc", .nsec = 1},
        {.path = "f", .type = AE_IFREG, .content = "abc", .xattr = "v"},
        {.path = "f", .type = AE_IFDIR},
        {.path = "f", .type = AE_IFLNK, .content = "abc"},
        {.path = "f", .type = AE_IFIFO},
    };

    (void)state;
    _cleanup_free_ char *none = difference(&base, &base);
    assert_string_equal(none, "");
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        _cleanup_free_ char *text = difference(&base, &others[i]);
        if (strncmp(text, "f|file 3 bytes ", 15) != 0)
            fail_msg("%zu: '%s'", i, text);
    }
}

static void test_values_of_each_kind(void **state)
{
    static const struct item pairs[][2] = {
        {{.path = "l", .type = AE_IFLNK, .content = "x"},
         {.path = "l", .type = AE_IFLNK, .content = "y"}},
        {{.path = "c", .type = AE_IFCHR, .rdev = 0x101},
         {.path = "c", .type = AE_IFCHR, .rdev = 0x102}},
        {{.path = "c", .type = AE_IFCHR, .rdev = 0x101},
         {.path = "c", .type = AE_IFBLK, .rdev = 0x101}},
        {{.path = "f", .type = AE_IFREG, .xattr = "a"},
         {.path = "f", .type = AE_IFREG, .xattr = "b"}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
        _cleanup_free_ char *text = difference(&pairs[i][0], &pairs[i][1]);
        assert_int_not_equal(strlen(text), 0);
    }
}

static void test_missing_paths(void **state)
{
    static const struct item left[] = {{.path = "a", .type = AE_IFREG},
                                       {.path = "c", .type = AE_IFREG}};
    static const struct item right[] = {{.path = "b", .type = AE_IFREG},
                                        {.path = "c", .type = AE_IFREG}};
    _cleanup_listing_ struct listing *a = listing_of(left, 2);
    _cleanup_listing_ struct listing *b = listing_of(right, 2);
    _cleanup_listing_ struct listing *none = listing_of(NULL, 0);
    struct seen seen = {{0}};

    (void)state;
    assert_int_equal(listing_count(a), 2);
    assert_int_equal(listing_count(none), 0);
    assert_int_equal(listing_compare(a, b, note, &seen), 2);
    assert_int_equal(strncmp(seen.text.data, "a|file", 6), 0);
    assert_contains(seen.text.data, "\nb||file");
    buf_free(&seen.text);
    assert_int_equal(listing_compare(none, a, note, &seen), 2);
    assert_int_equal(listing_compare(none, none, note, &seen), 0);
    buf_free(&seen.text);
}

/* The order of hard links does not matter, nor which of them is the file. */
static void test_hard_links(void **state)
{
    static const struct item one[] = {{.path = "a", .type = AE_IFREG, .content = "x"},
                                      {.path = "b", .content = "a"}};
    static const struct item other[] = {{.path = "b", .type = AE_IFREG, .content = "x"},
                                        {.path = "a", .content = "b"}};
    static const struct item copies[] = {{.path = "a", .type = AE_IFREG, .content = "x"},
                                         {.path = "b", .type = AE_IFREG, .content = "x"}};
    _cleanup_listing_ struct listing *a = listing_of(one, 2);
    _cleanup_listing_ struct listing *b = listing_of(other, 2);
    _cleanup_listing_ struct listing *c = listing_of(copies, 2);
    struct seen seen = {{0}};

    (void)state;
    assert_int_equal(listing_compare(a, b, note, &seen), 0);
    assert_int_equal(listing_compare(a, c, note, &seen), 2);
    assert_contains(seen.text.data, "linked with a");
    buf_free(&seen.text);
}

/* Links whose headers change the file, in a listing that shares records with another. */
static void test_shared_links(void **state)
{
    static const struct item plain[] = {
        {.path = "a", .type = AE_IFREG, .perm = 0644, .content = "x"},
        {.path = "b", .perm = 0644, .content = "a"},
        {.path = "c", .perm = 0644, .content = "a"},
        {.path = "s", .type = AE_IFLNK, .content = "t"}};
    struct item changed[4];
    _cleanup_listing_ struct listing *a = listing_of(plain, 4);
    _cleanup_listing_ struct listing *twin = listing_like(a, plain, 4);
    struct seen seen = {{0}};

    (void)state;
    memcpy(changed, plain, sizeof(plain));
    changed[2].perm = 0600; /* the last header applies to all three */
    _cleanup_listing_ struct listing *b = listing_like(a, changed, 4);
    assert_int_equal(listing_compare(a, twin, note, &seen), 0);
    assert_int_equal(listing_compare(a, b, note, &seen), 3);
    assert_contains(seen.text.data, "c|file 1 byte ");
    buf_truncate(&seen.text, 0);
    changed[1].perm = 0600;
    changed[2].perm = 0644; /* the old mode again */
    _cleanup_listing_ struct listing *back = listing_like(a, changed, 4);
    assert_int_equal(listing_compare(a, back, note, &seen), 0);
    buf_free(&seen.text);
}

UNIT_SUITE(test_listing)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything_counts), cmocka_unit_test(test_values_of_each_kind),
        cmocka_unit_test(test_missing_paths),     cmocka_unit_test(test_hard_links),
        cmocka_unit_test(test_shared_links),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
