/* WWW-Authenticate, token replies, and the credentials for a repository. */
#include "flatten/keeper/registry/auth_challenge.h"
#include "flatten/keeper/registry/credentials.h"
#include "flatten/keeper/registry/registry_auth.h"
#include "tests/unit/lib/documents.h"
#include "tests/unit/lib/tempdir.h"
#include "tests/unit/lib/unit.h"

/* ---- challenges ---- */

static void check_bearer(const char *text, const char *realm, const char *service,
                         const char *scope)
{
    _cleanup_auth_challenge_ struct auth_challenge c = {0};
    struct err err = ERR_INIT;

    assert_works(auth_challenge_add(text, strlen(text), &c, &err), err);
    if (!c.bearer)
        fail_msg("no Bearer in %s", text);
    assert_string_equal(c.realm ? c.realm : "-", realm);
    assert_string_equal(c.service ? c.service : "-", service);
    assert_string_equal(c.scope ? c.scope : "-", scope);
}

static void test_bearer(void **state)
{
    (void)state;
    check_bearer("Bearer realm=\"https://a/t\",service=\"s\",scope=\"repository:x:pull\"",
                 "https://a/t", "s", "repository:x:pull");
    check_bearer("bearer  realm = \"r\" , service=plain", "r", "plain", "-");
    check_bearer("Bearer realm=\"with \\\"quotes\\\" and , commas\"",
                 "with \"quotes\" and , commas", "-", "-");
    check_bearer("Basic realm=\"other\", Bearer realm=\"r\"", "r", "-", "-");
    check_bearer("Negotiate YWJj==, Bearer realm=r,unknown=x,REALM=second", "r", "-", "-");
    check_bearer("Bearer realm=\"first\", Bearer realm=\"second\",service=\"s\"", "first", "-",
                 "-");
    check_bearer("Bearer", "-", "-", "-");
    check_bearer("Bearer ,,, realm=\"\"", "", "-", "-");
}

static void test_basic(void **state)
{
    static const char *const texts[] = {"Basic", "basic realm=\"x\"", "Digest a=b, Basic realm=x",
                                        "Basic realm=\"Bearer realm=r\""};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        _cleanup_auth_challenge_ struct auth_challenge c = {0};
        struct err err = ERR_INIT;
        assert_works(auth_challenge_add(texts[i], strlen(texts[i]), &c, &err), err);
        assert_true(c.basic);
        assert_false(c.bearer);
        assert_null(c.realm);
    }
}

static void test_neither(void **state)
{
    static const char *const texts[] = {"",        ",",       "Negotiate", "=\"x\"",
                                        "\"Basic", "Bearers", "x y"};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        _cleanup_auth_challenge_ struct auth_challenge c = {0};
        struct err err = ERR_INIT;
        int rc = auth_challenge_add(texts[i], strlen(texts[i]), &c, &err);
        assert_true(rc == 0 || err.kind == ERR_FORMAT);
        assert_false(c.bearer);
        assert_true(!c.basic || i == 4);
    }
}

static void test_quote_without_end(void **state)
{
    static const char text[] = "Bearer realm=\"https://a/";
    _cleanup_auth_challenge_ struct auth_challenge c = {0};
    struct err err = ERR_INIT;

    (void)state;
    assert_fails(auth_challenge_add(text, strlen(text), &c, &err), err, ERR_FORMAT);
}

/* ---- tokens ---- */

static void test_tokens(void **state)
{
    static const char *const good[] = {"{\"token\":\"abc\"}", "{\"access_token\":\"abc\"}",
                                       "{\"token\":\"\",\"access_token\":\"abc\",\"x\":[]}",
                                       "{\"token\":\"abc\",\"access_token\":\"no\"}"};
    static const char *const bad[] = {"",
                                      "{}",
                                      "[]",
                                      "\"abc\"",
                                      "{\"token\":1}",
                                      "{\"token\":\"\"}",
                                      "{\"token\":\"a b\"}",
                                      "{\"token\":\"a\\r\\nX: y\"}",
                                      "{\"token\":\"a\\u0000b\"}",
                                      "{\"token\":\"abc\""};
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        _cleanup_free_ char *token = registry_token_parse(good[i], strlen(good[i]), &err);
        assert_string_equal(token ? token : err.msg, "abc");
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        _cleanup_free_ char *token = registry_token_parse(bad[i], strlen(bad[i]), &err);
        if (token)
            fail_msg("%s is taken", bad[i]);
        assert_int_equal(err.kind, ERR_FORMAT);
    }
}

/* ---- credentials ---- */

/* Returns the user found in a file with these "auths"; "-" for none. */
static void check_user(const char *auths, const char *host, const char *repository,
                       const char *user)
{
    _cleanup_free_ char *text = strf("{\"auths\":{%s}}", auths);
    _cleanup_credentials_ struct credentials c = {0};
    struct err err = ERR_INIT;
    _cleanup_json_ struct json_doc *doc = json_parse(text, strlen(text), NULL, &err);

    assert_non_null(doc);
    int rc = credentials_in(json_root(doc), host, repository, &c, &err);
    if (rc < 0)
        fail_msg("%s", err.msg);
    assert_string_equal(rc ? c.username : "-", user);
    if (rc)
        assert_string_equal(c.password, "p:w");
}

