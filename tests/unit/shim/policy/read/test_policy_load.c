/* Policy files on disk: their order, owners and modes. */
#include "tests/unit/lib/unit.h"

#include "shim/policy/read/policy_read.h"
#include "tests/unit/lib/tempdir.h"

#include <sys/stat.h>

static char *at(void **state, const char *name)
{
    const struct tempdir *dir = *state;
    char *path = strf("%s/%s", dir->path, name);

    assert_non_null(path);
    return path;
}

static void put(void **state, const char *name, const char *text)
{
    _cleanup_free_ char *path = at(state, name);
    FILE *f = fopen(path, "we");

    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, 0644), 0);
}

static int open_policy(void **state, const char *name, struct policy **out, struct err *err)
{
    _cleanup_free_ char *path = at(state, name);

    *out = policy_new(err);
    assert_non_null(*out);
    return policy_open(*out, path, err);
}

static void assert_refused(void **state, enum err_kind kind, const char *says)
{
    _cleanup_policy_ struct policy *p = NULL;
    struct err err = ERR_INIT;

    assert_fails(open_policy(state, "policy.json", &p, &err), err, kind);
    assert_contains(err.msg, says);
    assert_contains(err.msg, "policy.json");
    assert_int_equal(p->mode, POLICY_ENFORCE);
}

static void assert_link_refused(void **state, const char *says)
{
    _cleanup_policy_ struct policy *p = NULL;
    struct err err = ERR_INIT;

    assert_fails(open_policy(state, "policy.json", &p, &err), err, ERR_POLICY);
    assert_contains(err.msg, says);
    assert_int_equal(p->mode, POLICY_ENFORCE);
}

static const char minimal[] = "{\"version\":1,\"runtime\":{\"paths\":[\"base\"]}} // ends\n";

static void test_fragments_in_name_order(void **state)
{
    _cleanup_policy_ struct policy *p = NULL;
    _cleanup_free_ char *directory = at(state, "policy.d");
    struct err err = ERR_INIT;

    put(state, "policy.json", minimal);
    assert_int_equal(mkdir(directory, 0755), 0);
    put(state, "policy.d/20.json", "{\"version\":1,\"runtime\":{\"paths\":[\"twenty\"]}}");
    put(state, "policy.d/10.json", "{\"version\":1,\"runtime\":{\"paths\":[\"ten\"]}}");
    put(state, "policy.d/.30.json", "not JSON");
    put(state, "policy.d/40.json.bak", "not JSON");
    assert_works(open_policy(state, "policy.json", &p, &err), err);
    assert_int_equal(p->file_count, 3);
    assert_string_equal(p->runtime_paths.items[0], "twenty");
}

static void test_a_broken_fragment_breaks_it_but_not_the_runtime(void **state)
{
    _cleanup_policy_ struct policy *p = NULL;
    _cleanup_free_ char *directory = at(state, "policy.d");
    struct err err = ERR_INIT;

    put(state, "policy.json",
        "{\"version\":1,\"mode\":\"off\",\"runtime\":{\"paths\":[\"base\"]}}");
    assert_int_equal(mkdir(directory, 0755), 0);
    put(state, "policy.d/x.json", "{\"version\":1,\n}}");
    assert_fails(open_policy(state, "policy.json", &p, &err), err, ERR_FORMAT);
    assert_contains(err.msg, "policy.d/x.json:2:");
    assert_string_equal(p->runtime_paths.items[0], "base");
    assert_int_equal(p->mode, POLICY_ENFORCE);
}

static void test_missing(void **state)
{
    assert_refused(state, ERR_SYSTEM, "No such file or directory");
}

static void test_syntax_and_duplicates(void **state)
{
    put(state, "policy.json", "{\n  \"version\": 1,\n  \"runtime\" {}\n}\n");
    assert_refused(state, ERR_FORMAT, "policy.json:3:");
    put(state, "policy.json", "{\"version\":1,\"version\":1}");
    assert_refused(state, ERR_FORMAT, "given twice");
    put(state, "policy.json", "");
    assert_refused(state, ERR_FORMAT, "policy.json:1:1:");
}

