#include "base/base64.h"
#include "tests/unit/lib/unit.h"

static void check(const char *plain, size_t len, const char *text)
{
    _cleanup_buf_ struct buf encoded = BUF_INIT, decoded = BUF_INIT;

    base64_encode(&encoded, plain, len);
    assert_string_equal(encoded.data ? encoded.data : "", text);
    assert_true(base64_decode(&decoded, text, strlen(text)));
    assert_int_equal(decoded.len, len);
    assert_memory_equal(decoded.data ? decoded.data : "", plain, len);
}

/* RFC 4648, 10 */
static void test_vectors(void **state)
{
    (void)state;
    check("", 0, "");
    check("f", 1, "Zg==");
    check("fo", 2, "Zm8=");
    check("foo", 3, "Zm9v");
    check("foob", 4, "Zm9vYg==");
    check("fooba", 5, "Zm9vYmE=");
    check("foobar", 6, "Zm9vYmFy");
    check("\0\377\0\376\373", 5, "AP8A/vs=");
}

static void test_refused(void **state)
{
    static const char *const bad[] = {"Z",    "Zg",   "Zg=",    "Zh==", "Zm9=", "Zg==Zg==", "====",
                                      "Z===", "Zm 9", "Zm9v\n", "Zm-_", "Zg=a", "===="};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        _cleanup_buf_ struct buf out = BUF_INIT;
        buf_puts(&out, "kept");
        if (base64_decode(&out, bad[i], strlen(bad[i])))
            fail_msg("'%s' is taken", bad[i]);
        assert_string_equal(out.data, "kept");
    }
}

static void test_nul(void **state)
{
    _cleanup_buf_ struct buf out = BUF_INIT;

    (void)state;
    assert_false(base64_decode(&out, "Zm\0v", 4));
}

UNIT_SUITE(test_base64)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_nul),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
