/* Text in columns: aligned, and folded to the width of a terminal. */
#include "tests/unit/lib/unit.h"

#include "base/cli/columns.h"

#include <fcntl.h>
#include <locale.h>
#include <unistd.h>

static const struct columns_row rows[] = {
    {.cells = {"NAME", "WHAT", "WHY"}},
    {.cells = {"one", "/a/path/of/some/length", "because of a reason in several words"}},
    {.cells = {"other", NULL, "short"}},
};

static char *printed(size_t terminal)
{
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT;

    columns_print(rows, 3, 3, terminal, &out);
    return buf_take(&out, &err);
}

static void test_without_a_terminal_lines_are_whole(void **state)
{
    _cleanup_free_ char *text = printed(0);

    (void)state;
    assert_string_equal(text,
                        "NAME   WHAT                    WHY\n"
                        "one    /a/path/of/some/length  because of a reason in several words\n"
                        "other                          short\n");
}

static void test_cells_that_do_not_fit_are_on_further_lines(void **state)
{
    _cleanup_free_ char *text = printed(40);

    (void)state;
    assert_string_equal(text, "NAME   WHAT                    WHY\n"
                              "one    /a/path/of/some/length\n"
                              "    because of a reason in several words\n"
                              "other                          short\n");
}

/* No line is longer than the terminal, whatever its width and the texts. */
static void test_every_width(void **state)
{
    static const char wide[] = "数据/数据/数据/数据/数据 and/a/long/word/of/bytes\x01\xff";

    (void)state;
    for (size_t terminal = 1; terminal < 100; terminal++) {
        _cleanup_free_ char *text = printed(terminal);
        _cleanup_buf_ struct buf all = BUF_INIT;
        buf_puts(&all, text);
        columns_fold(wide, 0, terminal, &all);
        buf_putc(&all, '\n');
        for (const char *line = all.data; *line; line = strchr(line, '\n') + 1) {
            size_t len = strcspn(line, "\n");
            if (columns_width(line, len) > (terminal < 20 ? 20 : terminal))
                fail_msg("%zu: %.*s", terminal, (int)len, line);
            assert_false(len && line[len - 1] == ' ');
        }
    }
}

static void test_the_width_is_that_of_terminals_only(void **state)
{
    (void)state;
    setenv("COLUMNS", "40", 1);
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    assert_int_equal(columns_of_terminal(fd), 0);
    close(fd);
    unsetenv("COLUMNS");
}

UNIT_SUITE(test_columns)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_a_terminal_lines_are_whole),
        cmocka_unit_test(test_cells_that_do_not_fit_are_on_further_lines),
        cmocka_unit_test(test_every_width),
        cmocka_unit_test(test_the_width_is_that_of_terminals_only),
    };

    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
