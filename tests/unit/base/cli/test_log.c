/* The log: its lines on stderr, read through a pipe. */
#include "base/cli/log.h"

#include "base/cleanup.h"

#include "tests/unit/lib/unit.h"

#include <fcntl.h>
#include <unistd.h>

/* Logs one message with stderr on a packet pipe, which keeps each write(2) apart. */
static ssize_t capture(enum log_level level, const char *text, char *out, size_t size)
{
    int fds[2], saved = dup(STDERR_FILENO);

    assert_int_equal(pipe2(fds, O_DIRECT | O_NONBLOCK | O_CLOEXEC), 0);
    assert_int_equal(dup2(fds[1], STDERR_FILENO), STDERR_FILENO);
    log_message(level, "%s", text);
    assert_int_equal(dup2(saved, STDERR_FILENO), STDERR_FILENO);
    ssize_t n = read(fds[0], out, size - 1);
    out[n > 0 ? n : 0] = '\0';
    close(saved);
    close(fds[0]);
    close(fds[1]);
    return n;
}

static void levels_have_their_words(void **state)
{
    char line[200];

    (void)state;
    log_init("prog", LOG_LEVEL_DEBUG);
    capture(LOG_LEVEL_ERROR, "bad", line, sizeof(line));
    assert_string_equal(line, "prog: error: bad\n");
    capture(LOG_LEVEL_WARNING, "odd", line, sizeof(line));
    assert_string_equal(line, "prog: warning: odd\n");
    capture(LOG_LEVEL_INFO, "done", line, sizeof(line));
    assert_string_equal(line, "prog: done\n");
    capture(LOG_LEVEL_DEBUG, "detail", line, sizeof(line));
    assert_string_equal(line, "prog: debug: detail\n");
}

static void what_is_beyond_the_level_stays_silent(void **state)
{
    char line[200];

    (void)state;
    log_init("prog", LOG_LEVEL_WARNING);
    assert_true(capture(LOG_LEVEL_INFO, "x", line, sizeof(line)) < 0);
    assert_true(capture(LOG_LEVEL_DEBUG, "x", line, sizeof(line)) < 0);
    assert_true(capture(LOG_LEVEL_WARNING, "x", line, sizeof(line)) > 0);
    log_init("prog", LOG_LEVEL_ERROR);
    assert_true(capture(LOG_LEVEL_WARNING, "x", line, sizeof(line)) < 0);
    assert_true(capture(LOG_LEVEL_ERROR, "x", line, sizeof(line)) > 0);
}

static void a_message_is_one_line_in_one_write(void **state)
{
    char line[200];

    (void)state;
    log_init("prog", LOG_LEVEL_INFO);
    ssize_t n = capture(LOG_LEVEL_ERROR, "name\nprog: error: forged\x1b[2J", line, sizeof(line));
    assert_string_equal(line, "prog: error: name\\x0aprog: error: forged\\x1b[2J\n");
    assert_int_equal(n, strlen(line)); /* a packet pipe gives one write at a time */
    capture(LOG_LEVEL_ERROR, "", line, sizeof(line));
    assert_string_equal(line, "prog: error: \n");
}

static void a_long_message_is_not_cut(void **state)
{
    static char text[3001], line[4000];

    (void)state;
    memset(text, 'm', 3000);
    log_init("prog", LOG_LEVEL_INFO);
    assert_int_equal(capture(LOG_LEVEL_INFO, text, line, sizeof(line)), 6 + 3000 + 1);
}

static void a_closed_stderr_is_survived(void **state)
{
    int saved = dup(STDERR_FILENO);

    (void)state;
    log_init("prog", LOG_LEVEL_INFO);
    close(STDERR_FILENO);
    log_error("nobody reads %s", "this");
    assert_int_equal(dup2(saved, STDERR_FILENO), STDERR_FILENO);
    close(saved);
}

UNIT_SUITE(test_log)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_have_their_words),
        cmocka_unit_test(what_is_beyond_the_level_stays_silent),
        cmocka_unit_test(a_message_is_one_line_in_one_write),
        cmocka_unit_test(a_long_message_is_not_cut),
        cmocka_unit_test(a_closed_stderr_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
