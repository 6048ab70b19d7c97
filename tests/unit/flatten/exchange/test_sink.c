#include "flatten/exchange/sink.h"
#include "tests/unit/lib/unit.h"

static void check(const struct reference *to, const char *source_name, const char *expected)
{
    _cleanup_free_ char *name = NULL;
    struct err err = ERR_INIT;

    if (!expected) {
        assert_fails(sink_image_name(to, source_name, &name, &err), err, ERR_USAGE);
        assert_contains(err.msg, "has no tag for {tag}");
        return;
    }
    assert_works(sink_image_name(to, source_name, &name, &err), err);
    assert_string_equal(name, expected);
}

/* The tag at the source; the same again for a name that was made so. */
static void test_by_tag(void **state)
{
    char path[] = "dir", app[] = "host:5000/lab/app";
    const struct reference layout = {.transport = TRANSPORT_OCI, .path = path, .by_tag = true};
    const struct reference registry = {
        .transport = TRANSPORT_REGISTRY, .name = app, .by_tag = true};

    (void)state;
    check(&layout, "v1", "v1");
    check(&layout, "lab/app:1.4", "1.4");
    check(&registry, "v1", "host:5000/lab/app:v1");
    check(&registry, "localhost:80/other:1.4_a-b", "host:5000/lab/app:1.4_a-b");
    check(&registry, "host:5000/lab/app:v1", "host:5000/lab/app:v1");
    check(&registry, NULL, NULL);
    check(&registry, "lab/app", NULL);
    check(&registry, "lab/app@sha256:11", NULL);
    check(&registry, "a:b/c:d", "host:5000/lab/app:d");
    check(&registry, "app:..", NULL);
    check(&registry, "app:x y", NULL);
    check(&registry, "app:a:b", NULL);
    check(&registry, "app:", NULL);
}

UNIT_SUITE(test_sink)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_tag),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
