/* Work behind a launch. */
#include "tests/unit/lib/unit.h"

#include "shim/host/process/background.h"

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY_ELSE = 64321 }; /* a user without processes */

static void work(int fd, void *subject)
{
    (void)fd, (void)subject;
}

/* Starts the work as a user who may have that many processes. The exit status is 0 if it started.
 */
static int started_with(rlim_t processes)
{
    const struct rlimit limit = {processes, processes};
    struct err err = ERR_INIT;
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        bool ready = setrlimit(RLIMIT_NPROC, &limit) == 0 &&
                     setresuid(NOBODY_ELSE, NOBODY_ELSE, NOBODY_ELSE) == 0;
        _exit(!ready ? 2 : background_start("test", -1, work, NULL, &err) == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WEXITSTATUS(status);
}

/* The second process of the two that are forked is the one that works. */
static void test_a_process_that_cannot_start_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(started_with(1), 1);
    assert_int_equal(started_with(2), 1);
    assert_int_equal(started_with(20), 0);
}

UNIT_SUITE(test_background)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_process_that_cannot_start_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
