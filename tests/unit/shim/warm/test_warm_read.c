#include "tests/unit/lib/tempdir.h"
#include "tests/unit/lib/unit.h"

#include "base/fdio.h"
#include "shim/warm/read/read_ahead.h"
#include "shim/warm/read/residency.h"
#include "shim/warm/read/warm_memory.h"
#include "shim/warm/read/warm_open.h"

#include <fcntl.h>
#include <sys/stat.h>

static void test_memory(void **state)
{
    static const char meminfo[] = "MemTotal: 1000000 kB\nMemFree:   1000 kB\nBuffers: 7 kB\n"
                                  "Inactive(anon): 90000 kB\nInactive(file):  3000 kB\n";
    static const uint64_t all = 4000 * 1024;
    const struct policy_free quarter = {.percent = 25}, huge = {.bytes = 1ull << 40},
                             small = {.bytes = 4096};

    (void)state;
    assert_int_equal(warm_memory_of(meminfo, &quarter, 0), all / 100 * 25);
    assert_int_equal(warm_memory_of(meminfo, &quarter, 1000), 1000);
    assert_int_equal(warm_memory_of(meminfo, &huge, 0), all);
    assert_int_equal(warm_memory_of(meminfo, &small, 1 << 30), 4096);
    assert_int_equal(warm_memory_of("", &quarter, 0), 0);
}

/* Writes a file of `size` bytes that the page cache drops, in several turns on a busy machine. */
static void make_file(int dir, const char *name, size_t size)
{
    char block[4096] = {1};
    struct err err = ERR_INIT;
    int fd = openat(dir, name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    for (size_t at = 0; at < size; at += sizeof(block))
        assert_int_equal(fd_write_all(fd, block, sizeof(block), &err), 0);
    fsync(fd);
    for (int i = 0; i < 200 && residency_bytes(fd, 0, size); i++) {
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        usleep(1000);
    }
    close(fd);
}

static void test_open(void **state)
{
    const struct tempdir *dir = *state;
    struct stat st;

    assert_int_equal(mkdirat(dir->fd, "d", 0700), 0);
    make_file(dir->fd, "d/file", 4096);
    assert_int_equal(symlinkat("d", dir->fd, "link"), 0);
    assert_int_equal(symlinkat("file", dir->fd, "d/link"), 0);
    assert_int_equal(mkfifoat(dir->fd, "d/fifo", 0600), 0);
    int fd = warm_open(dir->fd, "d/file", &st);
    assert_true(fd >= 0 && st.st_size == 4096);
    close(fd);
    static const char *const refused[] = {"link/file", "d/link",        "d/fifo", "d",
                                          "nothing",   "/proc/version", "../x"};
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
        assert_int_equal(warm_open(dir->fd, refused[i], &st), -1);
}

static void test_read(void **state)
{
    static const struct warm_range parts[] = {{0, 131072}, {1048576, 262144}};
    static const struct warm_range whole[] = {{0, 20 << 20}};
    static const struct warm_file small = {.path = "small", .ranges = parts, .count = 2};
    static const struct warm_file large = {.path = "large", .ranges = whole, .count = 1};
    static const struct warm_file gone = {.path = "gone", .ranges = whole, .count = 1};
    const struct tempdir *dir = *state;
    struct err err = ERR_INIT;

    make_file(dir->fd, "small", 4 << 20);
    make_file(dir->fd, "large", 20 << 20);
    _cleanup_fd_ int fd = openat(dir->fd, "small", O_RDONLY | O_CLOEXEC);
    if (residency_bytes(fd, 0, 4 << 20))
        return; /* a file system that keeps its pages, such as tmpfs */
    struct read_item items[] = {{.dir = dir->fd, .file = &small},
                                {.dir = dir->fd, .file = &gone},
                                {.dir = dir->fd, .file = &large}};
    struct read_ahead *r = read_ahead_begin(items, 3, 1 << 30, &err);
    assert_non_null(r);
    while (!read_ahead_done(r))
        usleep(1000);
    read_ahead_end(r);
    assert_int_equal(items[0].read, 131072 + 262144);
    assert_int_equal(items[1].read, 0);
    assert_int_equal(items[1].at, 0);
    assert_int_equal(items[2].read, 20 << 20);
    assert_int_equal(residency_bytes(fd, 0, 4 << 20), 131072 + 262144); /* and nothing beside it */

    _cleanup_arena_ struct arena arena = {0};
    const struct warm_range *found;
    size_t count;
    assert_int_equal(residency_ranges(fd, 4 << 20, &arena, &found, &count, &err), 0);
    assert_int_equal(count, 2);
    assert_int_equal(found[1].start, 1048576);
    assert_int_equal(found[1].len, 262144);
}

static void test_budget(void **state)
{
    static const struct warm_range whole[] = {{0, 20 << 20}};
    static const struct warm_file large = {.path = "large", .ranges = whole, .count = 1};
    const struct tempdir *dir = *state;
    struct read_item item = {.dir = dir->fd, .file = &large};
    struct err err = ERR_INIT;

    make_file(dir->fd, "large", 20 << 20);
    struct read_ahead *r = read_ahead_begin(&item, 1, 1 << 20, &err);
    assert_non_null(r);
    while (!read_ahead_done(r))
        usleep(1000);
    read_ahead_end(r);
    assert_true(item.read <= 1 << 20);
}

UNIT_SUITE(test_warm_read)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),
        cmocka_unit_test_setup_teardown(test_open, tempdir_make, tempdir_remove),
        cmocka_unit_test_setup_teardown(test_read, tempdir_make, tempdir_remove),
        cmocka_unit_test_setup_teardown(test_budget, tempdir_make, tempdir_remove),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
