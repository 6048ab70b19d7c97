#include "flatten/layer/tar/pax.h"

#include "flatten/stream/ustar.h"
#include "tests/unit/lib/unit.h"

#include <archive.h>
#include <limits.h>
#include <string.h>

static struct archive_entry *entry_of(const char *path, mode_t type)
{
    struct archive_entry *e = archive_entry_new();

    archive_entry_set_pathname(e, path);
    archive_entry_set_filetype(e, type);
    archive_entry_set_perm(e, 04751);
    archive_entry_set_mtime(e, 1500000000, 0);
    return e;
}

static void write_header(struct archive_entry *e, struct buf *out)
{
    struct err err = ERR_INIT;

    assert_works(pax_header(e, out, &err), err);
    assert_int_equal(out->len % USTAR_BLOCK, 0);
}

/* Reads the header with libarchive, an independent reader. */
static struct archive *read_back(const struct buf *tar, struct archive_entry **out)
{
    struct archive *a = archive_read_new();

    archive_read_support_format_tar(a);
    assert_int_equal(archive_read_open_memory(a, tar->data, tar->len), ARCHIVE_OK);
    int rc = archive_read_next_header(a, out);
    assert_true(rc == ARCHIVE_OK || rc == ARCHIVE_WARN);
    return a;
}

static const char *find(const struct buf *tar, const char *record)
{
    return memmem(tar->data, tar->len, record, strlen(record));
}

/* Values that fit into ustar need no records; the format fixes these bytes. */
static void test_plain(void **state)
{
    _cleanup_buf_ struct buf tar = BUF_INIT;
    struct archive_entry *e = entry_of("usr/bin/su", AE_IFREG);

    (void)state;
    archive_entry_set_size(e, 0123);
    archive_entry_set_uid(e, 07777777);
    archive_entry_set_gid(e, 7);
    archive_entry_set_uname(e, "root");
    write_header(e, &tar);
    assert_int_equal(tar.len, USTAR_BLOCK);
    assert_string_equal(tar.data, "usr/bin/su");
    assert_memory_equal(tar.data + 100,
                        "0004751\0"
                        "7777777\0"
                        "0000007\0"
                        "00000000123\0"
                        "13132027400\0",
                        48);
    assert_memory_equal(tar.data + 156, "0", 2);
    assert_memory_equal(tar.data + 257,
                        "ustar\0"
                        "00"
                        "root\0",
                        13);
    archive_entry_free(e);
}

static void test_kinds(void **state)
{
    static const struct {
        mode_t type;
        char flag;
    } kinds[] = {{AE_IFREG, '0'}, {AE_IFLNK, '2'}, {AE_IFCHR, '3'},
                 {AE_IFBLK, '4'}, {AE_IFDIR, '5'}, {AE_IFIFO, '6'}};

    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        _cleanup_buf_ struct buf tar = BUF_INIT;
        struct archive_entry *e = entry_of("x", kinds[i].type);
        archive_entry_set_rdevmajor(e, 300);
        archive_entry_set_rdevminor(e, 70000);
        if (kinds[i].type == AE_IFLNK)
            archive_entry_set_symlink(e, "to");
        write_header(e, &tar);
        assert_int_equal(tar.data[156], kinds[i].flag);
        assert_string_equal(tar.data, kinds[i].type == AE_IFDIR ? "x/" : "x");
        bool device = kinds[i].type == AE_IFCHR || kinds[i].type == AE_IFBLK;
        assert_string_equal(tar.data + 329, device ? "0000454" : "");
        assert_string_equal(tar.data + 337, device ? "0210560" : "");
        archive_entry_free(e);
    }
}

static void test_hard_link(void **state)
{
    _cleanup_buf_ struct buf tar = BUF_INIT;
    struct archive_entry *e = entry_of("x", AE_IFREG);

    (void)state;
    archive_entry_set_size(e, 99);
    archive_entry_set_hardlink(e, "target");
    write_header(e, &tar);
    assert_int_equal(tar.data[156], '1');
    assert_string_equal(tar.data + 157, "target");
    assert_string_equal(tar.data + 124, "00000000000");
    archive_entry_free(e);
}

