/* Reading JSON: unchanged documents, values, places. */

#include "tests/unit/base/json/json_unit.h"

static const struct json_options comments = {.comments = true};
static const struct json_options unique = {.unique_keys = true};

/* ---- identity ---- */

struct sample {
    const char *text;
    size_t len;
};

#define SAMPLE(text)                                                                               \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }

static void untouched_documents_keep_every_byte(void **state)
{
    static const struct sample samples[] = {
        SAMPLE("{}"),
        SAMPLE("[]"),
        SAMPLE("  {\t\"b\" : 1 ,\r\n \"a\":[ 1,2 , 3 ]\n}\n\n"),
        SAMPLE("{\"z\":1,\"a\":2,\"m\":3}"),
        SAMPLE("{\"a\":1,\"a\":2,\"a\":1}"),
        SAMPLE("[18446744073709551615,-9223372036854775808,1e400,-0,-0.0,1E+2,0.10]"),
        SAMPLE("[123456789012345678901234567890123456789012345678901234567890]"),
        SAMPLE("{\"\\u0000\":\"a\\u0000b\"}"),
        SAMPLE("[\"\\ud800\",\"\\udfff\\ud800\",\"\\ud83d\\ude9a\",\"\\uD83D\"]"),
        SAMPLE("[\"\\/\\u0041\\b\\f\\n\\r\\t\\\\\\\"\"]"),
        SAMPLE("\"d\xc3\xa9j\xc3\xa0 \xf0\x9f\x9a\x9a \xe4\xb8\xad\""),
        SAMPLE("null"),
        SAMPLE("true"),
        SAMPLE(" false "),
        SAMPLE("\"\""),
        SAMPLE("0"),
        SAMPLE("-12.5e-3"),
        SAMPLE("\n 7"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        _cleanup_json_ struct json_doc *doc = parsed(samples[i].text, samples[i].len, NULL);
        assert_false(json_modified(doc));
        assert_written(doc, samples[i].text);
    }
}

static void comments_are_kept_where_they_are_allowed(void **state)
{
    static const char text[] =
        "// policy\n{ /* a */ \"a\" /**/ : // b\n 1 , /* c */ \"b\": [ /***/ "
        "2 // d\n ] /*/ e */ } // no newline at the end";
    struct err err = ERR_INIT;

    (void)state;
    _cleanup_json_ struct json_doc *doc = parsed(text, strlen(text), &comments);
    assert_written(doc, text);
    assert_null(json_parse(text, strlen(text), NULL, &err));
    assert_int_equal(err.kind, ERR_FORMAT);
    assert_int_equal(strncmp(err.msg, "1:1: ", 5), 0);
}

static void writing_appends(void **state)
{
    _cleanup_json_ struct json_doc *doc = parsed_text("[1]");
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct err err = ERR_INIT;

    (void)state;
    buf_puts(&out, "x=");
    assert_works(json_write(doc, &out, &err), err);
    assert_works(json_write(doc, &out, &err), err);
    assert_string_equal(out.data, "x=[1][1]");
}

static void the_text_is_copied(void **state)
{
    char text[] = "{\"a\":\"b\"}";
    _cleanup_json_ struct json_doc *doc = parsed_text(text);

    (void)state;
    memset(text, 'X', sizeof(text));
    assert_string_equal(json_text(json_get(json_root(doc), "a")), "b");
    assert_written(doc, "{\"a\":\"b\"}");
}

/* ---- values ---- */

static void types_and_lookups(void **state)
{
    _cleanup_json_ struct json_doc *doc =
        parsed_text("{\"n\":null,\"t\":true,\"f\":false,\"i\":5,\"s\":\"x\",\"a\":[10,[20]],\"o\":{"
                    "\"p\":{\"q\":"
                    "\"deep\"}}}");
    struct json *root = json_root(doc);

    (void)state;
    assert_true(json_is(root, JSON_OBJECT));
    assert_int_equal(json_count(root), 7);
    assert_true(json_is(json_get(root, "n"), JSON_NULL));
    assert_true(json_is(json_get(root, "t"), JSON_BOOL) && json_true(json_get(root, "t")));
    assert_true(json_is(json_get(root, "f"), JSON_BOOL) && !json_true(json_get(root, "f")));
    assert_string_equal(json_text(json_get(root, "s")), "x");
    assert_null(json_text(json_get(root, "i")));
    assert_int_equal(json_count(json_get(root, "a")), 2);
    assert_string_equal(json_at(json_get(root, "a"), 0)->text, "10");
    assert_int_equal(json_count(json_at(json_get(root, "a"), 1)), 1);
    assert_string_equal(json_text(json_path(root, "o", "p", "q", NULL)), "deep");
    assert_null(json_path(root, "o", "x", "q", NULL));
    assert_null(json_path(root, "s", "p", NULL));
    assert_string_equal(json_type_name(JSON_ARRAY), "an array");
    assert_string_equal(json_type_name(JSON_OBJECT), "an object");
    assert_string_equal(json_type_name(JSON_NULL), "null");
}

static void lookups_accept_what_is_not_there(void **state)
{
    _cleanup_json_ struct json_doc *doc = parsed_text("[1]");
    uint64_t u;
    int64_t i;

    (void)state;
    assert_null(json_get(NULL, "a"));
    assert_null(json_get(json_root(doc), "a"));
    assert_null(json_at(NULL, 0));
    assert_null(json_at(json_root(doc), 1));
    assert_null(json_at(json_root(doc), SIZE_MAX));
    assert_null(json_path(NULL, "a", NULL));
    assert_null(json_text(NULL));
    assert_int_equal(json_count(NULL), 0);
    assert_int_equal(json_count(json_at(json_root(doc), 0)), 0);
    assert_false(json_is(NULL, JSON_NULL));
    assert_false(json_true(NULL));
    assert_false(json_true(json_at(json_root(doc), 0)));
    assert_false(json_u64(NULL, &u));
    assert_false(json_i64(NULL, &i));
}

static void keys_are_bytes_with_a_length(void **state)
{
    static const char text[] = "{\"a\\u0000b\":1,\"a\":2,\"\":3,\"d.o.t\":4,\"\\u0061b\":5}";
    _cleanup_json_ struct json_doc *doc = parsed(text, strlen(text), &unique);
    struct json *root = json_root(doc);

    (void)state;
    assert_string_equal(json_get_len(root, "a\0b", 3)->text, "1");
    assert_string_equal(json_get(root, "a")->text, "2");
    assert_string_equal(json_get(root, "")->text, "3");
    assert_string_equal(json_get(root, "d.o.t")->text, "4");
    assert_string_equal(json_get(root, "ab")->text, "5"); /* compared after unescaping */
    assert_null(json_get(root, "A"));
    assert_int_equal(root->members[0].key_len, 3);
}

static void strings_are_unescaped(void **state)
{
    static const struct {
        const char *text, *bytes;
        size_t len;
    } cases[] = {
        {"\"\"", "", 0},
        {"\"\\b\\f\\n\\r\\t\\/\\\\\\\"\"", "\b\f\n\r\t/\\\"", 8},
        {"\"\\u0041\\u00e9\\u20ac\\u20AC\"", "A\xc3\xa9\xe2\x82\xac\xe2\x82\xac", 9},
        {"\"\\ud83d\\ude9a\"", "\xf0\x9f\x9a\x9a", 4},
        {"\"\\uD83D\\uDE9A!\"", "\xf0\x9f\x9a\x9a!", 5},
        {"\"a\\u0000b\"", "a\0b", 3},
        {"\"\\u0000\"", "\0", 1},
        {"\"\\ud800\"", "\xef\xbf\xbd", 3},
        {"\"\\ud800x\"", "\xef\xbf\xbdx", 4},
        {"\"\\udc00x\"", "\xef\xbf\xbdx", 4},
        {"\"\\ud800\\n\"", "\xef\xbf\xbd\n", 4},
        {"\"\\ud800\\u0041\"",
         "\xef\xbf\xbd"
         "A",
         4},
        {"\"\\ud800\\ud83d\\ude9a\"", "\xef\xbf\xbd\xf0\x9f\x9a\x9a", 7},
        {"\"\\ude9a\\ud83d\"", "\xef\xbf\xbd\xef\xbf\xbd", 6},
        {"\"\\\\ud800\"", "\\ud800", 6},
        {"\"\\uffff\"", "\xef\xbf\xbf", 3},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        _cleanup_json_ struct json_doc *doc = parsed_text(cases[i].text);
        struct json *s = json_root(doc);
        assert_int_equal(s->type, JSON_STRING);
        assert_int_equal(s->len, cases[i].len);
        assert_memory_equal(s->text, cases[i].bytes, s->len + 1);
        bool whole = !memchr(cases[i].bytes, '\0', cases[i].len);
        assert_ptr_equal(json_text(s), whole ? s->text : NULL);
    }
}

static void integers_and_their_ranges(void **state)
{
    static const struct {
        const char *text;
        bool is_u, is_i;
        uint64_t u;
        int64_t i;
    } cases[] = {
        {"0", true, true, 0, 0},
        {"-0", false, true, 0, 0},
        {"42", true, true, 42, 42},
        {"-1", false, true, 0, -1},
        {"9223372036854775807", true, true, INT64_MAX, INT64_MAX},
        {"9223372036854775808", true, false, 9223372036854775808u, 0},
        {"-9223372036854775808", false, true, 0, INT64_MIN},
        {"-9223372036854775809", false, false, 0, 0},
        {"18446744073709551615", true, false, UINT64_MAX, 0},
        {"18446744073709551616", false, false, 0, 0},
        {"1e400", false, false, 0, 0},
        {"1e2", false, false, 0, 0},
        {"1.0", false, false, 0, 0},
        {"\"5\"", false, false, 0, 0},
        {"true", false, false, 0, 0},
    };

    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        _cleanup_json_ struct json_doc *doc = parsed_text(cases[k].text);
        uint64_t u = 0;
        int64_t i = 0;
        if (json_u64(json_root(doc), &u) != cases[k].is_u ||
            json_i64(json_root(doc), &i) != cases[k].is_i)
            fail_msg("%s", cases[k].text);
        if (cases[k].is_u)
            assert_true(u == cases[k].u);
        if (cases[k].is_i)
            assert_true(i == cases[k].i);
    }
}

