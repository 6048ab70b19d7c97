#include "tests/unit/lib/unit.h"

#include "shim/warm/record/warm_record.h"

#include <string.h>

static const char head[] =
    "flatbed warm 1\nrecorded 1764086400\nwhole 1\njudged 3\nlow 1\ngain 4\n"
    "image docker.io/library/torch:2.7\noff \nof 2\nflatbed chain 1 trusted\n"
    "12 1.0 2.0 /layers/a\n";

static int parse(const char *tail, struct arena *arena, struct warm_record *out, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    buf_printf(&text, "%s%s", head, tail);
    return warm_record_parse(text.data, text.len, arena, out, err);
}

static void test_round(void **state)
{
    static const char tail[] = "reads 2\n0 0+4096,131072+262144 usr/lib/python3/os.py\n"
                               "69 10+1 data/odd \xff name\n";
    _cleanup_arena_ struct arena arena = {0};
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct warm_record r;
    struct err err = ERR_INIT;

    (void)state;
    assert_int_equal(parse(tail, &arena, &r, &err), 0);
    assert_int_equal(r.count, 2);
    assert_int_equal(r.bytes, 4096 + 262144 + 1);
    assert_true(r.whole && r.judged == 3 && r.low == 1 && r.gain == 4);
    assert_string_equal(r.of, "flatbed chain 1 trusted\n12 1.0 2.0 /layers/a\n");
    assert_int_equal(r.files[0].count, 2);
    assert_int_equal(r.files[1].layer, 69);
    assert_ptr_equal(warm_record_find(&r, "data/odd \xff name", 69), &r.files[1]);
    assert_null(warm_record_find(&r, "data/odd \xff name", 0));
    warm_record_print(&r, &text);
    assert_int_equal(text.len, strlen(head) + strlen(tail));
    assert_memory_equal(text.data, head, strlen(head));
    assert_memory_equal(text.data + strlen(head), tail, strlen(tail));
}

/* A record is data. */
static void test_hostile(void **state)
{
    static const struct {
        const char *tail, *says;
    } cases[] = {
        {"", "line 12: expected reads"},
        {"reads 20001\n", "expected reads"},
        {"reads 1\n", "line 13: expected a layer's number"},
        {"reads 0\n0 0+1 x\n", "line 13: expected the end"},
        {"reads 1\n0 0+1 x", "expected a text"},
        {"reads 1\n0 0+1 /etc/passwd\n", "line 13: expected a clean relative path"},
        {"reads 1\n0 0+1 ../x\n", "clean relative path"},
        {"reads 1\n0 0+1 a/../../x\n", "clean relative path"},
        {"reads 1\n0 0+1 a//b\n", "clean relative path"},
        {"reads 1\n0 0+1 .\n", "clean relative path"},
        {"reads 1\n0 0+1 \n", "clean relative path"},
        {"reads 1\n501 0+1 x\n", "a layer's number"},
        {"reads 1\n-1 0+1 x\n", "a layer's number"},
        {"reads 1\n0 x\n", "ranges"},
        {"reads 1\n0 0+0 x\n", "ranges"},
        {"reads 1\n0 0+1, x\n", "ranges"},
        {"reads 1\n0 8+8,0+8 x\n", "ranges"},
        {"reads 1\n0 0+8,4+8 x\n", "ranges"},
        {"reads 1\n0 9999999999999999999+1 x\n", "ranges"},
        {"reads 1\n0 0+99999999999999999999 x\n", "ranges"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        _cleanup_arena_ struct arena arena = {0};
        struct warm_record r;
        struct err err = ERR_INIT;
        assert_int_equal(parse(cases[i].tail, &arena, &r, &err), -1);
        assert_int_equal(err.kind, ERR_FORMAT);
        assert_non_null(strstr(err.msg, cases[i].says));
    }
}

static void test_cut(void **state)
{
    static const char tail[] = "reads 1\n0 0+4096 usr/lib/x\n";
    _cleanup_buf_ struct buf text = BUF_INIT;

    (void)state;
    buf_printf(&text, "%s%s", head, tail);
    for (size_t len = 0; len < text.len; len++) {
        _cleanup_arena_ struct arena arena = {0};
        struct warm_record r;
        struct err err = ERR_INIT;
        assert_int_equal(warm_record_parse(text.data, len, &arena, &r, &err), -1);
        text.data[len] ^= 0x80;
        (void)!warm_record_parse(text.data, text.len, &arena, &r, &err); /* does not crash */
        text.data[len] ^= 0x80;
    }
}

static void test_many_ranges(void **state)
{
    _cleanup_arena_ struct arena arena = {0};
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct warm_record r;
    struct err err = ERR_INIT;

    (void)state;
    buf_puts(&text, head);
    buf_puts(&text, "reads 40\n");
    for (int file = 0; file < 40; file++) {
        for (int i = 0; i < 3000; i++)
            buf_printf(&text, "%s%d+1", i ? "," : "0 ", i * 2);
        buf_printf(&text, " f%d\n", file);
    }
    assert_int_equal(warm_record_parse(text.data, text.len, &arena, &r, &err), -1);
    assert_int_equal(err.kind, ERR_LIMIT);
}

static void test_judge(void **state)
{
    _cleanup_arena_ struct arena arena = {0};
    struct warm_record r = {.off = ""};
    struct err err = ERR_INIT;

    (void)state;
    assert_int_equal(warm_record_judge(&r, 4, &arena, &err), 0);
    assert_string_equal(r.off, "");
    assert_int_equal(warm_record_judge(&r, 5, &arena, &err), 0);
    assert_int_equal(warm_record_judge(&r, 0, &arena, &err), 0);
    assert_string_equal(r.off, "");
    assert_int_equal(warm_record_judge(&r, 3, &arena, &err), 0);
    assert_string_equal(r.off, "it saved 3 % of the reads, less than 5 %");
    assert_int_equal(r.judged, 4);
}

UNIT_SUITE(test_warm_record)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round), cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_cut),   cmocka_unit_test(test_many_ranges),
        cmocka_unit_test(test_judge),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
