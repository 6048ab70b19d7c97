/* The process behind a launch, in real directories. Needs root: it watches opens. */
#include "shim/warm/warm_start.h"

#include "tests/unit/lib/tempdir.h"
#include "tests/unit/lib/unit.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Returns the ID of a process that has ended, and is gone. */
static pid_t ended_process(void)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    return pid;
}

/* A launch that fails can be over before the process behind it looks for it. */
static void test_a_launch_that_is_over(void **state)
{
    const struct tempdir *dir = *state;
    _cleanup_arena_ struct arena arena = {.limit = 64 * 1024 * 1024};
    struct policy_warm rules = {.record = RECORD_ALWAYS, .seconds = 1};
    struct warm_volume volume = {dir->path, "/data"};
    struct layers layers = {0};
    _cleanup_free_ char *store = strf("%s/store", dir->path);
    struct err err = ERR_INIT;

    if (getuid() != 0)
        skip();
    struct warm_start start = {.rules = &rules,
                               .store = store,
                               .point = dir->path,
                               .layers = &layers,
                               .volumes = &volume,
                               .volume_count = 1,
                               .launcher = ended_process(),
                               .mounts = -1,
                               .arena = &arena};
    time_t begin = time(NULL);
    assert_works(warm_start_run(&start, &err), err);
    assert_true(time(NULL) - begin < 300); /* not the ten minutes that a launch may take */
}

UNIT_SUITE(test_warm_start)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_launch_that_is_over, tempdir_make, tempdir_remove),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
