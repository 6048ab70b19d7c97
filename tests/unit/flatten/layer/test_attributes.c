#include "flatten/layer/attributes.h"

#include "tests/unit/lib/unit.h"

#include <archive.h>
#include <string.h>

static void test_packed_and_back(void **state)
{
    struct err err = ERR_INIT;
    struct archive_entry *e = archive_entry_new();
    const char *name;
    const void *value;
    size_t size;

    (void)state;
    archive_entry_set_filetype(e, AE_IFCHR);
    archive_entry_set_perm(e, 06751);
    archive_entry_set_uid(e, 4294967294);
    archive_entry_set_gid(e, 3000000);
    archive_entry_set_mtime(e, -7, 123456789);
    archive_entry_set_rdevmajor(e, 300);
    archive_entry_set_rdevminor(e, 70000);
    archive_entry_set_gname(e, "staff");
    archive_entry_xattr_add_entry(e, "user.a", "x\0y", 3);
    archive_entry_xattr_add_entry(e, "user.empty", "", 0);
    struct attributes *a = attributes_of(e, &err);
    assert_non_null(a);
    struct archive_entry *back = attributes_entry(a, &err);
    assert_non_null(back);
    assert_int_equal(archive_entry_mode(back), archive_entry_mode(e));
    assert_int_equal(archive_entry_uid(back), 4294967294);
    assert_int_equal(archive_entry_gid(back), 3000000);
    assert_int_equal(archive_entry_mtime(back), -7);
    assert_int_equal(archive_entry_mtime_nsec(back), 123456789);
    assert_int_equal(archive_entry_rdevmajor(back), 300);
    assert_int_equal(archive_entry_rdevminor(back), 70000);
    assert_null(archive_entry_uname(back));
    assert_string_equal(archive_entry_gname(back), "staff");
    assert_int_equal(archive_entry_xattr_reset(back), 2);
    while (archive_entry_xattr_next(back, &name, &value, &size) == ARCHIVE_OK)
        if (strcmp(name, "user.a") == 0)
            assert_bytes(value, size, "x\0y");
        else
            assert_int_equal(size, 0);
    archive_entry_free(e);
    archive_entry_free(back);
    attributes_free(a);
}

UNIT_SUITE(test_attributes)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_packed_and_back)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
