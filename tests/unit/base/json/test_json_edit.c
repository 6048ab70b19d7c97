/* Editing JSON: each function; bytes beside an edit stay. */
#include "tests/unit/base/json/json_unit.h"

/* An edit of a document in place; the tables below are (before, edit, after). */
typedef void edit_fn(struct json_doc *doc, struct json *root);

static void assert_edit(const char *before, edit_fn *edit, const char *after)
{
    _cleanup_json_ struct json_doc *doc = parsed_text(before);

    edit(doc, json_root(doc));
    assert_false(json_failed(doc));
    assert_int_equal(json_modified(doc), strcmp(before, after) != 0);
    _cleanup_free_ char *text = written(doc);
    assert_string_equal(text, after);
    _cleanup_json_ struct json_doc *again = parsed_text(text);
    assert_written(again, after);
}

/* ---- making values ---- */

static void all_kinds(struct json_doc *doc, struct json *root)
{
    json_set(doc, root, "s", json_string(doc, "text"));
    json_set(doc, root, "l", json_string_len(doc, "a\0b", 3));
    json_set(doc, root, "u", json_number(doc, UINT64_MAX));
    json_set(doc, root, "i", json_number_signed(doc, INT64_MIN));
    json_set(doc, root, "t", json_bool(doc, true));
    json_set(doc, root, "f", json_bool(doc, false));
    json_set(doc, root, "a", json_array(doc));
    json_set(doc, root, "o", json_object(doc));
}

static void every_kind_of_value_can_be_made(void **state)
{
    (void)state;
    assert_edit("{}", all_kinds,
                "{\"s\":\"text\",\"l\":\"a\\u0000b\",\"u\":18446744073709551615,"
                "\"i\":-9223372036854775808,\"t\":true,\"f\":false,\"a\":[],\"o\":{}}");
}

static void a_new_object_is_filled(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_json_ struct json_doc *doc = json_new_object(&err);

    (void)state;
    assert_non_null(doc);
    assert_written(doc, "{}");
    all_kinds(doc, json_root(doc));
    assert_int_equal(json_count(json_root(doc)), 8);
    assert_string_equal(json_text(json_get(json_root(doc), "s")), "text");
}

static void awkward_strings(struct json_doc *doc, struct json *root)
{
    json_append(doc, root, json_string(doc, "q\" b\\ s/ n\n t\t c\x01 d\x7f"));
    json_append(doc, root, json_string(doc, "\xe2\x82\xac"));
    json_append(doc, root, json_string(doc, "bad\xff\xc0\xaf!"));
    json_append(doc, root, json_string(doc, ""));
}

static void made_strings_are_escaped_and_valid(void **state)
{
    (void)state;
    assert_edit("[]", awkward_strings,
                "[\"q\\\" b\\\\ s/ n\\n t\\t c\\u0001 d\\u007f\",\"\xe2\x82\xac\","
                "\"bad\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd!\",\"\"]");
}

static void awkward_keys(struct json_doc *doc, struct json *root)
{
    json_set(doc, root, "new\"\n", json_bool(doc, true));
    json_set(doc, root, "bad\xff", json_bool(doc, true));
    json_set(doc, root, "com.example/a.b", json_bool(doc, true));
}

static void keys_are_escaped_and_valid(void **state)
{
    (void)state;
    assert_edit("{\"a\\u0000\\/\": 1,\"\\u00e9\":2}", awkward_keys,
                "{\"a\\u0000/\":1,\"\xc3\xa9\":2,\"new\\\"\\n\":true,\"bad\xef\xbf\xbd\":true,"
                "\"com.example/a.b\":true}");
}

/* ---- changing objects ---- */

static void set_b(struct json_doc *doc, struct json *root)
{
    assert_non_null(json_set(doc, root, "b", json_number(doc, 5)));
    assert_string_equal(json_get(root, "b")->text, "5");
    assert_ptr_equal(json_get(root, "b")->parent, root);
}

static void set_replaces_in_place_or_adds_last(void **state)
{
    (void)state;
    assert_edit("{}", set_b, "{\"b\":5}");
    assert_edit("{\"a\":1}", set_b, "{\"a\":1,\"b\":5}");
    assert_edit("{ \"b\" : [1] , \"a\":1 }", set_b, "{\"b\":5,\"a\":1}");
    assert_edit("{\"B\":1,\"b \":2,\"b\\u0000\":3}", set_b,
                "{\"B\":1,\"b \":2,\"b\\u0000\":3,\"b\":5}");
    assert_edit("{\"\\u0062\":1}", set_b, "{\"b\":5}");
}

