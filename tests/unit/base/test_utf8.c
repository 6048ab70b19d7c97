/* UTF-8 as RFC 3629 defines it. */
#include "base/utf8.h"

#include "tests/unit/lib/unit.h"

static void sequences_have_their_length(void **state)
{
    static const struct {
        const char *text;
        size_t len, expected;
    } cases[] = {
        {"", 0, 0},
        {"a", 1, 1},
        {"\0", 1, 1},
        {"\x7f", 1, 1},
        {"\xc2\x80", 2, 2},
        {"\xdf\xbf", 2, 2},
        {"\xe0\xa0\x80", 3, 3},
        {"\xed\x9f\xbf", 3, 3},
        {"\xee\x80\x80", 3, 3},
        {"\xef\xbf\xbf", 3, 3},
        {"\xf0\x90\x80\x80", 4, 4},
        {"\xf4\x8f\xbf\xbf", 4, 4},
        {"\x80", 1, 0},             /* a continuation alone */
        {"\xc0\x80", 2, 0},         /* overlong NUL */
        {"\xc1\xbf", 2, 0},         /* overlong */
        {"\xe0\x9f\xbf", 3, 0},     /* overlong */
        {"\xf0\x8f\xbf\xbf", 4, 0}, /* overlong */
        {"\xed\xa0\x80", 3, 0},     /* U+D800 */
        {"\xed\xbf\xbf", 3, 0},     /* U+DFFF */
        {"\xf4\x90\x80\x80", 4, 0}, /* beyond U+10FFFF */
        {"\xf5\x80\x80\x80", 4, 0},
        {"\xf8\x88\x80\x80\x80", 5, 0}, /* five bytes */
        {"\xfe", 1, 0},
        {"\xff", 1, 0},
        {"\xe2\x82\xac", 2, 0},     /* cut */
        {"\xf0\x9f\x9a\x9a", 3, 0}, /* cut */
        {"\xc3\x28", 2, 0},         /* the second byte is no continuation */
        {"\xe2\x28\xac", 3, 0},
        {"\xe2\x82\x28", 3, 0},
        {"\xc3\xa9tail", 6, 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (utf8_sequence(cases[i].text, cases[i].len) != cases[i].expected)
            fail_msg("case %zu", i);
}

static void validity_is_of_the_whole(void **state)
{
    (void)state;
    assert_true(utf8_valid("", 0));
    assert_true(utf8_valid("a\0b", 3));
    assert_true(utf8_valid("\xe2\x82\xac 5", 5));
    assert_false(utf8_valid("ok\xff", 3));
    assert_false(utf8_valid("\xff ok", 4));
    assert_false(utf8_valid("ok\xe2\x82", 4));
}

static void ascii_ends_at_the_first_other_byte(void **state)
{
    char text[40];

    (void)state;
    assert_int_equal(utf8_ascii("", 0), 0);
    for (size_t len = 0; len < sizeof(text); len++) {
        memset(text, 'a', sizeof(text));
        assert_int_equal(utf8_ascii(text, len), len);
        text[len] = '\x80';
        assert_int_equal(utf8_ascii(text, sizeof(text)), len);
    }
}

static void every_character_survives_encoding(void **state)
{
    (void)state;
    for (uint32_t code = 0; code <= 0x10ffff; code++) {
        char text[4];
        size_t len = utf8_encode(code, text);
        bool surrogate = code >= 0xd800 && code <= 0xdfff;
        if (utf8_sequence(text, len) != (surrogate ? 0 : len))
            fail_msg("U+%04X", code);
    }
    char text[4];
    assert_int_equal(utf8_encode(0x20ac, text), 3);
    assert_memory_equal(text, "\xe2\x82\xac", 3);
    assert_int_equal(utf8_encode(0x1f69a, text), 4);
    assert_memory_equal(text, "\xf0\x9f\x9a\x9a", 4);
    assert_int_equal(utf8_encode(0xe9, text), 2);
    assert_memory_equal(text, "\xc3\xa9", 2);
}

static void characters_that_act_are_known(void **state)
{
    static const uint32_t acting[] = {0,      0x1b,   0x7f,   0x80,   0x9b,   0x9f,   0x61c, 0x200e,
                                      0x200f, 0x2028, 0x202a, 0x202e, 0x2066, 0x2069, 0xfeff};
    static const uint32_t shown[] = {0x20,   0x7e,   0xa0,   0xe9,   0x200d,
                                     0x2010, 0x202f, 0x2065, 0x206a, 0x1f69a};
    char text[4];

    (void)state;
    for (size_t i = 0; i < sizeof(acting) / sizeof(*acting); i++) {
        uint32_t code = 1;
        assert_true(utf8_acts(text, utf8_encode(acting[i], text), &code));
        assert_int_equal(code, acting[i]);
    }
    for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++)
        if (utf8_acts(text, utf8_encode(shown[i], text), NULL))
            fail_msg("U+%04X", shown[i]);
    assert_false(utf8_acts("\xff", 1, NULL));
}

UNIT_SUITE(test_utf8)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_have_their_length),
        cmocka_unit_test(validity_is_of_the_whole),
        cmocka_unit_test(ascii_ends_at_the_first_other_byte),
        cmocka_unit_test(every_character_survives_encoding),
        cmocka_unit_test(characters_that_act_are_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
