/* A walk by several threads: each name once, and threads in directories of their own. */
#include "tests/unit/lib/tempdir.h"
#include "tests/unit/lib/unit.h"

#include "base/cleanup.h"
#include "shim/stage/copy/tree_walk.h"

#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>

enum { DIRECTORIES = TREE_THREADS, NAMES = 512 };

struct seen {
    atomic_uint directories, entries;
    atomic_uint inside[DIRECTORIES]; /* threads */
    atomic_uint together;            /* visits while another thread was in the directory */
};

static void make_tree(const struct tempdir *dir)
{
    char name[32];

    assert_int_equal(mknodat(dir->fd, "0.file", S_IFREG | 0644, 0), 0);
    for (int i = 0; i < DIRECTORIES; i++) {
        snprintf(name, sizeof(name), "%d", i);
        assert_int_equal(mkdirat(dir->fd, name, 0755), 0);
        for (int j = 0; j < NAMES; j++) {
            snprintf(name, sizeof(name), "%d/%d", i, j);
            assert_int_equal(linkat(dir->fd, "0.file", dir->fd, name, 0), 0);
        }
    }
}

static int see_directory(void *context, struct tree_thread *thread, const struct tree_entry *entry,
                         struct err *err)
{
    struct seen *seen = context;

    (void)thread, (void)entry, (void)err;
    atomic_fetch_add(&seen->directories, 1);
    return 0;
}

static int see_entry(void *context, struct tree_thread *thread, const struct tree_entry *entry,
                     struct err *err)
{
    static const struct timespec moment = {.tv_nsec = 100 * 1000};
    struct seen *seen = context;
    unsigned directory = strchr(entry->path, '/') ? (unsigned)atoi(entry->path) : 0;

    (void)thread, (void)err;
    atomic_fetch_add(&seen->entries, 1);
    if (atomic_fetch_add(&seen->inside[directory], 1) > 0)
        atomic_fetch_add(&seen->together, 1);
    nanosleep(&moment, NULL);
    atomic_fetch_sub(&seen->inside[directory], 1);
    return 0;
}

static void test_apart(void **state)
{
    const struct tempdir *dir = *state;
    struct seen seen = {0};
    const struct tree_visitor visitor = {see_directory, see_entry, &seen};
    struct err err = ERR_INIT;

    make_tree(dir);
    assert_works(tree_walk(dir->fd, NULL, &visitor, &err), err);
    assert_int_equal(seen.directories, DIRECTORIES + 1);
    assert_int_equal(seen.entries, DIRECTORIES * NAMES + 1);
    assert_true(seen.together < seen.entries / 2);
}

static int sum_entry(void *context, struct tree_thread *thread, const struct tree_entry *entry,
                     struct err *err)
{
    static const struct timespec moment = {.tv_nsec = 100 * 1000};
    struct seen *seen = context;

    (void)thread, (void)err;
    nanosleep(&moment, NULL); /* names are read faster than they are visited */
    atomic_fetch_add(&seen->entries, 1);
    atomic_fetch_add(&seen->together, (unsigned)strtoul(entry->name, NULL, 10));
    return 0;
}

/* More names than may wait: the thread that reads them visits some itself. */
static void test_many_names(void **state)
{
    enum { MANY = 20000, WIDTH = 200 };
    const struct tempdir *dir = *state;
    struct seen seen = {0};
    const struct tree_visitor visitor = {see_directory, sum_entry, &seen};
    struct err err = ERR_INIT;
    char name[WIDTH + 1];

    assert_int_equal(mknodat(dir->fd, "0", S_IFREG | 0644, 0), 0);
    for (int i = 1; i < MANY; i++) {
        snprintf(name, sizeof(name), "%0*d", WIDTH, i);
        assert_int_equal(linkat(dir->fd, "0", dir->fd, name, 0), 0);
    }
    assert_works(tree_walk(dir->fd, NULL, &visitor, &err), err);
    assert_int_equal(seen.entries, MANY);
    assert_int_equal(seen.together, MANY / 2 * (MANY - 1));
}

/* All threads work in the only directory. */
static void test_one_directory(void **state)
{
    const struct tempdir *dir = *state;
    struct seen seen = {0};
    const struct tree_visitor visitor = {see_directory, see_entry, &seen};
    struct err err = ERR_INIT;

    make_tree(dir);
    _cleanup_fd_ int one = openat(dir->fd, "0", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_works(tree_walk(one, NULL, &visitor, &err), err);
    assert_int_equal(seen.directories, 1);
    assert_int_equal(seen.entries, NAMES);
}

static int refuse_entry(void *context, struct tree_thread *thread, const struct tree_entry *entry,
                        struct err *err)
{
    (void)context, (void)thread;
    return err_set(err, ERR_UNSUPPORTED, "%s is not wanted", entry->path);
}

static void test_first_error(void **state)
{
    const struct tempdir *dir = *state;
    struct seen seen = {0};
    const struct tree_visitor visitor = {see_directory, refuse_entry, &seen};
    struct err err = ERR_INIT;

    make_tree(dir);
    assert_fails(tree_walk(dir->fd, NULL, &visitor, &err), err, ERR_UNSUPPORTED);
    assert_contains(err.msg, "is not wanted");
}

UNIT_SUITE(test_tree_walk)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_apart, tempdir_make, tempdir_remove),
        cmocka_unit_test_setup_teardown(test_many_names, tempdir_make, tempdir_remove),
        cmocka_unit_test_setup_teardown(test_one_directory, tempdir_make, tempdir_remove),
        cmocka_unit_test_setup_teardown(test_first_error, tempdir_make, tempdir_remove),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
