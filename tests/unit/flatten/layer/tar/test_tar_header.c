/* The bytes of a tar header correct what libarchive makes of it (tar_header.h). */
#include "flatten/layer/tar/tar_header.h"

#include "base/buf.h"
#include "flatten/stream/ustar.h"
#include "tests/unit/lib/unit.h"

#include <archive.h>
#include <string.h>

static void put_header(struct buf *out, const char *name, char type, const char *mode, size_t size)
{
    struct ustar h = {.type = {type}, .magic = "ustar", .version = {'0', '0'}};

    memcpy(h.name, name, strlen(name));
    memcpy(h.mode, mode, strlen(mode));
    ustar_put_octal(h.uid, sizeof(h.uid), 0);
    ustar_put_octal(h.gid, sizeof(h.gid), 0);
    ustar_put_octal(h.size, sizeof(h.size), size);
    ustar_put_octal(h.mtime, sizeof(h.mtime), 0);
    ustar_put_checksum(&h);
    buf_append(out, &h, sizeof(h));
}

static void put_record(struct buf *out, const char *key, const char *value)
{
    size_t body = strlen(key) + strlen(value) + 3, len = body + 2;

    assert_true(len >= 10 && len < 100);
    buf_printf(out, "%zu %s=%s\n", len, key, value);
}

static void put_extended(struct buf *out, const struct buf *records)
{
    put_header(out, "PaxHeaders/x", 'x', "0000644", records->len);
    buf_append(out, records->data, records->len);
    for (size_t i = ustar_padding(records->len); i > 0; i--)
        buf_putc(out, '\0');
}

/* Reads the first entry of the archive with libarchive, and corrects it. Ends with `look`. */
static void read_entry(const struct buf *tar,
                       void (*look)(struct archive_entry *, const struct tar_facts *, const void *),
                       const void *ctx)
{
    struct archive *a = archive_read_new();
    struct archive_entry *e;
    struct tar_facts facts;
    struct err err = ERR_INIT;

    assert_int_equal(archive_read_support_format_tar(a), ARCHIVE_OK);
    assert_int_equal(archive_read_open_memory(a, tar->data, tar->len), ARCHIVE_OK);
    assert_int_equal(archive_read_next_header(a, &e), ARCHIVE_OK);
    if (tar_header_correct((const unsigned char *)tar->data, tar->len, e, &facts, &err) < 0)
        fail_msg("%s", err.msg);
    look(e, &facts, ctx);
    archive_read_free(a);
}

static void look_at_mode(struct archive_entry *e, const struct tar_facts *facts, const void *ctx)
{
    (void)facts;
    assert_int_equal(archive_entry_perm(e), *(const unsigned *)ctx);
}

/* The entry has the mode, with and without an ACL before it. */
static void check_mode(const char *name, char type, const char *field, unsigned mode)
{
    static const char *const keys[] = {NULL, "SCHILY.acl.access", "SCHILY.acl.default"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        _cleanup_buf_ struct buf tar = BUF_INIT, records = BUF_INIT;
        if (keys[i]) {
            put_record(&records, keys[i], "user::rw-,user:u:rw-:1,group::r--,mask::rw-,other::r--");
            put_extended(&tar, &records);
        }
        put_header(&tar, name, type, field, 0);
        read_entry(&tar, look_at_mode, &mode);
    }
}

static void the_mode_is_the_headers_whatever_an_acl_says(void **state)
{
    (void)state;
    check_mode("f", '0', "0000664", 0664);
    check_mode("s", '0', "0004775", 04775);
    check_mode("d/", '5', "0001750", 01750);
}

static void a_mode_may_be_written_in_other_ways(void **state)
{
    (void)state;
    check_mode("f", '0', "   640 ", 0640);
    check_mode("f", '0', "0100751", 0751);
    check_mode("f", '0', "\x80\x01\x02\x03\x04\x05\x81\xa4", 0644);
}

static void look_at_xattrs(struct archive_entry *e, const struct tar_facts *facts, const void *ctx)
{
    const char *name;
    const void *value;
    size_t size;

    (void)facts, (void)ctx;
    assert_int_equal(archive_entry_xattr_reset(e), 1);
    assert_int_equal(archive_entry_xattr_next(e, &name, &value, &size), ARCHIVE_OK);
    assert_string_equal(name, "user.x");
    assert_int_equal(size, 1);
    assert_memory_equal(value, "2", 1);
}

static void xattrs_are_those_of_which_engines_know_the_form(void **state)
{
    static const char *const others[] = {"LIBARCHIVE.xattr.user.y", "RHT.security.selinux"};

    (void)state;
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        _cleanup_buf_ struct buf tar = BUF_INIT, records = BUF_INIT;
        put_record(&records, others[i], "MQ==");
        put_record(&records, "SCHILY.xattr.user.x", "2");
        put_extended(&tar, &records);
        put_header(&tar, "f", '0', "0000644", 0);
        read_entry(&tar, look_at_xattrs, NULL);
    }
}

static void look_at_acl(struct archive_entry *e, const struct tar_facts *facts, const void *ctx)
{
    (void)e;
    assert_int_equal(facts->acl, *(const bool *)ctx);
}

static void acls_that_engines_do_not_read_are_told(void **state)
{
    static const struct {
        const char *key, *value;
        bool acl;
    } records[] = {
        {"SCHILY.acl.access", "user::rw-,group::r--,other::r--", true},
        {"SCHILY.acl.default", "nonsense", true},
        {"SCHILY.acl.ace", "", true},
        {"SCHILY.xattr.system.posix_acl_access", "2", false},
        {"SCHILY.fflags", "nodump", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(records) / sizeof(*records); i++) {
        _cleanup_buf_ struct buf tar = BUF_INIT, text = BUF_INIT;
        put_record(&text, records[i].key, records[i].value);
        put_extended(&tar, &text);
        put_header(&tar, "f", '0', "0000644", 0);
        read_entry(&tar, look_at_acl, &records[i].acl);
    }
}

UNIT_SUITE(test_tar_header)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mode_is_the_headers_whatever_an_acl_says),
        cmocka_unit_test(a_mode_may_be_written_in_other_ways),
        cmocka_unit_test(xattrs_are_those_of_which_engines_know_the_form),
        cmocka_unit_test(acls_that_engines_do_not_read_are_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
