#include "flatten/analyze/html_page.h"
#include "tests/unit/lib/unit.h"

/* No text is left that an HTML parser interprets within a script element. */
static void test_data(void **state)
{
    static const struct {
        const char *json, *escaped;
    } rows[] = {
        {"{\"a\":1}", "{\"a\":1}"},
        {"\"</script>\"", "\"\\u003c/script\\u003e\""},
        {"\"<!--<script\"", "\"\\u003c!--\\u003cscript\""},
        {"\"&amp;]]>\"", "\"\\u0026amp;]]\\u003e\""},
        {"\"a\xe2\x80\xa8z\xe2\x80\xa9\"", "\"a\\u2028z\\u2029\""},
        {"\"\xe2\x80\xa7\xe2\x80\"", "\"\xe2\x80\xa7\xe2\x80\""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_buf_ struct buf out = BUF_INIT;
        html_page_put_data(&out, rows[i].json, strlen(rows[i].json));
        assert_string_equal(out.data, rows[i].escaped);
    }
}

/* The page is well-formed for every content. */
static void test_page(void **state)
{
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct err err = ERR_INIT;

    (void)state;
    assert_works(html_page_make(NULL, 0, NULL, &out, &err), err);
    assert_contains(out.data, "<!DOCTYPE html>");
    assert_contains(out.data, "id=\"data\">{\"version\":1,\"images\":[]}</script>");
    assert_contains(out.data, "JSON.parse(");
    assert_contains(out.data, "prefers-color-scheme");
    assert_contains(out.data, "</html>");
    assert_null(strstr(out.data, "@STYLE@"));
    assert_null(strstr(out.data, "@DATA@"));
}

UNIT_SUITE(test_html_page)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_data),
                                              cmocka_unit_test(test_page)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