/* ---- places ---- */

static void assert_span(const char *text, const struct json *value, const char *expected)
{
    assert_int_equal(value->end - value->start, strlen(expected));
    assert_memory_equal(text + value->start, expected, strlen(expected));
}

static void values_know_their_place(void **state)
{
    static const char text[] = "/* [1] */ { // \"a\": 9\n \"a\" : /* , */ 12 ,\"b\"/**/:[ true,\n"
                               "/* x */\"s\\\"]\" , null ,{ } ] , \"c\":-1.5e3}  // }";
    _cleanup_json_ struct json_doc *doc = parsed(text, strlen(text), &comments);
    const struct json *root = json_root(doc), *b = json_get(root, "b");

    (void)state;
    assert_int_equal(root->start, 10);
    assert_int_equal(text[root->end - 1], '}');
    assert_string_equal(text + root->end, "  // }");
    assert_span(text, json_get(root, "a"), "12");
    assert_span(text, json_get(root, "c"), "-1.5e3");
    assert_span(text, b, "[ true,\n/* x */\"s\\\"]\" , null ,{ } ]");
    assert_span(text, json_at(b, 0), "true");
    assert_span(text, json_at(b, 1), "\"s\\\"]\"");
    assert_span(text, json_at(b, 2), "null");
    assert_span(text, json_at(b, 3), "{ }");
    for (size_t i = 0; i < root->len; i++)
        assert_int_equal(text[root->members[i].key_start], '"');
    assert_memory_equal(text + root->members[1].key_start, "\"b\"", 3);
}

