#include "flatten/name/registry_ref.h"
#include "tests/unit/lib/unit.h"

#define DIGEST "sha256:1111111111111111111111111111111111111111111111111111111111111111"

static void check(const char *text, const char *host, const char *repository, const char *tag,
                  const char *digest)
{
    _cleanup_registry_ref_ struct registry_ref ref = {0};
    struct err err = ERR_INIT;

    assert_works(registry_ref_parse(text, &ref, &err), err);
    assert_string_equal(ref.host, host);
    assert_string_equal(ref.repository, repository);
    if (tag)
        assert_string_equal(ref.tag, tag);
    else
        assert_null(ref.tag);
    if (digest)
        assert_string_equal(ref.digest, digest);
    else
        assert_null(ref.digest);
}

static void test_docker_hub(void **state)
{
    (void)state;
    check("debian", "docker.io", "library/debian", "latest", NULL);
    check("debian:12", "docker.io", "library/debian", "12", NULL);
    check("a/b", "docker.io", "a/b", "latest", NULL);
    check("docker.io/debian", "docker.io", "library/debian", "latest", NULL);
    check("index.docker.io/a/b:c", "docker.io", "a/b", "c", NULL);
    check("registry-1.docker.io/a/b", "docker.io", "a/b", "latest", NULL);
}

static void test_hosts(void **state)
{
    (void)state;
    check("quay.io/a/b/c:v1", "quay.io", "a/b/c", "v1", NULL);
    check("localhost/a", "localhost", "a", "latest", NULL);
    check("h:5000/a:T_1.x-", "h:5000", "a", "T_1.x-", NULL);
    check("[::1]:5000/a@" DIGEST, "[::1]:5000", "a", NULL, DIGEST);
    check("quay.io/a-b/c__d.e--f", "quay.io", "a-b/c__d.e--f", "latest", NULL);
    check("EXAMPLE.org/a", "EXAMPLE.org", "a", "latest", NULL);
}

static void test_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "/",
        "quay.io/",
        "quay.io//a",
        "quay.io/a/",
        "quay.io/A",
        "quay.io/a:",
        "quay.io/a:.b",
        "quay.io/a:-b",
        "quay.io/a@",
        "quay.io/a@sha256:11",
        "quay.io/a@md5:11111111111111111111111111111111",
        "quay.io/a:b@" DIGEST,
        "quay.io/a b",
        "quay.io/a?b",
        "quay.io/a#b",
        "quay.io/a%2fb",
        "quay.io/../a",
        "quay.io/a/../b",
        "quay.io/.a",
        "quay.io/a.",
        "quay.io/a..b",
        "quay.io/a___b",
        "quay.io/a\nb",
        "quay.io:0/a",
        "quay.io:65536/a",
        "quay.io:x/a",
        "quay.io:/a",
        "user:password@quay.io/a",
        "user@quay.io/a",
        "[::1/a",
        "[]:1/a",
        "[::1]x/a",
        "-quay.io/a",
        ".quay.io/a",
        "qu\tay.io/a",
        "quay.io/a:b:c",
        "quay.io/a@" DIGEST "@" DIGEST,
        "quay.io/a@" DIGEST "/../x",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct registry_ref ref;
        struct err err = ERR_INIT;
        if (registry_ref_parse(bad[i], &ref, &err) != -1)
            fail_msg("'%s' is taken", bad[i]);
        assert_int_equal(err.kind, ERR_USAGE);
        assert_null(ref.host);
        assert_null(ref.repository);
    }
}

static void test_lengths(void **state)
{
    char text[400];
    struct registry_ref ref;
    struct err err = ERR_INIT;

    (void)state;
    snprintf(text, sizeof(text), "quay.io/a:%0128d", 0);
    assert_works(registry_ref_parse(text, &ref, &err), err);
    registry_ref_clear(&ref);
    snprintf(text, sizeof(text), "quay.io/a:%0129d", 0);
    assert_fails(registry_ref_parse(text, &ref, &err), err, ERR_USAGE);
    snprintf(text, sizeof(text), "quay.io/%0255d", 0);
    assert_works(registry_ref_parse(text, &ref, &err), err);
    registry_ref_clear(&ref);
    snprintf(text, sizeof(text), "quay.io/%0256d", 0);
    assert_fails(registry_ref_parse(text, &ref, &err), err, ERR_USAGE);
}

static void test_server(void **state)
{
    struct registry_ref ref = {.host = (char *)(uintptr_t) "docker.io"};

    (void)state;
    assert_string_equal(registry_ref_server(&ref), "registry-1.docker.io");
    ref.host = (char *)(uintptr_t) "quay.io:443";
    assert_string_equal(registry_ref_server(&ref), "quay.io:443");
}

UNIT_SUITE(test_registry_ref)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_docker_hub), cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_server),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
