/* Growing strings: content, sticky failure, escaping for terminals. */
#include "base/buf.h"

#include "tests/unit/lib/unit.h"

static void appends_of_every_kind_join(void **state)
{
    _cleanup_buf_ struct buf b = BUF_INIT;

    (void)state;
    buf_puts(&b, "one");
    buf_putc(&b, ' ');
    buf_append(&b, "t\0wo", 4);
    buf_printf(&b, " %03d", 7);
    assert_bytes(b.data, b.len, "one t\0wo 007");
    assert_int_equal(b.data[b.len], '\0');
}

static void grows_over_many_steps(void **state)
{
    _cleanup_buf_ struct buf b = BUF_INIT;
    struct err err = ERR_INIT;

    (void)state;
    for (int i = 0; i < 10000; i++) {
        buf_putc(&b, (char)('a' + i % 26));
        assert_int_equal(b.data[b.len], '\0');
    }
    assert_int_equal(b.len, 10000);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(b.data[i], 'a' + i % 26);
    assert_works(buf_check(&b, &err), err);
}

static void printf_longer_than_the_room_is_whole(void **state)
{
    _cleanup_buf_ struct buf b = BUF_INIT;

    (void)state;
    buf_puts(&b, "x");
    buf_printf(&b, "%500d", 1);
    assert_int_equal(b.len, 501);
    assert_string_equal(b.data + 498, "  1");
}

static void reserve_gives_room_behind_the_content(void **state)
{
    _cleanup_buf_ struct buf b = BUF_INIT;

    (void)state;
    buf_puts(&b, "ab");
    char *end = buf_reserve(&b, 1000);
    assert_ptr_equal(end, b.data + 2);
    memset(end, 'c', 1000); /* ASan watches */
    assert_int_equal(b.len, 2);
    assert_true(b.cap > 1002);
}

static void an_impossible_size_fails_and_sticks(void **state)
{
    _cleanup_buf_ struct buf b = BUF_INIT;
    struct err err = ERR_INIT;

    (void)state;
    buf_puts(&b, "kept");
    assert_null(buf_reserve(&b, SIZE_MAX));
    assert_true(b.failed);
    buf_puts(&b, "more");
    buf_printf(&b, "%d", 1);
    buf_putc(&b, 'x');
    assert_string_equal(b.data, "kept");
    assert_null(buf_reserve(&b, 1));
    assert_fails(buf_check(&b, &err), err, ERR_SYSTEM);
    assert_null(buf_take(&b, &err));
}

static void truncate_only_shortens(void **state)
{
    _cleanup_buf_ struct buf b = BUF_INIT;

    (void)state;
    buf_truncate(&b, 0); /* an empty buffer stays empty */
    buf_puts(&b, "abcdef");
    buf_truncate(&b, 10);
    assert_string_equal(b.data, "abcdef");
    buf_truncate(&b, 2);
    assert_bytes(b.data, b.len, "ab");
    assert_int_equal(b.data[2], '\0');
    buf_puts(&b, "z");
    assert_string_equal(b.data, "abz");
}

static void take_empties_the_buffer(void **state)
{
    _cleanup_buf_ struct buf b = BUF_INIT;
    struct err err = ERR_INIT;

    (void)state;
    _cleanup_free_ char *nothing = buf_take(&b, &err);
    assert_string_equal(nothing, "");
    buf_puts(&b, "text");
    _cleanup_free_ char *text = buf_take(&b, &err);
    assert_string_equal(text, "text");
    assert_null(b.data);
    assert_int_equal(b.len, 0);
    buf_puts(&b, "again");
    assert_string_equal(b.data, "again");
}

static void free_leaves_an_empty_buffer(void **state)
{
    struct buf b = BUF_INIT;

    (void)state;
    assert_null(buf_reserve(&b, SIZE_MAX));
    buf_free(&b);
    assert_false(b.failed);
    buf_puts(&b, "x");
    assert_string_equal(b.data, "x");
    buf_free(&b);
    buf_free(&b);
    assert_null(b.data);
}

static void strf_formats(void **state)
{
    (void)state;
    _cleanup_free_ char *text = strf("%s-%d", "a", 5);
    assert_string_equal(text, "a-5");
    _cleanup_free_ char *empty = strf("%s", "");
    assert_string_equal(empty, "");
}

#define assert_shown(in, out)                                                                      \
    do {                                                                                           \
        _cleanup_buf_ struct buf shown_ = BUF_INIT;                                                \
        buf_put_printable(&shown_, in, sizeof(in) - 1);                                            \
        assert_string_equal(shown_.data ? shown_.data : "", out);                                  \
    } while (0)

static void hostile_text_cannot_steer_a_terminal(void **state)
{
    (void)state;
    assert_shown("", "");
    assert_shown("plain ~ text", "plain ~ text");
    assert_shown("d\xc3\xa9j\xc3\xa0 \xe2\x82\xac \xf0\x9f\x9a\x9a",
                 "d\xc3\xa9j\xc3\xa0 \xe2\x82\xac \xf0\x9f\x9a\x9a");
    assert_shown("\x1b[31m", "\\x1b[31m");
    assert_shown("a\nforged\r\t", "a\\x0aforged\\x0d\\x09");
    assert_shown("nul\0end", "nul\\x00end");
    assert_shown("\x7f", "\\x7f");
    assert_shown("\xc2\x9b"
                 "31m",
                 "\\xc2\\x9b31m"); /* C1's CSI */
    assert_shown("\xc2\xa0", "\xc2\xa0");
    assert_shown("a\xe2\x80\xae"
                 "b",
                 "a\\xe2\\x80\\xaeb"); /* right to left from here */
    assert_shown("\xff\xc3", "\\xff\\xc3");
    assert_shown("\xc0\xaf", "\\xc0\\xaf");          /* overlong '/' */
    assert_shown("\xed\xa0\x80", "\\xed\\xa0\\x80"); /* surrogate */
}

UNIT_SUITE(test_buf)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends_of_every_kind_join),
        cmocka_unit_test(grows_over_many_steps),
        cmocka_unit_test(printf_longer_than_the_room_is_whole),
        cmocka_unit_test(reserve_gives_room_behind_the_content),
        cmocka_unit_test(an_impossible_size_fails_and_sticks),
        cmocka_unit_test(truncate_only_shortens),
        cmocka_unit_test(take_empties_the_buffer),
        cmocka_unit_test(free_leaves_an_empty_buffer),
        cmocka_unit_test(strf_formats),
        cmocka_unit_test(hostile_text_cannot_steer_a_terminal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