static void a_number_that_ends_the_text_has_its_span(void **state)
{
    (void)state;
    _cleanup_json_ struct json_doc *doc = parsed_text(" \n 1e400");
    assert_int_equal(json_root(doc)->start, 3);
    assert_int_equal(json_root(doc)->end, 8);
    assert_string_equal(json_root(doc)->text, "1e400");
}

static void positions_count_from_one_in_bytes(void **state)
{
    static const char text[] = "{\n  \"\xc3\xa9\": 1,\n\n \"b\": 2}";
    _cleanup_json_ struct json_doc *doc = parsed_text(text);
    unsigned line, column;

    (void)state;
    json_position(doc, 0, &line, &column);
    assert_true(line == 1 && column == 1);
    json_position(doc, json_get(json_root(doc), "\xc3\xa9")->start, &line, &column);
    assert_true(line == 2 && column == 9);
    json_position(doc, json_get(json_root(doc), "b")->start, &line, &column);
    assert_true(line == 4 && column == 7);
    json_position(doc, 100000, &line, &column); /* beyond the end: clamped */
    assert_true(line == 4 && column == 9);
}

/* ---- duplicates ---- */

static void duplicate_keys_are_kept_when_allowed(void **state)
{
    _cleanup_json_ struct json_doc *doc = parsed_text("{\"a\":1,\"b\":2,\"a\":3}");

    (void)state;
    assert_int_equal(json_count(json_root(doc)), 3);
    assert_string_equal(json_get(json_root(doc), "a")->text, "1"); /* the first */
}

