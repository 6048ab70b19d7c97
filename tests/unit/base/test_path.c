/* Paths as text. */
#include "base/path.h"

#include "tests/unit/lib/unit.h"

struct clean_case {
    const char *path;
    const char *expected; /* NULL: refused */
};

static void cleaning(void **state)
{
    static const struct clean_case cases[] = {
        {"", ""},
        {".", ""},
        {"/", ""},
        {"//", ""},
        {"./", ""},
        {"/./", ""},
        {"a", "a"},
        {"/a", "a"},
        {"./a", "a"},
        {"a/", "a"},
        {"a//b", "a/b"},
        {"a/./b/.", "a/b"},
        {"///etc///x//", "etc/x"},
        {"a/..", ""},
        {"a/b/..", "a"},
        {"a/b/../c", "a/c"},
        {"a/b/../../c", "c"},
        {"a/../b", "b"},
        {"long/x/../y", "long/y"},
        {"..", NULL},
        {"../a", NULL},
        {"/..", NULL},
        {"a/../..", NULL},
        {"a/../../b", NULL},
        {"./..", NULL},
        {"a/b/../../../c", NULL},
        {"...", "..."},
        {"..a", "..a"},
        {"a..", "a.."},
        {".a", ".a"},
        {"a/.../b", "a/.../b"},
        {".wh..wh..opq", ".wh..wh..opq"},
        {" ", " "},
        {"a\nb", "a\nb"},
        {"\xff\xfe/\x80", "\xff\xfe/\x80"}, /* bytes, not text */
        {"a\\b", "a\\b"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        _cleanup_buf_ struct buf out = BUF_INIT;
        struct err err = ERR_INIT;
        int rc = path_clean(cases[i].path, strlen(cases[i].path), &out, &err);
        if (!cases[i].expected) {
            assert_fails(rc, err, ERR_FORMAT);
        } else {
            assert_works(rc, err);
            assert_string_equal(out.data, cases[i].expected);
            assert_int_equal(out.len, strlen(cases[i].expected));
        }
    }
}

static void a_nul_is_refused_wherever_it_is(void **state)
{
    static const char *const paths[] = {"\0a", "a\0b", "ab\0"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        _cleanup_buf_ struct buf out = BUF_INIT;
        struct err err = ERR_INIT;
        assert_fails(path_clean(paths[i], i == 0 ? 2 : 3, &out, &err), err, ERR_FORMAT);
    }
}

static void length_counts_not_the_terminator(void **state)
{
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct err err = ERR_INIT;

    (void)state;
    assert_works(path_clean("abc/../..", 3, &out, &err), err);
    assert_string_equal(out.data, "abc");
}

/* ".." does not remove content that was in the buffer before. */
static void cleaning_appends(void **state)
{
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct err err = ERR_INIT;

    (void)state;
    buf_puts(&out, "root/");
    assert_works(path_clean("/x/../y/", 8, &out, &err), err);
    assert_string_equal(out.data, "root/y");
    assert_fails(path_clean("..", 2, &out, &err), err, ERR_FORMAT);
    assert_int_equal(strncmp(out.data, "root/y", 6), 0);
}

static void the_length_limit_is_64_kib(void **state)
{
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    _cleanup_free_ char *path = malloc(PATH_LIMIT + 1);

    (void)state;
    assert_int_equal(PATH_LIMIT, 65536);
    assert_non_null(path);
    for (size_t i = 0; i <= PATH_LIMIT; i++)
        path[i] = i % 2 ? '/' : 'a';
    assert_works(path_clean(path, PATH_LIMIT, &out, &err), err);
    assert_int_equal(out.len, PATH_LIMIT - 1); /* without the last slash */
    assert_fails(path_clean(path, PATH_LIMIT + 1, &out, &err), err, ERR_FORMAT);
}

static void components(void **state)
{
    (void)state;
    assert_true(path_component_valid("a", 1));
    assert_true(path_component_valid("...", 3));
    assert_true(path_component_valid(".a", 2));
    assert_true(path_component_valid("..a", 3));
    assert_true(path_component_valid("a b\n", 4));
    assert_true(path_component_valid("..", 1) == false);
    assert_false(path_component_valid("", 0));
    assert_false(path_component_valid(".", 1));
    assert_false(path_component_valid("..", 2));
    assert_false(path_component_valid("a/b", 3));
    assert_false(path_component_valid("/", 1));
    assert_false(path_component_valid("a\0b", 3));
}

static void clean_absolute(void **state)
{
    static const char *const good[] = {"/", "/a", "/a/b", "/...", "/a/..b", "/.a"};
    static const char *const bad[] = {"",    "a",   "a/b",  "//",    "/a/",   "/a//b", "/.",
                                      "/..", "/./", "/a/.", "/a/..", "/../a", ".",     "//a"};

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        if (!path_is_clean_absolute(good[i]))
            fail_msg("'%s' is clean", good[i]);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (path_is_clean_absolute(bad[i]))
            fail_msg("'%s' is not clean and absolute", bad[i]);
}

static void test_parents(void **state)
{
    (void)state;
    assert_true(path_has_parents("/a/../b"));
    assert_true(path_has_parents("/a/.."));
    assert_true(path_has_parents(".."));
    assert_false(path_has_parents("/a/..b/c"));
    assert_false(path_has_parents("/a/./b"));
    assert_false(path_has_parents(""));
}

static void beneath_is_by_components(void **state)
{
    (void)state;
    assert_true(path_is_beneath("/srv/data", "/srv/data"));
    assert_true(path_is_beneath("/srv/data/x", "/srv/data"));
    assert_true(path_is_beneath("/srv/data/x/y", "/srv"));
    assert_false(path_is_beneath("/srv/data2", "/srv/data"));
    assert_false(path_is_beneath("/srv/dat", "/srv/data"));
    assert_false(path_is_beneath("/srv", "/srv/data"));
    assert_false(path_is_beneath("/", "/srv"));
    assert_true(path_is_beneath("/anything", "/"));
    assert_true(path_is_beneath("/", "/"));
    assert_true(path_is_beneath("a/b", "a"));
    assert_false(path_is_beneath("ab", "a"));
    assert_true(path_is_beneath("a", "")); /* "" is the root of relative paths */
    assert_true(path_is_beneath("", ""));
}

static void parent_and_name(void **state)
{
    static const char *const rows[][3] = {
        {"file", ".", "file"}, {"/file", "/", "file"}, {"/a/b", "/a", "b"},
        {"a/b/c", "a/b", "c"}, {"/a/b/", "/a/b", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const char *name;
        _cleanup_free_ char *parent = path_parent(rows[i][0], &name);
        assert_string_equal(parent, rows[i][1]);
        assert_string_equal(name, rows[i][2]);
    }
}

static void depth_is_the_number_of_components(void **state)
{
    (void)state;
    assert_int_equal(path_depth(""), 0);
    assert_int_equal(path_depth("a"), 1);
    assert_int_equal(path_depth("a/b/c"), 3);
    assert_int_equal(path_depth("/a"), 2);
}

UNIT_SUITE(test_path)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parents),
        cmocka_unit_test(cleaning),
        cmocka_unit_test(a_nul_is_refused_wherever_it_is),
        cmocka_unit_test(length_counts_not_the_terminator),
        cmocka_unit_test(cleaning_appends),
        cmocka_unit_test(the_length_limit_is_64_kib),
        cmocka_unit_test(components),
        cmocka_unit_test(clean_absolute),
        cmocka_unit_test(beneath_is_by_components),
        cmocka_unit_test(parent_and_name),
        cmocka_unit_test(depth_is_the_number_of_components),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
