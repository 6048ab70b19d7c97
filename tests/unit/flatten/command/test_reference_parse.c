#include "base/buf.h"
#include "flatten/command/reference_parse.h"
#include "tests/unit/lib/tempdir.h"
#include "tests/unit/lib/unit.h"

#include <string.h>

static void check(const char *text, enum transport transport, const char *path, const char *name)
{
    _cleanup_reference_ struct reference ref = {0};
    struct err err = ERR_INIT;

    assert_works(reference_parse(text, &ref, &err), err);
    assert_int_equal(ref.transport, transport);
    if (path)
        assert_string_equal(ref.path, path);
    else
        assert_null(ref.path);
    if (name)
        assert_string_equal(ref.name, name);
    else
        assert_null(ref.name);
}

static void test_transports(void **state)
{
    (void)state;
    check("oci:dir", TRANSPORT_OCI, "dir", NULL);
    check("oci:/a/dir:v1", TRANSPORT_OCI, "/a/dir", "v1");
    check("docker-archive:f.tar", TRANSPORT_DOCKER_ARCHIVE, "f.tar", NULL);
    check("docker-archive:f.tar:repo/name:tag", TRANSPORT_DOCKER_ARCHIVE, "f.tar", "repo/name:tag");
    check("docker-archive:-", TRANSPORT_DOCKER_ARCHIVE, "-", NULL);
    check("oci-archive:f.tar", TRANSPORT_OCI_ARCHIVE, "f.tar", NULL);
    check("oci-archive:-:v1", TRANSPORT_OCI_ARCHIVE, "-", "v1");
    check("docker://quay.io/a/b:c", TRANSPORT_REGISTRY, NULL, "quay.io/a/b:c");
    check("docker://debian", TRANSPORT_REGISTRY, NULL, "debian");
    check("docker-daemon:a/b:c", TRANSPORT_DOCKER_DAEMON, NULL, "a/b:c");
    check("containers-storage:a/b:c", TRANSPORT_STORAGE, NULL, "a/b:c");
    check("containers-storage:@0123456789ab", TRANSPORT_STORAGE, NULL, "0123456789ab");
    check("docker-daemon:host:5000/b", TRANSPORT_DOCKER_DAEMON, NULL, "host:5000/b");
}

static void check_store(const char *text, const char *store)
{
    _cleanup_reference_ struct reference ref = {0};
    struct err err = ERR_INIT;

    assert_works(reference_parse(text, &ref, &err), err);
    assert_string_equal(ref.store, store);
    assert_string_equal(ref.name, "n:1");
}

static void test_stores(void **state)
{
    static const char *const bad[] = {
        "containers-storage:[overlay@/a+/b:x=y]n",
        "containers-storage:[]n",
        "containers-storage:[overlay@]n",
        "containers-storage:[overlay@a]n",
        "containers-storage:[/a+b]n",
        "containers-storage:[/a",
        "containers-storage:[--root@/a]n",
        "containers-storage:[/a]",
        "containers-storage:[/a]--root=/",
        "containers-storage:-n",
    };
    struct reference ref;

    (void)state;
    check_store("containers-storage:[overlay@/a+/b]n:1", "overlay@/a+/b");
    check_store("containers-storage:[/a@b+/c]n:1", "/a@b+/c");
    check_store("containers-storage:[vfs@/a]n:1", "vfs@/a");
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct err err = ERR_INIT;
        if (reference_parse(bad[i], &ref, &err) != -1)
            fail_msg("'%s' is taken", bad[i]);
        assert_int_equal(err.kind, i == 0 ? ERR_UNSUPPORTED : ERR_USAGE);
        assert_null(ref.store);
    }
}

static void test_bare_words(void **state)
{
    const struct tempdir *dir = *state;
    char file[128];

    check(dir->path, TRANSPORT_OCI, dir->path, NULL);
    snprintf(file, sizeof(file), "%s/f", dir->path);
    close(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    check(file, TRANSPORT_DOCKER_ARCHIVE, file, NULL);
    check("-", TRANSPORT_DOCKER_ARCHIVE, "-", NULL);
    check("no-such-thing:tag", TRANSPORT_DOCKER_DAEMON, NULL, "no-such-thing:tag");
}

static void test_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "oci:",
        "oci::tag",
        "oci:dir:",
        "docker-archive:",
        "oci-archive:",
        "docker://",
        "docker://a b",
        "docker:/debian",
        "docker:debian",
        "https://quay.io/a",
        "a b",
        "docker-daemon:",
        "docker-daemon:a b",
        "./no-such-file",
        "/no/such/file",
        "a?b",
        "x#y",
        "a%2fb",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct reference ref;
        struct err err = ERR_INIT;
        if (reference_parse(bad[i], &ref, &err) != -1)
            fail_msg("'%s' is taken", bad[i]);
        assert_int_equal(err.kind, ERR_USAGE);
        assert_null(ref.path);
        assert_null(ref.name);
    }
}