static void duplicate_keys_are_refused_with_their_place(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{\"a\":1,\"a\":1}", "1:8: this key is given twice"},
        {"{\n \"x\": {\"k\": 1,\n   \"k\": 2}}", "3:4: this key is given twice"},
        {"[{\"a\":1},{\"b\":1,\n\"b\":2}]", "2:1: this key is given twice"},
        {"{\"\\u0061\":1,\"a\":2}", "1:13: this key is given twice"},
        {"{\"\":1,\"\":2}", "1:7: this key is given twice"},
        {"{\"a\\u0000b\":1,\"a\\u0000b\":2}", "1:15: this key is given twice"},
        {"{\"\\ud800\":1,\"\\udc00\":2}", "1:13: this key is given twice"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct err err = ERR_INIT;
        assert_null(json_parse(cases[i].text, strlen(cases[i].text), &unique, &err));
        assert_int_equal(err.kind, ERR_FORMAT);
        assert_string_equal(err.msg, cases[i].message);
    }
}

static void like_keys_are_no_duplicates(void **state)
{
    static const char text[] =
        "{\"a\":{\"a\":{\"a\":1}},\"a\\u0000\":1,\"a\\u0000b\":1,\"A\":1,\"a \":1,\"\":1}";

    (void)state;
    _cleanup_json_ struct json_doc *doc = parsed(text, strlen(text), &unique);
    assert_int_equal(json_count(json_root(doc)), 6);
}

static void find_duplicate_among(int count)
{
    _cleanup_buf_ struct buf b = BUF_INIT;
    struct err err = ERR_INIT;

    buf_putc(&b, '{');
    for (int i = 0; i < count; i++)
        buf_printf(&b, "%s\"key%d\":%d", i ? "," : "", i, i);
    size_t len = b.len;
    buf_putc(&b, '}');
    json_free(parsed(b.data, b.len, &unique));
    buf_truncate(&b, len);
    buf_printf(&b, ",\n\"key%d\":0}", count / 2);
    assert_null(json_parse(b.data, b.len, &unique, &err));
    assert_string_equal(err.msg, "2:1: this key is given twice");
}

static void a_duplicate_is_found_among_few_and_many(void **state)
{
    (void)state;
    for (int count = 1; count < 20; count++)
        find_duplicate_among(count);
    find_duplicate_among(20000);
}

static void the_text_is_taken_over(void **state)
{
    static const char text[] = "{ \"a\": [1, {}, \"\\u0041\"] }";
    _cleanup_buf_ struct buf b = BUF_INIT;
    struct err err = ERR_INIT;

    (void)state;
    buf_puts(&b, text);
    _cleanup_json_ struct json_doc *doc = json_parse_buf(&b, NULL, &err);
    assert_non_null(doc);
    assert_null(b.data);
    assert_string_equal(json_text(json_at(json_get(json_root(doc), "a"), 2)), "A");
    assert_written(doc, text);
    assert_null(json_parse_buf(&b, NULL, &err)); /* an empty text */
    assert_int_equal(err.kind, ERR_FORMAT);
}

UNIT_SUITE(test_json)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(untouched_documents_keep_every_byte),
        cmocka_unit_test(comments_are_kept_where_they_are_allowed),
        cmocka_unit_test(writing_appends),
        cmocka_unit_test(the_text_is_copied),
        cmocka_unit_test(types_and_lookups),
        cmocka_unit_test(lookups_accept_what_is_not_there),
        cmocka_unit_test(keys_are_bytes_with_a_length),
        cmocka_unit_test(strings_are_unescaped),
        cmocka_unit_test(integers_and_their_ranges),
        cmocka_unit_test(values_know_their_place),
        cmocka_unit_test(a_number_that_ends_the_text_has_its_span),
        cmocka_unit_test(positions_count_from_one_in_bytes),
        cmocka_unit_test(duplicate_keys_are_kept_when_allowed),
        cmocka_unit_test(duplicate_keys_are_refused_with_their_place),
        cmocka_unit_test(like_keys_are_no_duplicates),
        cmocka_unit_test(a_duplicate_is_found_among_few_and_many),
        cmocka_unit_test(the_text_is_taken_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
