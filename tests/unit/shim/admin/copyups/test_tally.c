#include "tests/unit/lib/unit.h"

#include "shim/admin/copyups/growth.h"
#include "shim/admin/copyups/tally.h"

static void add(struct tally *t, struct tally_directory *to, const char *path, enum change change,
                uint64_t disk, uint64_t shared)
{
    _cleanup_free_ char *copy = strdup(path);
    const struct tally_file file = {
        .path = copy, .change = change, .size = disk - 1, .disk = disk, .shared = shared};

    tally_add(t, &file);
    tally_directory_add_file(to, &file);
}

static void end(struct tally *t, struct tally_directory *to, struct tally_directory *of,
                const char *path)
{
    _cleanup_free_ char *copy = strdup(path);

    of->path = copy;
    tally_directory_end(t, of);
    if (to)
        tally_directory_add(to, of);
}

static void test_sums(void **state)
{
    _cleanup_tally_ struct tally t;
    struct tally_directory root = {0};
    struct err err = ERR_INIT;

    (void)state;
    assert_works(tally_begin(&t, 2, 10, &err), err);
    add(&t, &root, "/a", CHANGE_COPIED, 4096, 0);
    add(&t, &root, "/b", CHANGE_COPIED, 8192, 1024);
    add(&t, &root, "/c", CHANGE_NEW, 512, 512);
    add(&t, &root, "/d", CHANGE_REPLACED, 1024, 0);
    assert_int_equal(t.sums[CHANGE_COPIED].files, 2);
    assert_int_equal(t.sums[CHANGE_COPIED].disk, 12288);
    assert_int_equal(t.sums[CHANGE_COPIED].size, 12286);
    assert_int_equal(t.reflinked.files, 1);
    assert_int_equal(t.reflinked.disk, 1024);
    assert_int_equal(t.layers[0].files, 2); /* not what was replaced */
    assert_int_equal(t.layers[1].files, 0);
    assert_int_equal(tally_all(&t).disk, 13824);
    assert_int_equal(tally_all(&t).disk, t.disk);
    assert_int_equal(root.sum.files, 4);
    assert_int_equal(root.hidden, 13312);
}

/* Only the largest are kept, the largest first; new files are not named. */
static void test_largest(void **state)
{
    _cleanup_tally_ struct tally t;
    struct tally_directory root = {0};
    struct err err = ERR_INIT;
    char path[16];

    (void)state;
    assert_works(tally_begin(&t, 1, 3, &err), err);
    for (unsigned i = 1; i <= 100; i++) {
        snprintf(path, sizeof(path), "/%u", i);
        add(&t, &root, path, i % 2 ? CHANGE_COPIED : CHANGE_NEW, i * 512, 0);
    }
    assert_int_equal(t.file_count, 3);
    assert_string_equal(t.files[0].path, "/99");
    assert_string_equal(t.files[2].path, "/95");
    assert_int_equal(t.sums[CHANGE_NEW].files, 50);
}

/* A directory with nearly everything in one directory is left out. */
static void test_directories(void **state)
{
    _cleanup_tally_ struct tally t;
    struct tally_directory root = {0}, cache = {0}, torch = {0}, pip = {0}, empty = {0};
    struct err err = ERR_INIT;

    (void)state;
    assert_works(tally_begin(&t, 1, 10, &err), err);
    add(&t, &torch, "/cache/torch/x", CHANGE_NEW, 8000, 0);
    end(&t, &cache, &torch, "/cache/torch");
    add(&t, &pip, "/cache/pip/x", CHANGE_NEW, 2000, 0);
    end(&t, &cache, &pip, "/cache/pip");
    end(&t, &cache, &empty, "/cache/empty");
    end(&t, &root, &cache, "/cache");
    end(&t, NULL, &root, "/");
    assert_int_equal(t.largest_count, 3);
    assert_string_equal(t.largest[0].path, "/cache");
    assert_int_equal(t.largest[0].sum.disk, 10000);
    assert_string_equal(t.largest[1].path, "/cache/torch");
    assert_string_equal(t.largest[2].path, "/cache/pip");
}

/* The deepest of the directories that have grown most. */
static void test_growth(void **state)
{
    char root[] = "/", cache[] = "/cache", logs[] = "/logs";
    struct tally_directory old[] = {{.path = root, .sum = {1, 5000, 5000}},
                                    {.path = logs, .sum = {1, 4000, 4000}}};
    struct tally_directory new[] = {{.path = root, .sum = {2, 9000, 9000}},
                                    {.path = logs, .sum = {1, 4500, 4500}},
                                    {.path = cache, .sum = {1, 4000, 4000}}};
    const struct tally before = {.largest = old, .largest_count = 2},
                       now = {.largest = new, .largest_count = 3};
    uint64_t by;

    (void)state;
    assert_ptr_equal(growth_find(&before, &now, &by), &new[2]);
    assert_int_equal(by, 4000);
    assert_null(growth_find(&now, &before, &by));
    assert_null(growth_find(&now, &now, &by));
    assert_int_equal(by, 0);
}

UNIT_SUITE(test_tally)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_largest),
        cmocka_unit_test(test_directories),
        cmocka_unit_test(test_growth),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
