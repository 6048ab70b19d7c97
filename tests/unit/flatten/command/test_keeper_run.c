/* Readers that end in different ways, and the message of the keeper; keeper_run starts both. */
#include "flatten/command/keeper_run.h"
#include "flatten/reader/sandbox.h"
#include "tests/unit/lib/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct keeper_task nothing = {.source_count = 0};

static int say_no(struct reader *r, void *ctx, struct err *err)
{
    (void)r, (void)ctx;
    return err_set(err, ERR_DIGEST, "content differs");
}

static int differ(struct reader *r, void *ctx, struct err *err)
{
    (void)r, (void)ctx, (void)err;
    return 1;
}

static int open_a_file(struct reader *r, void *ctx, struct err *err)
{
    (void)r, (void)ctx;
    return open("/etc/passwd", O_RDONLY) < 0 ? err_set(err, ERR_POLICY, "landlock") : 0;
}

static int crash(struct reader *r, void *ctx, struct err *err)
{
    (void)r, (void)ctx, (void)err;
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    return 0;
}

static int be_killed(struct reader *r, void *ctx, struct err *err)
{
    (void)r, (void)ctx, (void)err;
    abort();
}

static void test_ends(void **state)
{
    struct err err = ERR_INIT;

    (void)state;
    assert_int_equal(keeper_run(&nothing, differ, NULL, &err), 1);
    assert_fails(keeper_run(&nothing, say_no, NULL, &err), err, ERR_DIGEST);
    assert_string_equal(err.msg, "content differs");
    assert_fails(keeper_run(&nothing, be_killed, NULL, &err), err, ERR_SYSTEM);
    assert_contains(err.msg, "died of signal 6");
    assert_fails(keeper_run(&nothing, crash, NULL, &err), err, ERR_SYSTEM);
    assert_contains(err.msg, "died of signal 11");
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

/* Without the list of system calls, Landlock refuses, if the kernel has it. */
static void test_sandboxed(void **state)
{
    struct err err = ERR_INIT;
    int rc = keeper_run(&nothing, open_a_file, NULL, &err);

    (void)state;
    if (!sandbox_has_list()) {
        if (rc == 0)
            skip();
        assert_string_equal(err.msg, "landlock");
        return;
    }
    assert_int_equal(rc, -1);
    assert_int_equal(err.kind, ERR_SYSTEM);
    assert_contains(err.msg, "a system call that its sandbox forbids");
}

UNIT_SUITE(test_keeper_run)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ends),
                                       cmocka_unit_test(test_sandboxed)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
