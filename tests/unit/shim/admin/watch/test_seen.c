#include "tests/unit/lib/unit.h"

#include "shim/admin/watch/seen.h"

#include <errno.h>
#include <stdio.h>

static void test_counts(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_seen_ struct seen seen = {0};
    struct seen_entry *top[4];

    (void)state;
    assert_int_equal(seen_begin(&seen, &err), 0);
    for (int i = 0; i < 5; i++)
        seen_add(&seen, "/a", "python3", WATCH_STAT, -ENOENT);
    seen_add(&seen, "/b", "sh", WATCH_OPEN, 3);
    for (int i = 0; i < 7; i++)
        seen_add(&seen, "/b", "python3", WATCH_ACCESS, -EACCES);
    seen_add(&seen, "/c", "sh", WATCH_READLINK, -ENOTDIR);
    assert_int_equal(seen.all.lookups, 14);
    assert_int_equal(seen.all.misses, 6);

    assert_int_equal(seen_top(&seen.directories, false, top, 4), 3);
    assert_string_equal(top[0]->name, "/b");
    assert_int_equal(top[0]->counts.lookups, 8);
    assert_int_equal(top[0]->counts.misses, 0);
    assert_int_equal(top[0]->counts.calls[WATCH_OPEN], 1);
    assert_int_equal(top[0]->counts.calls[WATCH_ACCESS], 7);

    assert_int_equal(seen_top(&seen.directories, true, top, 4), 2);
    assert_string_equal(top[0]->name, "/a");
    assert_string_equal(top[1]->name, "/c");
    assert_int_equal(seen_top(&seen.directories, true, top, 1), 1);
    assert_int_equal(seen_top(&seen.programs, false, top, 4), 2);
    assert_string_equal(top[0]->name, "python3");
    assert_int_equal(top[0]->counts.lookups, 12);
}

static void test_bounded(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_seen_ struct seen seen = {0};
    char name[32];

    (void)state;
    assert_int_equal(seen_begin(&seen, &err), 0);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < SEEN_DIRECTORIES + 10; i++) {
            snprintf(name, sizeof(name), "/%d", i);
            seen_add(&seen, name, name, WATCH_STAT, -ENOENT);
        }
    assert_int_equal(seen.directories.count, SEEN_DIRECTORIES);
    assert_int_equal(seen.directories.other.misses, 20);
    assert_int_equal(seen.programs.count, SEEN_PROGRAMS);
    assert_int_equal(seen.programs.other.lookups, 2 * (SEEN_DIRECTORIES + 10 - SEEN_PROGRAMS));
    assert_int_equal(seen.directories.list[7].counts.lookups, 2);
}

UNIT_SUITE(test_seen)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