static void test_writable_by_others(void **state)
{
    _cleanup_free_ char *path = at(state, "policy.json");

    put(state, "policy.json", minimal);
    assert_int_equal(chmod(path, 0664), 0);
    assert_refused(state, ERR_POLICY, "writable by group or others");
    assert_int_equal(chmod(path, 0646), 0);
    assert_refused(state, ERR_POLICY, "writable by group or others");
}

static void test_in_a_directory_of_others(void **state)
{
    struct tempdir *dir = *state;
    _cleanup_policy_ struct policy *p = NULL;
    struct err err = ERR_INIT;

    put(state, "policy.json", minimal);
    assert_int_equal(chmod(dir->path, 0777), 0);
    assert_refused(state, ERR_POLICY, "in a directory that is writable");
    assert_int_equal(chmod(dir->path, 01777), 0);
    assert_works(open_policy(state, "policy.json", &p, &err), err);
    assert_int_equal(chmod(dir->path, 0755), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(dir->path, 12345, 12345), 0);
        assert_refused(state, ERR_POLICY, "in a directory that is writable");
    }
}

static void test_of_others(void **state)
{
    _cleanup_free_ char *path = at(state, "policy.json");

    if (geteuid() != 0)
        skip();
    put(state, "policy.json", minimal);
    assert_int_equal(chown(path, 12345, 0), 0);
    assert_refused(state, ERR_POLICY, "not owned by root");
}

static void test_not_a_file(void **state)
{
    _cleanup_free_ char *path = at(state, "policy.json");

    assert_int_equal(mkfifo(path, 0600), 0);
    assert_refused(state, ERR_POLICY, "not a regular file");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_refused(state, ERR_POLICY, "not a regular file");
}

static void test_too_large(void **state)
{
    struct buf text = BUF_INIT;

    buf_puts(&text, "{\"version\":1}");
    while (text.len <= POLICY_FILE_BYTES)
        buf_puts(&text, "                                                                ");
    put(state, "policy.json", text.data);
    buf_free(&text);
    assert_refused(state, ERR_LIMIT, "larger than 1048576 bytes");
}

static void test_links_are_refused(void **state)
{
    _cleanup_free_ char *path = at(state, "policy.json");
    _cleanup_free_ char *directory = at(state, "policy.d");
    _cleanup_free_ char *fragment = at(state, "policy.d/x.json");

    put(state, "real", minimal);
    assert_int_equal(symlink("real", path), 0);
    assert_refused(state, ERR_POLICY, "policy.json: a symbolic link");
    assert_int_equal(unlink(path), 0);
    put(state, "policy.json", minimal);
    assert_int_equal(symlink("nowhere", directory), 0);
    assert_link_refused(state, "policy.d: a symbolic link");
    assert_int_equal(unlink(directory), 0);
    assert_int_equal(mkdir(directory, 0755), 0);
    assert_int_equal(symlink("../real", fragment), 0);
    assert_link_refused(state, "policy.d/x.json: a symbolic link");
}

static void test_the_directory_may_be_a_link(void **state)
{
    _cleanup_free_ char *directory = at(state, "real");
    _cleanup_free_ char *link = at(state, "link");
    _cleanup_policy_ struct policy *p = NULL;
    struct err err = ERR_INIT;

    assert_int_equal(mkdir(directory, 0755), 0);
    assert_int_equal(symlink("real", link), 0);
    put(state, "real/policy.json", minimal);
    assert_works(open_policy(state, "link/policy.json", &p, &err), err);
}

#define WITH_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, tempdir_make, tempdir_remove)

UNIT_SUITE(test_policy_load)
{
    const struct CMUnitTest tests[] = {
        WITH_DIRECTORY(test_fragments_in_name_order),
        WITH_DIRECTORY(test_a_broken_fragment_breaks_it_but_not_the_runtime),
        WITH_DIRECTORY(test_missing),
        WITH_DIRECTORY(test_syntax_and_duplicates),
        WITH_DIRECTORY(test_writable_by_others),
        WITH_DIRECTORY(test_in_a_directory_of_others),
        WITH_DIRECTORY(test_of_others),
        WITH_DIRECTORY(test_not_a_file),
        WITH_DIRECTORY(test_too_large),
        WITH_DIRECTORY(test_links_are_refused),
        WITH_DIRECTORY(test_the_directory_may_be_a_link),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
