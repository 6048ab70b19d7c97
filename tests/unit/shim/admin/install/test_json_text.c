/* Edits of JSON files: the layout follows the neighbours, all other bytes stay. */
#include "tests/unit/lib/unit.h"

#include "shim/admin/install/json_text.h"

static char *edited(const char *text, const char *const *path, size_t depth, const char *value)
{
    struct buf b = BUF_INIT;
    struct err err = ERR_INIT;

    buf_puts(&b, text);
    if (value)
        assert_works(json_text_set(&b, path, depth, value, &err), err);
    else
        assert_works(json_text_remove(&b, path, depth, &err), err);
    return buf_take(&b, &err);
}

#define PATH(...)                                                                                  \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

#define assert_set(text, path, depth, value, expected)                                             \
    do {                                                                                           \
        _cleanup_free_ char *out_ = edited(text, path, depth, value);                              \
        assert_string_equal(out_, expected);                                                       \
    } while (0)

static void a_member_is_added_in_the_layout_of_the_others(void **state)
{
    (void)state;
    const char *const *path = PATH("r", "f", "p");
    assert_set("{\n\t\"a\": 1e400\n}\n", path, 3, "\"x\"",
               "{\n\t\"a\": 1e400,\n\t\"r\": {\n\t\t\"f\": {\n\t\t\t\"p\": \"x\"\n\t\t}\n\t}\n}\n");
    assert_set("{\n  \"r\": {\n    \"n\": {}\n  }\n}", path, 3, "1",
               "{\n  \"r\": {\n    \"n\": {},\n    \"f\": {\n      \"p\": 1\n    }\n  }\n}");
    assert_set("{\"a\":1}", path, 3, "1", "{\"a\":1, \"r\": { \"f\": { \"p\": 1 } }}");
    assert_set("{ \"r\": {} }", path, 3, "1", "{ \"r\": { \"f\": { \"p\": 1 } } }");
    assert_set("{\n  \"r\": {}\n}", path, 2, "1", "{\n  \"r\": {\n    \"f\": 1\n  }\n}");
    assert_set("{}\n", PATH("a"), 1, "1", "{\n    \"a\": 1\n}\n");
}

static void a_value_is_replaced_where_it_stands(void **state)
{
    (void)state;
    assert_set("{ \"a\" : \"old\" , \"b\": 1.0 }", PATH("a"), 1, "\"new\"",
               "{ \"a\" : \"new\" , \"b\": 1.0 }");
    assert_set("{ \"a\" : 1 }", PATH("a"), 1, "1", "{ \"a\" : 1 }");
}

static void a_member_is_taken_out_with_its_comma(void **state)
{
    (void)state;
    assert_set("{\"a\":1, \"b\":2, \"c\":3}", PATH("a"), 1, NULL, "{\"b\":2, \"c\":3}");
    assert_set("{\"a\":1, \"b\":2, \"c\":3}", PATH("b"), 1, NULL, "{\"a\":1, \"c\":3}");
    assert_set("{\n \"a\":1,\n \"c\":3\n}", PATH("c"), 1, NULL, "{\n \"a\":1\n}");
    assert_set("{\"x\": { \"a\": 1 } }", PATH("x", "a"), 2, NULL, "{\"x\": {} }");
    assert_set("{\"x\": { \"a\": 1 } }", PATH("x", "b"), 2, NULL, "{\"x\": { \"a\": 1 } }");
    assert_set("{\"x\": { \"a\": 1 } }", PATH("y", "b"), 2, NULL, "{\"x\": { \"a\": 1 } }");
}

static void what_is_no_object_is_left_alone(void **state)
{
    (void)state;
    static const char *const texts[] = {"[]", "{\"r\":[]}", "{\"r\":null}", "",
                                        "{\"r\":1,\"r\":2}"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        _cleanup_buf_ struct buf b = BUF_INIT;
        struct err err = ERR_INIT;
        buf_puts(&b, texts[i]);
        assert_fails(json_text_set(&b, PATH("r", "f"), 2, "1", &err), err, ERR_FORMAT);
        assert_int_equal(b.len, strlen(texts[i]));
    }
}

UNIT_SUITE(test_json_text)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_member_is_added_in_the_layout_of_the_others),
        cmocka_unit_test(a_value_is_replaced_where_it_stands),
        cmocka_unit_test(a_member_is_taken_out_with_its_comma),
        cmocka_unit_test(what_is_no_object_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