/* A forgotten "docker-archive:" is no name of the daemon's. */
static void test_archives_without_prefix(void **state)
{
    static const char *const archives[] = {"out.tar:app:x", "out.tar:app", "new/out.tgz:app:x",
                                           "new/out:app:x", "new/Out:app"};
    static const char *const names[] = {"app:x",       "lab/app:x",
                                        "lab/app",     "localhost:5000/lab/app:x",
                                        "sha256:0123", "lab/app@sha256:0123"};

    (void)state;
    for (size_t i = 0; i < sizeof(archives) / sizeof(*archives); i++) {
        _cleanup_free_ char *hint = strf("is written docker-archive:%s", archives[i]);
        struct reference ref;
        struct err err = ERR_INIT;
        assert_fails(reference_parse_destination(archives[i], &ref, &err), err, ERR_USAGE);
        assert_non_null(strstr(err.msg, hint));
        assert_fails(reference_parse(archives[i], &ref, &err), err, ERR_USAGE);
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        _cleanup_reference_ struct reference ref = {0};
        struct err err = ERR_INIT;
        assert_works(reference_parse_destination(names[i], &ref, &err), err);
        assert_int_equal(ref.transport, TRANSPORT_DOCKER_DAEMON);
    }
}

/* An error never shows a password. */
static void test_logins(void **state)
{
    static const char *const bad[] = {
        "docker://user:hunter2@quay.io/a/b:c",
        "docker://hunter2@quay.io/a",
        "docker://user:hunter2@localhost:5000",
        "docker://user:hun/hunter2@quay.io/a",
        "docker://user:hun@hunter2@quay.io/a",
        "docker://user:hunter2@quay.io/a@sha256:1",
        "docker://user:hunter2@/A B",
        "docker://user:hunter2@sha256/a",
        "https://user:hunter2@quay.io/a",
        "docker:user:hunter2@quay.io/a",
        "docker-daemon:user:hunter2@quay.io/a",
        "user:hunter2@quay.io/a",
        "containers-storage:u:hunter2@quay.io/a",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct reference ref;
        struct err err = ERR_INIT;
        assert_int_equal(reference_parse(bad[i], &ref, &err), -1);
        assert_int_equal(err.kind, ERR_USAGE);
        if (strstr(err.msg, "hun") || !strstr(err.msg, "skopeo login"))
            fail_msg("'%s': %s", bad[i], err.msg);
        err = (struct err)ERR_INIT;
        assert_int_equal(reference_parse_destination(bad[i], &ref, &err), -1);
        assert_false(strstr(err.msg, "hun"));
    }
}

static void test_destinations(void **state)
{
    _cleanup_reference_ struct reference ref = {0};
    struct err err = ERR_INIT;

    (void)state;
    assert_works(reference_parse_destination("./new/file.tar", &ref, &err), err);
    assert_int_equal(ref.transport, TRANSPORT_DOCKER_ARCHIVE);
    reference_clear(&ref);
    assert_works(reference_parse_destination("name:tag", &ref, &err), err);
    assert_int_equal(ref.transport, TRANSPORT_DOCKER_DAEMON);
    reference_clear(&ref);
    assert_fails(reference_parse_destination("./new-dir", &ref, &err), err, ERR_USAGE);
    assert_contains(err.msg, "oci:DIR");
    assert_fails(reference_parse_destination("-", &ref, &err), err, ERR_USAGE);
    assert_fails(reference_parse_destination("oci-archive:-", &ref, &err), err, ERR_USAGE);
    assert_fails(reference_parse_destination(
                     "docker://a@sha256:"
                     "1111111111111111111111111111111111111111111111111111111111111111",
                     &ref, &err),
                 err, ERR_USAGE);
    assert_contains(err.msg, "give it a tag");
    assert_fails(reference_parse_destination("docker-archive:-", &ref, &err), err, ERR_USAGE);
}

static void check_by_tag(const char *text, const char *path, const char *name, bool by_tag)
{
    _cleanup_reference_ struct reference ref = {0};
    struct err err = ERR_INIT;

    assert_works(reference_parse_destination(text, &ref, &err), err);
    assert_int_equal(ref.by_tag, by_tag);
    assert_true(path ? ref.path && strcmp(ref.path, path) == 0 : !ref.path);
    assert_true(name ? ref.name && strcmp(ref.name, name) == 0 : !ref.name);
}

static void test_by_tag(void **state)
{
    struct reference ref = {0};
    struct err err = ERR_INIT;

    (void)state;
    check_by_tag("docker://host:5000/lab/app:{tag}", NULL, "host:5000/lab/app", true);
    check_by_tag("oci:dir:{tag}", "dir", NULL, true);
    check_by_tag("docker-archive:f.tar:lab/app:{tag}", "f.tar", "lab/app", true);
    check_by_tag("oci:dir:v1", "dir", "v1", false);
    assert_fails(reference_parse_destination("docker://host/{tag}", &ref, &err), err, ERR_USAGE);
    assert_fails(reference_parse_destination("docker://host/a:{tag}-x", &ref, &err), err,
                 ERR_USAGE);
}

UNIT_SUITE(test_reference_parse)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transports),
        cmocka_unit_test(test_stores),
        cmocka_unit_test_setup_teardown(test_bare_words, tempdir_make, tempdir_remove),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_archives_without_prefix),
        cmocka_unit_test(test_logins),
        cmocka_unit_test(test_destinations),
        cmocka_unit_test(test_by_tag),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
