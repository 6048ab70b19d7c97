#include "base/human.h"
#include "tests/unit/lib/unit.h"

static void test_size(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } rows[] = {
        {0, "0 B"},         {999, "999 B"},         {1000, "1.0 kB"},       {999949, "999.9 kB"},
        {999950, "1.0 MB"}, {1500000000, "1.5 GB"}, {UINT64_MAX, "18.4 EB"}};
    char out[HUMAN_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        assert_string_equal(human_size(rows[i].bytes, out), rows[i].text);
}

static void test_size_binary(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } rows[] = {{0, "0 B"},
                {1023, "1023 B"},
                {1024, "1.0 KiB"},
                {432328704, "412.3 MiB"},
                {1024 * 1024 - 1, "1.0 MiB"},
                {UINT64_MAX, "16.0 EiB"}};
    char out[HUMAN_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        assert_string_equal(human_size_binary(rows[i].bytes, out), rows[i].text);
}

/* Text is cut at a character, and control characters are escaped. */
static void test_short(void **state)
{
    static const struct {
        const char *text;
        size_t most;
        const char *shown;
    } rows[] = {{"abc", 3, "abc"},
                {"abcd", 3, "abc…"},
                {"aöö", 2, "aö…"},
                {"\x1b[2J", 10, "\\x1b[2J"},
                {"\xff\xff\xff", 2, "\\xff\\xff…"}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_buf_ struct buf out = BUF_INIT;
        human_put_short(&out, rows[i].text, rows[i].most);
        assert_string_equal(out.data, rows[i].shown);
    }
}

static void test_word(void **state)
{
    static const struct {
        const char *word, *quoted;
    } rows[] = {{"oci:out:v1", "oci:out:v1"},
                {"a_b-c.d/e@f%g+h=i,j", "a_b-c.d/e@f%g+h=i,j"},
                {"", "''"},
                {"two words", "'two words'"},
                {"$(reboot)", "'$(reboot)'"},
                {"~root", "'~root'"},
                {"it's", "'it'\\''s'"}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_buf_ struct buf out = BUF_INIT;
        human_put_word(&out, rows[i].word);
        assert_string_equal(out.data, rows[i].quoted);
    }
}

static void test_plurals(void **state)
{
    (void)state;
    assert_string_equal(human_s(1), "");
    assert_string_equal(human_s(0), "s");
    assert_string_equal(human_s(2), "s");
    assert_string_equal(human_y(1), "y");
    assert_string_equal(human_y(0), "ies");
}

UNIT_SUITE(test_human)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_size), cmocka_unit_test(test_size_binary),
        cmocka_unit_test(test_short), cmocka_unit_test(test_word), cmocka_unit_test(test_plurals)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
