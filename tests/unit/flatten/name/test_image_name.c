/* Names of images: which a layout may have as a tag, and which engines take from an archive. */
#include "flatten/name/image_name.h"
#include "tests/unit/lib/unit.h"

#include <string.h>

static void test_tags_of_layouts(void **state)
{
    static const char *const good[] = {
        "v1",
        "latest",
        "1.2-rc_3+x",
        "a--b",
        "docker.io/library/debian:12",
        "host:5000/a__b/c:v1",
        "A",
        "name@sha256:00",
    };
    static const char *const bad[] = {
        "",    "/",    "a/",   "/a",  "a//b", "../a", "a/../b", "a/.b", "-a",   "a-",       ".",
        "a b", "a\tb", "a\nb", "a'b", "a\"b", "a$b",  "a;b",    "a%b",  "a\\b", "\303\251",
    };
    char longest[600];

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        if (!image_name_fits_layout(good[i]))
            fail_msg("%s", good[i]);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        if (image_name_fits_layout(bad[i]))
            fail_msg("%s", bad[i]);
    memset(longest, 'a', sizeof(longest));
    longest[513] = '\0';
    assert_false(image_name_fits_layout(longest));
    longest[512] = '\0';
    assert_true(image_name_fits_layout(longest));
}

static void test_names_of_engines(void **state)
{
    static const char *const good[] = {"debian", "debian:12", "quay.io/a/b:v1", "localhost:5000/x"};
    static const char *const bad[] = {"",     "UPPER:v1", "a:-b", "a@sha256:00",
                                      "../a", "a b",      "a:b c"};

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        if (!image_name_fits_engine(good[i]))
            fail_msg("%s", good[i]);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        if (image_name_fits_engine(bad[i]))
            fail_msg("%s", bad[i]);
}

static void test_local_names(void **state)
{
    static const char *const names[][2] = {
        {"torch", "localhost/torch:latest"},
        {"lab/torch:2", "localhost/lab/torch:2"},
        {"localhost/torch", "localhost/torch:latest"},
        {"reg.example:5000/a:1", "reg.example:5000/a:1"},
        {"docker.io/library/debian:12", "docker.io/library/debian:12"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct err err = ERR_INIT;
        _cleanup_free_ char *local = image_name_local(names[i][0], &err);
        assert_non_null(local);
        assert_string_equal(local, names[i][1]);
    }
}

UNIT_SUITE(test_image_name)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tags_of_layouts),
        cmocka_unit_test(test_names_of_engines),
        cmocka_unit_test(test_local_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
