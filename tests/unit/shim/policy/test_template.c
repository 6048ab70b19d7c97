/* Templates: valid names, and values that must stay one component of a path. */
#include "tests/unit/lib/unit.h"

#include "shim/policy/template.h"

static const struct template_values values = {
    .value = {[VAR_NAME] = "imagenet", [VAR_USER] = "alice", [VAR_TARGET] = "/cache/torch"},
    .missing = {[VAR_PROJECT] = "set flatbed.project"},
};

static void assert_expands(const char *text, const char *expected)
{
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct err err = ERR_INIT;

    assert_works(template_expand(text, &values, &out, &err), err);
    assert_string_equal(out.data, expected);
}

static void test_expands(void **state)
{
    (void)state;
    assert_expands("/srv/data/{name}", "/srv/data/imagenet");
    assert_expands("/srv/{user}/{name}.{user}", "/srv/alice/imagenet.alice");
    assert_expands("{target}/hub", "/cache/torch/hub");
    assert_expands("/srv", "/srv");
    assert_expands("", "");
}

static void test_checks(void **state)
{
    static const char *const wrong[] = {"{",  "}",     "a}b",    "{name",
                                        "{}", "{nam}", "{Name}", "{name}}"};
    struct err err = ERR_INIT;
    unsigned used;

    (void)state;
    assert_works(template_check("/{name}/{user}", TEMPLATE_COMPONENTS, &used, &err), err);
    assert_int_equal(used, 1u << VAR_NAME | 1u << VAR_USER);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        assert_fails(template_check(wrong[i], TEMPLATE_ALL, NULL, &err), err, ERR_FORMAT);
    assert_fails(template_check("{usr}", TEMPLATE_ALL, NULL, &err), err, ERR_FORMAT);
    assert_contains(err.msg, "did you mean {user}?");
    assert_fails(template_check("{target}", TEMPLATE_COMPONENTS, NULL, &err), err, ERR_FORMAT);
}

static void test_missing_value_tells_how(void **state)
{
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct err err = ERR_INIT;

    (void)state;
    assert_fails(template_expand("{project}", &values, &out, &err), err, ERR_POLICY);
    assert_contains(err.msg, "set flatbed.project");
    assert_fails(template_expand("{image}", &values, &out, &err), err, ERR_POLICY);
    assert_contains(err.msg, "{image}");
}

static void test_unsafe_values(void **state)
{
    static const char *const unsafe[] = {"",    ".",        "..",    "a/b",    "/",    "../etc",
                                         "a b", "a\n",      "a\x01", "{user}", "a:b",  "*",
                                         "a,b", "\xc3\xa4", "a\\b",  "~",      "$HOME"};
    static const char *const safe[] = {"a", ".a", "...", "a..b", "-", "a@b.c", "x+y=z", "0"};
    char longest[TEMPLATE_VALUE_MAX + 2];
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof(unsafe) / sizeof(*unsafe); i++) {
        _cleanup_buf_ struct buf out = BUF_INIT;
        struct template_values v = {.value = {[VAR_HOSTNAME] = unsafe[i]}};
        assert_fails(template_expand("/{hostname}", &v, &out, &err), err, ERR_POLICY);
    }
    for (size_t i = 0; i < sizeof(safe) / sizeof(*safe); i++) {
        _cleanup_buf_ struct buf out = BUF_INIT;
        struct template_values v = {.value = {[VAR_HOSTNAME] = safe[i]}};
        assert_works(template_expand("/{hostname}", &v, &out, &err), err);
    }
    memset(longest, 'a', sizeof(longest));
    longest[TEMPLATE_VALUE_MAX] = '\0';
    assert_true(template_name_valid(longest, strlen(longest)));
    longest[TEMPLATE_VALUE_MAX] = 'a';
    assert_false(template_name_valid(longest, TEMPLATE_VALUE_MAX + 1));
    assert_false(template_name_valid("a@b", 3));
    assert_false(template_name_valid("a\0b", 3));
}

static void test_globs(void **state)
{
    struct arena arena = {.limit = 1024};

    (void)state;
    assert_string_equal(template_glob("/srv/{user}/{name}.d", 20, &arena), "/srv/*/*.d");
    assert_string_equal(template_glob("{user}/{name}", 6, &arena), "*");
    assert_string_equal(template_glob("a*[b]?\\{uid}", 12, &arena), "a\\*\\[b]\\?\\\\*");
    assert_string_equal(template_glob("", 0, &arena), "");
    arena_free(&arena);
}

UNIT_SUITE(test_template)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expands),
        cmocka_unit_test(test_checks),
        cmocka_unit_test(test_missing_value_tells_how),
        cmocka_unit_test(test_unsafe_values),
        cmocka_unit_test(test_globs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