static void test_what_needs_records(void **state)
{
    static char name[300], target[200];
    _cleanup_buf_ struct buf tar = BUF_INIT;
    struct archive_entry *e = entry_of(memset(name, 'n', sizeof(name) - 1), AE_IFREG), *got;

    (void)state;
    archive_entry_set_hardlink(e, memset(target, 't', sizeof(target) - 1));
    archive_entry_set_uid(e, 010000000);
    archive_entry_set_gid(e, 4294967294);
    archive_entry_set_mtime(e, 1500000000, 120000000);
    archive_entry_set_uname(e, "a-user-with-a-name-of-more-than-32-bytes");
    write_header(e, &tar);
    assert_non_null(find(&tar, " mtime=1500000000.12\n"));
    assert_null(find(&tar, "hdrcharset"));
    struct archive *a = read_back(&tar, &got);
    assert_string_equal(archive_entry_pathname(got), name);
    assert_string_equal(archive_entry_hardlink(got), target);
    assert_int_equal(archive_entry_uid(got), 010000000);
    assert_int_equal(archive_entry_gid(got), 4294967294);
    assert_int_equal(archive_entry_mtime_nsec(got), 120000000);
    assert_string_equal(archive_entry_uname(got), "a-user-with-a-name-of-more-than-32-bytes");
    archive_read_free(a);
    archive_entry_free(e);
}

static void test_huge(void **state)
{
    _cleanup_buf_ struct buf tar = BUF_INIT;
    struct archive_entry *e = entry_of("huge", AE_IFREG), *got;

    (void)state;
    archive_entry_set_size(e, 8589934592);
    write_header(e, &tar);
    assert_non_null(find(&tar, "19 size=8589934592\n"));
    struct archive *a = read_back(&tar, &got);
    assert_true(archive_entry_size(got) == 8589934592);
    archive_read_free(a);
    archive_entry_free(e);
}

/* A name of exactly the field's width has no NUL, and needs no record. */
static void test_the_longest_plain_name(void **state)
{
    char name[102];

    (void)state;
    for (size_t len = 99; len <= 101; len++) {
        _cleanup_buf_ struct buf tar = BUF_INIT;
        memset(name, 'n', len);
        name[len] = '\0';
        struct archive_entry *e = entry_of(name, AE_IFREG), *got;
        write_header(e, &tar);
        assert_int_equal(tar.len, len <= 100 ? USTAR_BLOCK : 3 * USTAR_BLOCK);
        struct archive *a = read_back(&tar, &got);
        assert_string_equal(archive_entry_pathname(got), name);
        archive_read_free(a);
        archive_entry_free(e);
    }
}

static void check_mtime(time_t seconds, long fraction, const char *record)
{
    _cleanup_buf_ struct buf tar = BUF_INIT;
    struct archive_entry *e = entry_of("x", AE_IFREG), *got;

    archive_entry_set_mtime(e, seconds, fraction);
    write_header(e, &tar);
    if (record)
        assert_non_null(find(&tar, record));
    else
        assert_int_equal(tar.len, USTAR_BLOCK);
    struct archive *a = read_back(&tar, &got);
    if (seconds >= 0 ||
        fraction == 0) { /* libarchive reads negative times with a fraction differently */
        assert_int_equal(archive_entry_mtime(got), seconds);
        assert_int_equal(archive_entry_mtime_nsec(got), fraction);
    }
    archive_read_free(a);
    archive_entry_free(e);
}

static void test_times(void **state)
{
    (void)state;
    check_mtime(0, 0, NULL);
    check_mtime(8589934591, 0, NULL);
    check_mtime(8589934592, 0, " mtime=8589934592\n");
    check_mtime(0, 1, " mtime=0.000000001\n");
    check_mtime(10, 100000000, " mtime=10.1\n");
    check_mtime(-5, 0, " mtime=-5\n");
    check_mtime(-100, 0, " mtime=-100\n");
    check_mtime(-1, 500000000, " mtime=-0.5\n");
    check_mtime(-2, 999999999, " mtime=-1.000000001\n");
}

