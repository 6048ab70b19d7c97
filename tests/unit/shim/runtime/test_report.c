/* Failure records, as the parsers of the engines expect them. */
#include "tests/unit/lib/shim_unit.h"

#include "shim/runtime/report.h"

static void assert_record(const char *message, const char *format, const char *expected)
{
    _cleanup_buf_ struct buf out = BUF_INIT;

    report_record(message, format, 1767323045, &out); /* 2026-01-02T03:04:05Z */
    assert_string_equal(out.data, expected);
}

static void test_json(void **state)
{
    (void)state;
    assert_record("no", "json",
                  "{\"level\":\"error\",\"msg\":\"no\",\"time\":\"2026-01-02T03:04:05Z\"}\n");
    assert_record("a \"b\"\n\x1b\\", "json",
                  "{\"level\":\"error\",\"msg\":\"a \\\"b\\\"\\n\\u001b\\\\\","
                  "\"time\":\"2026-01-02T03:04:05Z\"}\n");
}

static void test_json_of_any_bytes_parses(void **state)
{
    _cleanup_buf_ struct buf out = BUF_INIT;
    char message[256];

    (void)state;
    for (int i = 0; i < 255; i++)
        message[i] = (char)(i + 1);
    message[255] = '\0';
    report_record(message, "json", 0, &out);
    _cleanup_json_ struct json_doc *doc = shim_document(out.data);
    assert_string_equal(json_text(json_get(json_root(doc), "level")), "error");
    assert_int_equal(strcspn(out.data, "\n"), out.len - 1);
}

static void test_text(void **state)
{
    (void)state;
    assert_record("say \"no\"", NULL,
                  "time=\"2026-01-02T03:04:05Z\" level=error msg=\"say \\\"no\\\"\"\n");
    assert_record("no", "text", "time=\"2026-01-02T03:04:05Z\" level=error msg=\"no\"\n");
}

static void test_where(void **state)
{
    (void)state;
    assert_string_equal(report_file("/x/log.json"), "/x/log.json");
    assert_string_equal(report_file("file:/x"), "/x");
    assert_string_equal(report_file("relative"), "relative");
    assert_null(report_file(NULL));
    assert_null(report_file(""));
    assert_null(report_file("syslog:me"));
    assert_null(report_file("journald:me"));
    assert_null(report_file("/dev/stderr"));
}

UNIT_SUITE(test_report)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_json_of_any_bytes_parses),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_where),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