#define AUTH(key, base64) "\"" key "\":{\"auth\":\"" base64 "\"}"
#define ONE               "b25lOnA6dw==" /* one:p:w */
#define TWO               "dHdvOnA6dw==" /* two:p:w */

static void test_longest_key(void **state)
{
    static const char auths[] = AUTH("quay.io", ONE) "," AUTH("quay.io/a/b", TWO);

    (void)state;
    check_user(auths, "quay.io", "a/b", "two");
    check_user(auths, "quay.io", "a/b/c", "two");
    check_user(auths, "quay.io", "a/bc", "one");
    check_user(auths, "quay.io", "a", "one");
    check_user(auths, "quay.io:443", "a", "-");
    check_user(auths, "ay.io", "a", "-");
    check_user(AUTH("quay.io/a", ONE), "quay.io", "b", "-");
    check_user(AUTH("localhost:5000", ONE), "localhost:5000", "a/b", "one");
}

static void test_old_keys(void **state)
{
    (void)state;
    check_user(AUTH("https://index.docker.io/v1/", ONE), "docker.io", "library/a", "one");
    check_user(AUTH("index.docker.io", ONE), "docker.io", "a/b", "one");
    check_user(AUTH("docker.io/a", TWO) "," AUTH("https://index.docker.io/v1/", ONE), "docker.io",
               "a/b", "two");
    check_user(AUTH("https://quay.io/v2/", ONE), "quay.io", "a/b", "one");
    check_user(AUTH("http://QUAY.io", ONE), "quay.io", "a/b", "one");
    check_user(AUTH("https://quay.io.evil.org/v1/", ONE), "quay.io", "a/b", "-");
}

static void test_nothing_stored(void **state)
{
    (void)state;
    check_user("", "quay.io", "a", "-");
    check_user("\"quay.io\":{}", "quay.io", "a", "-");
    check_user("\"quay.io\":null", "quay.io", "a", "-");
    check_user("\"quay.io\":{\"auth\":\"\"}", "quay.io", "a", "-");
    check_user("\"quay.io\":{\"username\":\"u\",\"password\":\"p:w\"}", "quay.io", "a", "u");
}

static void test_malformed(void **state)
{
    static const char *const bad[] = {"%%%", "b25l", "b25lOnA6dw"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        _cleanup_free_ char *text = strf("{\"auths\":{\"h.x\":{\"auth\":\"%s\"}}}", bad[i]);
        _cleanup_credentials_ struct credentials c = {0};
        struct err err = ERR_INIT;
        _cleanup_json_ struct json_doc *doc = json_parse(text, strlen(text), NULL, &err);
        assert_fails(credentials_in(json_root(doc), "h.x", "a", &c, &err), err, ERR_FORMAT);
        assert_contains(err.msg, "h.x");
    }
}

/* The first file with an entry wins; if REGISTRY_AUTH_FILE is set, only that file is read. */
static void test_files(void **state)
{
    const struct tempdir *dir = *state;
    static const char first[] = "{\"auths\":{" AUTH("a.org", ONE) "}}";
    static const char second[] = "{\"auths\":{" AUTH("a.org", TWO) "," AUTH("b.org", TWO) "}}";
    char path[160];
    struct err err = ERR_INIT;
    _cleanup_credentials_ struct credentials a = {0}, b = {0}, c = {0}, d = {0};

    mkdirat(dir->fd, "containers", 0700);
    put_file(dir->fd, "containers/auth.json", first, strlen(first));
    put_file(dir->fd, "config.json", second, strlen(second));
    unsetenv("REGISTRY_AUTH_FILE");
    setenv("XDG_RUNTIME_DIR", dir->path, 1);
    setenv("XDG_CONFIG_HOME", "/no/such/directory", 1);
    setenv("DOCKER_CONFIG", dir->path, 1);
    assert_works(credentials_find("a.org", "x", &a, &err), err);
    assert_string_equal(a.username, "one");
    assert_works(credentials_find("b.org", "x", &b, &err), err);
    assert_string_equal(b.username, "two");
    snprintf(path, sizeof(path), "%s/containers/auth.json", dir->path);
    setenv("REGISTRY_AUTH_FILE", path, 1);
    assert_works(credentials_find("b.org", "x", &c, &err), err);
    assert_null(c.username);
    setenv("REGISTRY_AUTH_FILE", "/no/such/file", 1);
    assert_fails(credentials_find("a.org", "x", &d, &err), err, ERR_SYSTEM);
    unsetenv("REGISTRY_AUTH_FILE");
}

UNIT_SUITE(test_registry_auth)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bearer),
        cmocka_unit_test(test_basic),
        cmocka_unit_test(test_neither),
        cmocka_unit_test(test_quote_without_end),
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_longest_key),
        cmocka_unit_test(test_old_keys),
        cmocka_unit_test(test_nothing_stored),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test_setup_teardown(test_files, tempdir_make, tempdir_remove),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