static void test_names_beyond_ascii(void **state)
{
    static const struct {
        const char *name;
        bool binary;
    } names[] = {{"caf\xc3\xa9", false}, {"caf\xe9", true}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        _cleanup_buf_ struct buf tar = BUF_INIT;
        struct archive_entry *e = entry_of("link", AE_IFLNK), *got;
        archive_entry_set_symlink(e, names[i].name);
        write_header(e, &tar);
        assert_int_equal(find(&tar, "hdrcharset=BINARY") != NULL, names[i].binary);
        struct archive *a = read_back(&tar, &got);
        assert_string_equal(archive_entry_symlink(got), names[i].name);
        archive_read_free(a);
        archive_entry_free(e);
    }
}

/* Names and values are written unchanged: nothing is encoded, and a value may have any bytes. */
static void test_xattrs(void **state)
{
    static const char value[] = "a\0b=\n\xff";
    _cleanup_buf_ struct buf tar = BUF_INIT;
    struct archive_entry *e = entry_of("x", AE_IFREG);

    (void)state;
    archive_entry_xattr_add_entry(e, "user.na\xc3\xafve \xff%41", value, sizeof(value) - 1);
    archive_entry_xattr_add_entry(e, "user.empty", "", 0);
    write_header(e, &tar);
    const char *found = find(&tar, "SCHILY.xattr.user.na\xc3\xafve \xff%41=");
    assert_non_null(found);
    assert_memory_equal(found + strlen("SCHILY.xattr.user.na\xc3\xafve \xff%41="), value,
                        sizeof(value) - 1);
    assert_non_null(find(&tar, "28 SCHILY.xattr.user.empty=\n"));
    archive_entry_free(e);
}

/* A record's length counts its own digits, also where that adds one more digit. */
static void test_record_lengths(void **state)
{
    static char value[1100];

    (void)state;
    memset(value, 'v', sizeof(value));
    for (size_t size = 0; size < sizeof(value); size++) {
        _cleanup_buf_ struct buf tar = BUF_INIT;
        struct archive_entry *e = entry_of("x", AE_IFREG), *got;
        const char *name;
        const void *read;
        size_t read_size;
        archive_entry_xattr_add_entry(e, "user.a", value, size);
        write_header(e, &tar);
        struct archive *a = read_back(&tar, &got);
        assert_int_equal(archive_entry_xattr_reset(got), 1);
        archive_entry_xattr_next(got, &name, &read, &read_size);
        assert_int_equal(read_size, size);
        archive_read_free(a);
        archive_entry_free(e);
    }
}

static void test_what_tar_cannot_say(void **state)
{
    _cleanup_buf_ struct buf tar = BUF_INIT;
    struct err err = ERR_INIT;
    struct archive_entry *e = entry_of("socket", AE_IFSOCK);

    (void)state;
    assert_fails(pax_header(e, &tar, &err), err, ERR_FORMAT);
    archive_entry_free(e);
    e = entry_of("device", AE_IFCHR);
    archive_entry_set_rdevmajor(e, 1 << 21);
    assert_fails(pax_header(e, &tar, &err), err, ERR_FORMAT);
    archive_entry_free(e);
    e = archive_entry_new();
    archive_entry_set_filetype(e, AE_IFREG);
    assert_fails(pax_header(e, &tar, &err), err, ERR_FORMAT);
    archive_entry_free(e);
    assert_int_equal(tar.len, 0);
}

UNIT_SUITE(test_pax)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_hard_link),
        cmocka_unit_test(test_what_needs_records),
        cmocka_unit_test(test_huge),
        cmocka_unit_test(test_the_longest_plain_name),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_names_beyond_ascii),
        cmocka_unit_test(test_xattrs),
        cmocka_unit_test(test_record_lengths),
        cmocka_unit_test(test_what_tar_cannot_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