static void set_deep(struct json_doc *doc, struct json *root)
{
    json_set(doc, json_path(root, "x", "y", NULL), "k", json_bool(doc, true));
}

/* Siblings of every kind, with their own spacing, escapes and digits. */
static void siblings_keep_their_bytes(void **state)
{
    (void)state;
    assert_edit("{ \"p\" : [ 1e400 , -0, 18446744073709551615 ] ,\n"
                "  \"x\" : { \"q\":\"\\ud800 \\u0000 \\/ \\u0041\", \"y\" : { \"old\" : 1.50 },\n"
                "    \"z\" : { \"a\" : 1, \"a\" : 2 } },\n"
                "  \"r\" : \"d\xc3\xa9j\xc3\xa0\" , \"n\" : null, \"t\": true }\n",
                set_deep,
                "{\"p\":[ 1e400 , -0, 18446744073709551615 ],"
                "\"x\":{\"q\":\"\\ud800 \\u0000 \\/ \\u0041\",\"y\":{\"old\":1.50,\"k\":true},"
                "\"z\":{ \"a\" : 1, \"a\" : 2 }},"
                "\"r\":\"d\xc3\xa9j\xc3\xa0\",\"n\":null,\"t\":true}");
}

static void remove_b(struct json_doc *doc, struct json *root)
{
    (void)doc;
    json_remove(root, "b");
    assert_null(json_get(root, "b"));
}

static void remove_takes_every_member_of_that_name(void **state)
{
    (void)state;
    assert_edit("{\"a\":1,\"b\":2,\"c\":3}", remove_b, "{\"a\":1,\"c\":3}");
    assert_edit("{\"b\":1,\"a\":[ 1 ],\"b\":2}", remove_b, "{\"a\":[ 1 ]}");
    assert_edit("{\"b\":1}", remove_b, "{}");
    assert_edit("{ \"a\" : 1 }", remove_b, "{ \"a\" : 1 }"); /* nothing to do: untouched */
    assert_edit("[ 1 ]", remove_b, "[ 1 ]");
}

/* ---- changing arrays ---- */

static void insert_everywhere(struct json_doc *doc, struct json *root)
{
    assert_non_null(json_insert(doc, root, 0, json_string(doc, "first")));
    assert_non_null(json_insert(doc, root, 2, json_string(doc, "mid")));
    assert_non_null(json_insert(doc, root, json_count(root), json_string(doc, "last")));
    assert_string_equal(json_text(json_at(root, 2)), "mid");
}

static void insert_shifts_the_rest(void **state)
{
    (void)state;
    assert_edit("[ {\"a\" : 1} , [ 2 ], 3]", insert_everywhere,
                "[\"first\",{\"a\" : 1},\"mid\",[ 2 ],3,\"last\"]");
}

static void append_many(struct json_doc *doc, struct json *root)
{
    for (uint64_t i = 0; i < 100; i++)
        assert_non_null(json_append(doc, root, json_number(doc, i)));
    assert_int_equal(json_count(root), 101);
    for (size_t i = 0; i < 99; i++)
        json_remove_at(root, 2);
}

static void append_and_remove_at(void **state)
{
    (void)state;
    assert_edit("[ 7.0 ]", append_many, "[7.0,0]");
}

static void replace_second(struct json_doc *doc, struct json *root)
{
    json_replace_at(doc, root, 1, json_string(doc, "x"));
    assert_ptr_equal(json_at(root, 1)->parent, root);
}

static void replace_at_leaves_the_others(void **state)
{
    (void)state;
    assert_edit("[ 1.0 , 2.0 , 3.0 ]", replace_second, "[1.0,\"x\",3.0]");
}

static void remove_beyond(struct json_doc *doc, struct json *root)
{
    (void)doc;
    json_remove_at(root, 2);
    json_remove_at(root, SIZE_MAX);
    json_remove_at(json_at(root, 0), 0);
    json_remove_at(NULL, 0);
    json_remove(NULL, "a");
}

