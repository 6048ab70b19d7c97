#include "flatten/command/squash/progress.h"

#include "tests/unit/lib/unit.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static bool set_back; /* the clock of the host is an hour behind what it told before */

/* Replaces libc's. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    int rc = (int)syscall(SYS_clock_gettime, clock, now);

    if (clock == CLOCK_REALTIME && set_back)
        now->tv_sec += 3600;
    return rc;
}

static void check(uint64_t done, uint64_t total, double seconds, const char *expected)
{
    _cleanup_buf_ struct buf line = BUF_INIT;

    progress_line(done, total, seconds, &line);
    assert_string_equal(line.data, expected);
}

static void test_line(void **state)
{
    (void)state;
    check(0, 4000000000, 0, "  0 %  0.00 of 4.00 GB");
    check(100000000, 4000000000, 0.5, "  2 %  0.10 of 4.00 GB"); /* too early for a rate */
    check(1000000000, 4000000000, 2, " 25 %  1.00 of 4.00 GB  500 MB/s  0:06 left");
    check(1000000, 4000000000, 2, "  0 %  0.00 of 4.00 GB  0 MB/s  133:18 left");
    check(4000000000, 4000000000, 8, "100 %  4.00 of 4.00 GB  500 MB/s  0:00 left");
    check(5000000000, 4000000000, 10, "100 %  4.00 of 4.00 GB  500 MB/s  0:00 left");
    check(0, 0, 3, "100 %  0.00 of 0.00 GB");
}

/* Lines are drawn on time when the clock of the host is set back. */
static void test_clock_set_back(void **state)
{
    enum { LIMIT_MS = 10000 };
    struct err err = ERR_INIT;
    _cleanup_fd_ int terminal = posix_openpt(O_RDWR | O_NOCTTY), errors = dup(STDERR_FILENO);

    (void)state;
    assert_true(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    _cleanup_fd_ int line = open(ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_int_equal(dup2(line, STDERR_FILENO), STDERR_FILENO);
    set_back = true;
    struct progress *p = progress_new(true, 1000, &err);
    struct pollfd drawn = {.fd = terminal, .events = POLLIN};
    int count = poll(&drawn, 1, LIMIT_MS);
    set_back = false;
    if (p)
        progress_free(p);
    assert_int_equal(dup2(errors, STDERR_FILENO), STDERR_FILENO);
    assert_non_null(p);
    assert_int_equal(count, 1);
}

UNIT_SUITE(test_progress)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_line),
                                              cmocka_unit_test(test_clock_set_back)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
