#include "tests/unit/lib/unit.h"

#include "shim/admin/watch/place.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void test_join(void **state)
{
    static const struct {
        const char *base, *name, *path, *directory;
    } cases[] = {
        {"/", "/usr/lib/x", "/usr/lib/x", "/usr/lib"},
        {"/usr/lib", "x", "/usr/lib/x", "/usr/lib"},
        {"/usr/lib", "../bin//./sh", "/usr/bin/sh", "/usr/bin"},
        {"/usr", "../../../x", "/x", "/"},
        {"/", "x", "/x", "/"},
        {"/a", "..", "/", "/"},
        {"/a/b", ".", "/a/b", "/a"},
        {"/a", "b/c/", "/a/b/c", "/a/b"},
        {NULL, "/x/y", "/x/y", "/x"},
        {NULL, "y", PLACE_UNKNOWN, PLACE_UNKNOWN},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        _cleanup_buf_ struct buf out = BUF_INIT;
        place_join(cases[i].base, cases[i].name, &out);
        assert_string_equal(out.data, cases[i].path);
        place_up(&out);
        assert_string_equal(out.data, cases[i].directory);
    }
}

static void test_long(void **state)
{
    _cleanup_buf_ struct buf base = BUF_INIT, out = BUF_INIT;

    (void)state;
    while (base.len < PATH_MAX)
        buf_puts(&base, "/directory");
    place_join(base.data, "x", &out);
    assert_string_equal(out.data, PLACE_UNKNOWN);
}

static void test_within(void **state)
{
    (void)state;
    assert_string_equal(place_within("/a/b", ""), "/a/b");
    assert_string_equal(place_within("/root/a", "/root"), "/a");
    assert_string_equal(place_within("/root", "/root"), "/");
    assert_null(place_within("/rooted", "/root"));
    assert_null(place_within("pipe:[7]", ""));
}

static struct watch_record record(enum watch_call call, int dirfd, const char *name, int result)
{
    struct watch_record r = {.task = (uint64_t)getpid() << 32 | (uint32_t)getpid(),
                             .dirfd = dirfd,
                             .call = call,
                             .result = result,
                             .len = (int64_t)strlen(name) + 1};

    snprintf(r.name, sizeof(r.name), "%s", name);
    return r;
}

static const char *path_of(struct places *places, int dirfd, const char *name, struct buf *out)
{
    struct watch_record r = record(WATCH_STAT, dirfd, name, 0);

    place_of(places, &r, out);
    return out->data;
}

/* Descriptors and the working directory are as the calls left them, not as this process has them.
 */
static void test_follow(void **state)
{
    _cleanup_free_ struct places *places = calloc(1, sizeof(*places));
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct watch_record open_x = record(WATCH_OPEN, AT_FDCWD, "/opt/x", 700);
    struct watch_record dup = record(WATCH_DUP, 700, "", 701);
    struct watch_record failed = record(WATCH_OPEN, AT_FDCWD, "/no", -2);
    struct watch_record again = record(WATCH_OPEN, AT_FDCWD, "/srv", 700);
    struct watch_record fchdir_x = record(WATCH_FCHDIR, 701, "", 0);
    char cwd[PATH_MAX], wanted[PATH_MAX + 8];

    (void)state;
    assert_non_null(places);
    places->prefix = "";
    assert_non_null(getcwd(cwd, sizeof(cwd)));
    snprintf(wanted, sizeof(wanted), "%s/f", cwd);
    assert_string_equal(path_of(places, AT_FDCWD, "f", &out), wanted);
    assert_string_equal(path_of(places, 700, "f", &out), PLACE_UNKNOWN);
    place_follow(places, &open_x, "/opt/x");
    assert_string_equal(path_of(places, 700, "f", &out), "/opt/x/f");
    place_follow(places, &dup, NULL);
    place_follow(places, &again, "/srv");
    place_follow(places, &failed, "/no");
    assert_string_equal(path_of(places, 700, "f", &out), "/srv/f");
    assert_string_equal(path_of(places, 701, "../f", &out), "/opt/f");
    place_follow(places, &fchdir_x, NULL);
    assert_string_equal(path_of(places, AT_FDCWD, "f", &out), "/opt/x/f");
    places_free(places);
}

UNIT_SUITE(test_place)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_within),
        cmocka_unit_test(test_follow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