static void removing_what_is_not_there_changes_nothing(void **state)
{
    (void)state;
    assert_edit("[ 1 , 2 ]", remove_beyond, "[ 1 , 2 ]");
}

/* ---- building and moving ---- */

static void build_inside_out(struct json_doc *doc, struct json *root)
{
    struct json *mount = json_object(doc), *options = json_array(doc);

    json_set(doc, root, "mounts", json_array(doc));
    json_append(doc, json_get(root, "mounts"), mount);
    json_set(doc, mount, "options", options);
    json_append(doc, options, json_string(doc, "ro"));
    json_set(doc, mount, "source", json_string(doc, "/x"));
}

static void containers_may_be_filled_after_they_are_placed(void **state)
{
    (void)state;
    assert_edit("{\"a\": 1}", build_inside_out,
                "{\"a\":1,\"mounts\":[{\"options\":[\"ro\"],\"source\":\"/x\"}]}");
}

static void move_a_to_b(struct json_doc *doc, struct json *root)
{
    struct json *value = json_get(root, "a");

    json_remove(root, "a");
    json_set(doc, json_get(root, "o"), "b", value);
}

static void a_moved_value_keeps_its_bytes(void **state)
{
    (void)state;
    assert_edit("{\"a\":[ 1.0, \"\\u0041\" ],\"o\":{}}", move_a_to_b,
                "{\"o\":{\"b\":[ 1.0, \"\\u0041\" ]}}");
}

static void edit_moved(struct json_doc *doc, struct json *root)
{
    move_a_to_b(doc, root);
    json_append(doc, json_path(root, "o", "b", NULL), json_bool(doc, true));
}

static void a_moved_value_can_be_edited(void **state)
{
    (void)state;
    assert_edit("{\"a\":[ 1.0 ],\"o\":{}}", edit_moved, "{\"o\":{\"b\":[1.0,true]}}");
}

static void copies_come_from_other_documents(void **state)
{
    static const char source[] = "{\"n\":[ 1e400, -0 ],\"s\":\"\\u0041\\u0000\",\"t\":true,"
                                 "\"z\":null,\"k\\u0000\":{}}";
    _cleanup_json_ struct json_doc *to = parsed_text("{\"a\":0}");
    struct json_doc *from = parsed_text(source);

    (void)state;
    json_set(to, json_root(to), "c", json_copy(to, json_root(from)));
    assert_false(json_modified(from));
    json_free(from); /* the copy is independent of it */
    assert_written(to, "{\"a\":0,\"c\":{\"n\":[1e400,-0],\"s\":\"A\\u0000\",\"t\":true,"
                       "\"z\":null,\"k\\u0000\":{}}}");
    json_append(to, json_path(json_root(to), "c", "n", NULL), json_bool(to, false));
    assert_int_equal(json_count(json_path(json_root(to), "c", "n", NULL)), 3);
}

static void copy_within(struct json_doc *doc, struct json *root)
{
    json_append(doc, root, json_copy(doc, json_at(root, 0)));
    json_append(doc, json_at(root, 1), json_number(doc, 2));
}

static void a_copy_is_apart_from_its_original(void **state)
{
    (void)state;
    assert_edit("[[ 1 ]]", copy_within, "[[ 1 ],[1,2]]");
}

static void comments_beside_an_edit_may_go_but_values_stay(void **state)
{
    static const char text[] = "// head\n{ /* x */ \"a\": [1, // inside\n 2], \"b\": 1 }";
    static const struct json_options o = {.comments = true};
    _cleanup_json_ struct json_doc *doc = parsed(text, strlen(text), &o);

    (void)state;
    json_set(doc, json_root(doc), "b", json_number(doc, 2));
    assert_written(doc, "{\"a\":[1, // inside\n 2],\"b\":2}");
}

static void deep_documents_can_be_edited(void **state)
{
    _cleanup_buf_ struct buf b = BUF_INIT;
    struct json *inner;

    (void)state;
    for (int i = 0; i < 100; i++)
        buf_putc(&b, '[');
    for (int i = 0; i < 100; i++)
        buf_putc(&b, ']');
    _cleanup_json_ struct json_doc *doc = parsed(b.data, b.len, NULL);
    for (inner = json_root(doc); json_at(inner, 0);)
        inner = json_at(inner, 0);
    json_append(doc, inner, json_array(doc));
    _cleanup_free_ char *text = written(doc);
    assert_int_equal(strlen(text), 202);
}

