/* Invalid JSON is refused, with the place of the wrong token. */
#include "tests/unit/base/json/json_unit.h"

static const struct json_options comments = {.comments = true};

struct bad {
    const char *text, *place;
};

static void assert_refused(const struct bad *cases, size_t count, const struct json_options *o)
{
    for (size_t i = 0; i < count; i++) {
        struct err err = ERR_INIT;
        struct json_doc *doc = json_parse(cases[i].text, strlen(cases[i].text), o, &err);
        if (doc)
            fail_msg("accepted: %s", cases[i].text);
        assert_int_equal(err.kind, ERR_FORMAT);
        if (strncmp(err.msg, cases[i].place, strlen(cases[i].place)) != 0)
            fail_msg("%s: expected %s, got %s", cases[i].text, cases[i].place, err.msg);
    }
}

static void wrong_tokens_are_pointed_at(void **state)
{
    static const struct bad cases[] = {
        {"{\"a\":tru}", "1:6: "},
        {"{\"a\":\n  nul}", "2:3: "},
        {"{\"a\" \"long text\"}", "1:6: "},
        {"{\"a\":\n  \"b\" \"ccc\"}", "2:7: "},
        {"[1,\n  2 3]", "2:5: "},
        {"[1,]", "1:4: "},
        {"{\"a\":1,}", "1:8: "},
        {"{a:1}", "1:2: "},
        {"{1:1}", "1:2: "},
        {"{'a':1}", "1:2: "},
        {"[1}", "1:3: "},
        {"{\"a\"]", "1:5: "},
        {"]", "1:1: "},
        {"[01]", "1:3: "},
        {"[+1]", "1:2: "},
        {"[.5]", "1:2: "},
        {"[1.]", "1:2: "},
        {"[1e]", "1:2: "},
        {"[-]", "1:2: "},
        {"[0x10]", "1:3: "},
        {"[NaN]", "1:2: "},
        {"[Infinity]", "1:2: "},
        {"[True]", "1:2: "},
        {"\xef\xbb\xbf{}", "1:1: "}, /* a byte order mark */
        {"[1, // c\n2]", "1:5: "},
        {"[1, /* c */ 2]", "1:5: "},
    };

    (void)state;
    assert_refused(cases, sizeof(cases) / sizeof(cases[0]), NULL);
}

static void wrong_strings_are_pointed_at(void **state)
{
    static const struct bad cases[] = {
        {"[\"a\nb\"]", "1:2: "},
        {"[\"a\tb\"]", "1:2: "},
        {"[\"\x01\"]", "1:2: "},
        {"[\"\\x\"]", "1:2: "},
        {"[\"\\u12g4\"]", "1:2: "},
        {"[\"\\u12\"]", "1:2: "},
        {"[\"\\", "1:2: "},
        {"[1,\n\"\xff\"]", "2:2: "},
        {"[\"\xc0\xaf\"]", "1:3: "},
        {"[\"\xed\xa0\x80\"]", "1:3: "},
        {"[\"\xf4\x90\x80\x80\"]", "1:3: "},
        {"[\"ok\xe2\x82\"]", "1:5: "},
        {"{\"\xff\":1}", "1:3: "},
    };

    (void)state;
    assert_refused(cases, sizeof(cases) / sizeof(cases[0]), NULL);
}

static void what_follows_the_document_is_refused(void **state)
{
    static const struct bad cases[] = {
        {"{}}", "1:3: "},   {"{} {}", "1:4: "},  {"1 2", "1:3: "},      {"[]\n\n,", "3:1: "},
        {"{} x", "1:4: "},  {"{} 12", "1:4: "},  {"{} \"abc", "1:4: "}, /* an open string is garbage
                                                                           as well */
        {"{} \"", "1:4: "}, {"{} tru", "1:4: "}, {"{} -", "1:4: "},     {"1 /", "1:3: "},
    };
    static const struct bad with_comments[] = {
        {"{} /* open", "1:4: "}, {"{} /", "1:4: "},       {"{} /* a */ /*", "1:12: "},
        {"1 /*/", "1:3: "},      {"1 // c\n x", "2:2: "}, {"1 /* c */ \"", "1:11: "},
        {"[1 /* open", "1:4: "}, {"/* open", "1:1: "},    {"[/ 1]", "1:2: "},
    };
    struct err err = ERR_INIT;

    (void)state;
    assert_refused(cases, sizeof(cases) / sizeof(cases[0]), NULL);
    assert_refused(with_comments, sizeof(with_comments) / sizeof(with_comments[0]), &comments);
    assert_null(json_parse("{}\0", 3, NULL, &err));
    assert_int_equal(err.kind, ERR_FORMAT);
}

static void nothing_is_no_document(void **state)
{
    static const struct bad cases[] = {{"", "1:1: "}, {" ", "1:1: "}, {"\n\n ", "3:1: "}};
    static const struct bad with_comments[] = {{"// only", "1:7: "}, {"/* only */", "1:10: "}};

    (void)state;
    assert_refused(cases, sizeof(cases) / sizeof(cases[0]), NULL);
    assert_refused(with_comments, 2, &comments);
}

/* Every proper prefix of a document that closes with its last byte is refused. */
static void truncated_documents_are_refused(void **state)
{
    static const char text[] = "{\"mounts\":[{\"destination\":\"/x\\u00e9\\\\\",\"n\":-1.5e+3,"
                               "\"b\":[true,false,null,{}]}],\"\xe2\x82\xac\":[[]]}";

    (void)state;
    json_free(parsed_text(text));
    for (size_t len = 0; len < strlen(text); len++) {
        struct err err = ERR_INIT;
        if (json_parse(text, len, NULL, &err))
            fail_msg("accepted: %.*s", (int)len, text);
        assert_int_equal(err.kind, ERR_FORMAT);
    }
}

static void failures_release_everything(void **state)
{
    static const struct json_options strict = {.unique_keys = true};
    struct err err = ERR_INIT;

    (void)state; /* LeakSanitizer watches */
    assert_null(json_parse("{\"a\":[1,2,{\"b\":\"text\"", 21, NULL, &err));
    assert_null(json_parse("{\"a\":\"\\u0041\",\"a\":1}", 20, &strict, &err));
    assert_int_equal(err.kind, ERR_FORMAT);
}

UNIT_SUITE(test_json_syntax)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_tokens_are_pointed_at),
        cmocka_unit_test(wrong_strings_are_pointed_at),
        cmocka_unit_test(what_follows_the_document_is_refused),
        cmocka_unit_test(nothing_is_no_document),
        cmocka_unit_test(truncated_documents_are_refused),
        cmocka_unit_test(failures_release_everything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
