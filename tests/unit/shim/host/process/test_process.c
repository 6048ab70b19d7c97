/* Processes by pid and start. */
#include "tests/unit/lib/unit.h"

#include "shim/host/process/process.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_this_process(void **state)
{
    struct process self = process_self();

    (void)state;
    assert_int_equal(self.pid, getpid());
    assert_true(self.start > 0);
    assert_false(process_ended(&self));
    assert_true(process_is_above(&self));
    assert_true(process_ended(&(struct process){.pid = self.pid, .start = self.start - 1}));
    assert_false(process_is_above(&(struct process){.pid = self.pid, .start = self.start - 1}));
    assert_false(process_ended(&(struct process){.pid = self.pid})); /* the start is not known */
}

/* In the child: its parent is above it, and alive. */
static void look_at_parent(const struct process *parent)
{
    bool right = process_is_above(parent) && !process_ended(parent);

    _exit(right ? 0 : 1);
}

static void test_parent_and_child(void **state)
{
    struct process self = process_self(), child;
    siginfo_t info;
    int status;

    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        look_at_parent(&self);
    }
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    child = (struct process){.pid = pid, .start = self.start};
    assert_true(process_ended(&child)); /* a zombie */
    assert_false(process_is_above(&child));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_true(process_ended(&child));
}

UNIT_SUITE(test_process)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_this_process),
        cmocka_unit_test(test_parent_and_child),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