/* ---- failure ---- */

static void fail_null_value(struct json_doc *doc, struct json *root)
{
    assert_null(json_set(doc, root, "a", NULL));
}

static void fail_null_object(struct json_doc *doc, struct json *root)
{
    (void)root;
    assert_null(json_set(doc, NULL, "a", json_bool(doc, true)));
}

static void fail_set_on_array(struct json_doc *doc, struct json *root)
{
    assert_null(json_set(doc, json_get(root, "list"), "a", json_bool(doc, true)));
}

static void fail_append_to_object(struct json_doc *doc, struct json *root)
{
    assert_null(json_append(doc, root, json_bool(doc, true)));
}

static void fail_append_null(struct json_doc *doc, struct json *root)
{
    assert_null(json_append(doc, json_get(root, "list"), NULL));
}

static void fail_insert_beyond(struct json_doc *doc, struct json *root)
{
    assert_null(json_insert(doc, json_get(root, "list"), 2, json_bool(doc, true)));
}

static void fail_replace_beyond(struct json_doc *doc, struct json *root)
{
    json_replace_at(doc, json_get(root, "list"), 1, json_bool(doc, true));
}

static void fail_replace_with_null(struct json_doc *doc, struct json *root)
{
    json_replace_at(doc, json_get(root, "list"), 0, NULL);
}

static void fail_copy_of_nothing(struct json_doc *doc, struct json *root)
{
    assert_null(json_copy(doc, json_get(root, "absent")));
}

static void failure_sticks_until_it_is_written(void **state)
{
    static edit_fn *const edits[] = {
        fail_null_value,     fail_null_object,       fail_set_on_array,
        fail_append_null,    fail_insert_beyond,     fail_append_to_object,
        fail_replace_beyond, fail_replace_with_null, fail_copy_of_nothing,
    };

    (void)state;
    for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
        _cleanup_json_ struct json_doc *doc = parsed_text("{\"list\":[1]}");
        _cleanup_buf_ struct buf out = BUF_INIT;
        struct err err = ERR_INIT;
        assert_false(json_failed(doc));
        edits[i](doc, json_root(doc));
        assert_true(json_failed(doc));
        json_set(doc, json_root(doc), "good", json_bool(doc, true)); /* the failure stays */
        assert_true(json_failed(doc));
        assert_fails(json_write(doc, &out, &err), err, ERR_SYSTEM);
        assert_int_equal(out.len, 0);
    }
}

static void quoting_on_its_own(void **state)
{
    _cleanup_buf_ struct buf b = BUF_INIT;

    (void)state;
    json_quote(&b, "a\"\\\n\t\0\x1f\x7f/\xe2\x82\xac\xff\xe2\x80\xae\xc2\x9b", 18);
    assert_string_equal(
        b.data, "\"a\\\"\\\\\\n\\t\\u0000\\u001f\\u007f/\xe2\x82\xac\xef\xbf\xbd\\u202e\\u009b\"");
}

UNIT_SUITE(test_json_edit)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_value_can_be_made),
        cmocka_unit_test(a_new_object_is_filled),
        cmocka_unit_test(made_strings_are_escaped_and_valid),
        cmocka_unit_test(keys_are_escaped_and_valid),
        cmocka_unit_test(set_replaces_in_place_or_adds_last),
        cmocka_unit_test(siblings_keep_their_bytes),
        cmocka_unit_test(remove_takes_every_member_of_that_name),
        cmocka_unit_test(insert_shifts_the_rest),
        cmocka_unit_test(append_and_remove_at),
        cmocka_unit_test(replace_at_leaves_the_others),
        cmocka_unit_test(removing_what_is_not_there_changes_nothing),
        cmocka_unit_test(containers_may_be_filled_after_they_are_placed),
        cmocka_unit_test(a_moved_value_keeps_its_bytes),
        cmocka_unit_test(a_moved_value_can_be_edited),
        cmocka_unit_test(copies_come_from_other_documents),
        cmocka_unit_test(a_copy_is_apart_from_its_original),
        cmocka_unit_test(comments_beside_an_edit_may_go_but_values_stay),
        cmocka_unit_test(deep_documents_can_be_edited),
        cmocka_unit_test(failure_sticks_until_it_is_written),
        cmocka_unit_test(quoting_on_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
