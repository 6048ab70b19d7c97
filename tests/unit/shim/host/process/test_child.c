/* Child programs: their output, inherited descriptors, and children that do not end. */
#include "shim/host/process/child.h"

#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static int ask(const char *script, char *text, size_t size, int *status, struct err *err)
{
    char shell[] = "/bin/sh", option[] = "-c";
    char *copy = strdup(script);
    char *argv[] = {shell, option, copy, NULL};

    int rc = child_output(argv, text, size, status, err);
    free(copy);
    return rc;
}

static void it_says_what_it_says(void **state)
{
    struct err err = ERR_INIT;
    char text[8];
    int status;

    (void)state;
    assert_works(ask("echo yes; exit 3", text, sizeof(text), &status, &err), err);
    assert_string_equal(text, "yes\n");
    assert_int_equal(status, 3);
    assert_works(ask("echo 0123456789", text, sizeof(text), &status, &err), err);
    assert_string_equal(text, "0123456");
    assert_works(ask("kill -9 $$", text, sizeof(text), &status, &err), err);
    assert_int_equal(status, -1);
}

/* Neither descriptor 3, where the parent's pipe was, nor one far away is left. */
static void it_gets_nothing_of_ours(void **state)
{
    struct err err = ERR_INIT;
    char text[2000];
    int status;
    int near = open("/dev/zero", O_RDONLY);
    int far = fcntl(near, F_DUPFD, 200);

    (void)state;
    assert_true(near >= 0 && far >= 200);
    assert_works(
        ask("cd /proc/self/fd; readlink 0 2 3; for f in *; do echo \"$f\" $(readlink $f); done",
            text, sizeof(text), &status, &err),
        err);
    assert_ptr_equal(strstr(text, "/dev/null\n/dev/null\n"), text);
    assert_null(strstr(text, "/dev/zero"));
    assert_null(strstr(text, "200 "));
    close(near);
    close(far);
}

/* Like a sandbox that knows fewer system calls than the kernel. */
static void refuse_close_range(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

    assert_non_null(filter);
    assert_int_equal(seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(close_range), 0), 0);
    assert_int_equal(seccomp_load(filter), 0);
    seccomp_release(filter);
}

static void it_gets_nothing_of_ours_in_a_sandbox(void **state)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        refuse_close_range();
        assert_int_equal(close_range(1000, 1000, 0), -1);
        it_gets_nothing_of_ours(state);
        _exit(77);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 77);
}

static void one_that_cannot_be_started_is_an_error(void **state)
{
    struct err err = ERR_INIT;
    char path[] = "/nonexistent/program", directory[] = "/";
    char *missing[] = {path, NULL}, *refused[] = {directory, NULL};
    char text[8];
    int status;

    (void)state;
    assert_fails(child_output(missing, text, sizeof(text), &status, &err), err, ERR_SYSTEM);
    assert_string_equal(err.msg, "cannot start /nonexistent/program: No such file or directory");
    assert_fails(child_output(refused, text, sizeof(text), &status, &err), err, ERR_SYSTEM);
    assert_string_equal(err.msg, "cannot start /: Permission denied");
    /* No child is left to wait for. */
    assert_int_equal(waitpid(-1, &status, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void one_that_does_not_end_is_killed(void **state)
{
    struct err err = ERR_INIT;
    char text[8];
    int status;

    (void)state;
    assert_works(ask("echo on; exec sleep 600", text, sizeof(text), &status, &err), err);
    assert_string_equal(text, "on\n");
    assert_int_equal(status, -1);
}

static void its_status_is_seen_where_children_are_ignored(void **state)
{
    struct err err = ERR_INIT;
    char text[8];
    int status;

    (void)state;
    signal(SIGCHLD, SIG_IGN);
    assert_works(ask("exit 5", text, sizeof(text), &status, &err), err);
    assert_int_equal(status, 5);
    assert_ptr_equal(signal(SIGCHLD, SIG_DFL), SIG_IGN);
}

UNIT_SUITE(test_child)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_says_what_it_says),
        cmocka_unit_test(it_gets_nothing_of_ours),
        cmocka_unit_test(it_gets_nothing_of_ours_in_a_sandbox),
        cmocka_unit_test(one_that_cannot_be_started_is_an_error),
        cmocka_unit_test(one_that_does_not_end_is_killed),
        cmocka_unit_test(its_status_is_seen_where_children_are_ignored),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
