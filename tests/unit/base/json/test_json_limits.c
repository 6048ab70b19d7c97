/* Limits of JSON: depth, size, memory. */
#include "base/json/json_internal.h"

#include "tests/unit/base/json/json_unit.h"

/* `depth` containers within one another. */
static void nest(struct buf *b, size_t depth, bool objects)
{
    for (size_t i = 0; i < depth; i++)
        buf_puts(b, objects ? "{\"k\":" : "[");
    if (objects)
        buf_putc(b, '0');
    for (size_t i = 0; i < depth; i++)
        buf_putc(b, objects ? '}' : ']');
}

static void depth_is_capped_at_100(void **state)
{
    (void)state;
    for (int objects = 0; objects < 2; objects++) {
        _cleanup_buf_ struct buf fits = BUF_INIT, deeper = BUF_INIT;
        struct err err = ERR_INIT;
        nest(&fits, 100, objects);
        json_free(parsed(fits.data, fits.len, NULL));
        nest(&deeper, 101, objects);
        assert_null(json_parse(deeper.data, deeper.len, NULL, &err));
        assert_int_equal(err.kind, ERR_LIMIT);
        assert_string_equal(err.msg,
                            objects ? "1:501: nested too deeply" : "1:101: nested too deeply");
    }
}

static void depth_can_be_chosen(void **state)
{
    static const struct json_options shallow = {.max_depth = 2};
    struct err err = ERR_INIT;

    (void)state;
    json_free(parsed("[[1],[],{}]", 11, &shallow)); /* siblings do not add up */
    assert_null(json_parse("[[1],[[]]]", 10, &shallow, &err));
    assert_int_equal(err.kind, ERR_LIMIT);
    assert_string_equal(err.msg, "1:7: nested too deeply");
}

static void size_is_capped_exactly(void **state)
{
    (void)state;
    for (size_t len = 2; len < 300; len++) {
        struct json_options o = {.max_bytes = len};
        struct err err = ERR_INIT;
        char text[301];
        memset(text, ' ', sizeof(text));
        memcpy(text, "[]", 2);
        json_free(parsed(text, len, &o));
        assert_null(json_parse(text, len + 1, &o, &err));
        assert_int_equal(err.kind, ERR_LIMIT);
    }
}

static void the_default_size_is_16_mib(void **state)
{
    size_t most = 16 * 1024 * 1024;
    _cleanup_free_ char *text = malloc(most + 1);
    struct err err = ERR_INIT;

    (void)state;
    assert_non_null(text);
    memset(text, ' ', most + 1);
    text[0] = '1';
    json_free(parsed(text, most, NULL));
    assert_null(json_parse(text, most + 1, NULL, &err));
    assert_int_equal(err.kind, ERR_LIMIT);
}

/* The densest texts need at most 64 bytes of memory a byte. */
static void memory_stays_in_proportion(void **state)
{
    static const char *const pieces[] = {"0,", "[],", "[0],", "{},", "{\"\":0},", "\"\","};
    size_t len = 512 * 1024;
    struct json_options o = {.max_bytes = len};

    (void)state;
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        _cleanup_buf_ struct buf b = BUF_INIT;
        size_t piece = strlen(pieces[i]);
        buf_putc(&b, '[');
        while (b.len + piece < len)
            buf_puts(&b, pieces[i]);
        buf_truncate(&b, b.len - 1);
        buf_putc(&b, ']');
        _cleanup_json_ struct json_doc *doc = parsed(b.data, b.len, &o);
        assert_true(doc->arena.used <= 64 * len + JSON_EDIT_BYTES);
        assert_true(json_count(json_root(doc)) > len / piece - 4);
    }
}

static void memory_can_be_chosen(void **state)
{
    static const char text[] = "[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]";
    _cleanup_buf_ struct buf b = BUF_INIT;
    struct json_options tight = {.max_memory = 1024 * 1024};
    struct err err = ERR_INIT;

    (void)state;
    json_free(parsed(text, sizeof(text) - 1, &tight));
    buf_putc(&b, '[');
    for (size_t i = 0; i < 512 * 1024; i++)
        buf_puts(&b, "0,");
    buf_puts(&b, "0]");
    assert_null(json_parse(b.data, b.len, &tight, &err));
    assert_int_equal(err.kind, ERR_LIMIT);
    assert_contains(err.msg, "too much memory");
    tight.max_memory = 0;
    json_free(parsed(b.data, b.len, &tight));
}

/* A size limit applies to the text only; edits may exceed it. */
static void edits_have_room_beside_a_small_limit(void **state)
{
    static const struct json_options two = {.max_bytes = 2};
    _cleanup_json_ struct json_doc *doc = parsed("[]", 2, &two);

    (void)state;
    for (uint64_t i = 0; i < 1000; i++)
        assert_non_null(json_append(doc, json_root(doc), json_number(doc, i)));
    assert_false(json_failed(doc));
}

/* The limit, not the kernel, stops a document that grows too far. */
static void memory_beyond_the_cap_is_an_error_value(void **state)
{
    _cleanup_json_ struct json_doc *doc = parsed_text("[]");
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct err err = ERR_INIT;

    (void)state;
    doc->arena.limit = doc->arena.used;
    for (int i = 0; i < 100000 && !json_failed(doc); i++)
        json_append(doc, json_root(doc), json_string(doc, "some text"));
    assert_true(json_failed(doc));
    assert_true(doc->arena.used <= doc->arena.limit);
    assert_fails(json_write(doc, &out, &err), err, ERR_SYSTEM);
}

UNIT_SUITE(test_json_limits)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depth_is_capped_at_100),
        cmocka_unit_test(depth_can_be_chosen),
        cmocka_unit_test(size_is_capped_exactly),
        cmocka_unit_test(the_default_size_is_16_mib),
        cmocka_unit_test(memory_stays_in_proportion),
        cmocka_unit_test(memory_can_be_chosen),
        cmocka_unit_test(edits_have_room_beside_a_small_limit),
        cmocka_unit_test(memory_beyond_the_cap_is_an_error_value),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
