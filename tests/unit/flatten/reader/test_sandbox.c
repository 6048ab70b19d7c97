/* The sandbox: allowed and refused actions. Each case is a child process. */
#include "flatten/reader/sandbox.h"

#include "tests/unit/lib/unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs `act` in a sandbox. Returns its exit status, or minus the signal that ended it. */
static int confined(int (*act)(void))
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        struct err err = ERR_INIT;
        _exit(sandbox_enter(&err) < 0 ? 99 : act());
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static int opens(void)
{
    return open("/etc/passwd", O_RDONLY) < 0 ? 1 : 0;
}

static int executes(void)
{
    execl("/bin/true", "true", (char *)NULL);
    return 1;
}

static int connects(void)
{
    return socket(AF_UNIX, SOCK_STREAM, 0) < 0 ? 1 : 0;
}

static int forks(void)
{
    return fork() < 0 ? 1 : 0;
}

static int signals_its_parent(void)
{
    return kill(getppid(), 0) < 0 ? 1 : 0;
}

static int makes_code(void)
{
    void *p =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED ? 1 : 0;
}

static int makes_memory_code(void)
{
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return mprotect(p, 4096, PROT_READ | PROT_EXEC) < 0 ? 1 : 0;
}

static int unlinks(void)
{
    return unlink("/tmp/flatbed-there-is-no-such-file") < 0 ? 1 : 0;
}

static int traces(void)
{
    return (int)prctl(PR_SET_DUMPABLE, 1) < 0 ? 1 : 0;
}

static void forbidden_calls_end_it(void **state)
{
    static int (*const acts[])(void) = {
        opens,      executes,          connects, forks, signals_its_parent,
        makes_code, makes_memory_code, unlinks};

    (void)state;
    if (!sandbox_has_list())
        skip();
    for (size_t i = 0; i < sizeof(acts) / sizeof(*acts); i++)
        assert_int_equal(confined(acts[i]), -SIGSYS);
    assert_int_equal(confined(traces), 1);
}

static void *add(void *number)
{
    ++*(int *)number;
    return NULL;
}

/* The actions of flatten: memory, threads, its descriptors. */
static int works(void)
{
    pthread_t thread;
    int number = 1;
    char *memory = malloc(64 * 1024 * 1024);

    memset(memory, 1, 64 * 1024 * 1024);
    if (pthread_create(&thread, NULL, add, &number) != 0 || pthread_join(thread, NULL) != 0)
        return 2;
    free(memory);
    return number == 2 && write(STDOUT_FILENO, "", 0) == 0 ? 0 : 3;
}

static int aborts(void)
{
    abort();
}

static void ordinary_work_goes_on(void **state)
{
    (void)state;
    assert_int_equal(confined(works), 0);
    assert_int_equal(confined(aborts), -SIGABRT);
}

static int has_nothing(void)
{
    cap_t now = cap_get_proc();
    cap_flag_value_t set = CAP_CLEAR;

    if (!now)
        return 2;
    for (cap_value_t cap = 0; cap <= CAP_LAST_CAP; cap++)
        for (int flag = CAP_EFFECTIVE; flag <= CAP_INHERITABLE; flag++)
            if (cap_get_flag(now, cap, (cap_flag_t)flag, &set) < 0 || set != CAP_CLEAR)
                return 1;
    cap_free(now);
    return 0;
}

static int looks(void)
{
    struct err err = ERR_INIT;

    if (sandbox_enter(&err) < 0)
        return 99;
    return 0;
}

static void capabilities_are_gone(void **state)
{
    (void)state;
    if (sandbox_has_list()) /* capget(2) is not on the list */
        assert_int_equal(confined(has_nothing), -SIGSYS);
    else
        assert_int_equal(confined(has_nothing), 0);
}

/* Landlock alone, without the list of system calls, if the kernel has it. */
static void files_are_out_of_reach(void **state)
{
    (void)state;
    if (!sandbox_has_list() && sandbox_closes_files() &&
        syscall(SYS_landlock_create_ruleset, NULL, 0, 1) > 0)
        assert_int_equal(confined(opens), 1);
}

static void the_list_cannot_be_left(void **state)
{
    (void)state;
    if (sandbox_has_list())
        assert_int_equal(confined(looks), -SIGSYS);
}

UNIT_SUITE(test_sandbox)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forbidden_calls_end_it),  cmocka_unit_test(ordinary_work_goes_on),
        cmocka_unit_test(capabilities_are_gone),   cmocka_unit_test(files_are_out_of_reach),
        cmocka_unit_test(the_list_cannot_be_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
