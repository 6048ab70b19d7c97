/* The mount tables of all processes. */
#include "tests/unit/lib/tempdir.h"
#include "tests/unit/lib/unit.h"

#include "base/cleanup.h"
#include "shim/mount/mounts_of_all.h"

#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>

struct sought {
    const char *point;
    bool found;
};

static void look(void *context, const struct mount_table *table)
{
    struct sought *s = context;

    for (size_t i = 0; i < table->count; i++)
        s->found = s->found || strcmp(table->list[i].point, s->point) == 0;
}

/* Starts a process with a mount of its own, at `point`. */
static pid_t start_mounter(const char *point)
{
    int ready[2];
    char word;

    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        bool mounted = unshare(CLONE_NEWNS) == 0 &&
                       mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                       mount("none", point, "tmpfs", 0, NULL) == 0;
        if (!mounted || write(ready[1], "m", 1) != 1)
            _exit(1);
        pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &word, 1), 1);
    close(ready[0]);
    return pid;
}

static bool drop_ptrace(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct caps[2];
    const uint32_t ptrace = UINT32_C(1) << CAP_SYS_PTRACE;

    if (syscall(SYS_capget, &header, caps) < 0)
        return false;
    caps[0].effective &= ~ptrace;
    caps[0].permitted &= ~ptrace;
    caps[0].inheritable &= ~ptrace;
    return syscall(SYS_capset, &header, caps) == 0;
}

/* Returns true if a process sees the mount, with or without CAP_SYS_PTRACE. */
static bool is_seen(const char *point, bool with_ptrace)
{
    struct sought s = {.point = point};
    struct err err = ERR_INIT;
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        if (!with_ptrace && !drop_ptrace())
            _exit(2);
        _exit(mounts_of_all(look, &s, &err) == 0 ? !s.found : 3);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WEXITSTATUS(status) < 2);
    return WEXITSTATUS(status) == 0;
}

/* Names of namespaces are not shown without that capability, mounts are. */
static void test_mounts_of_another_namespace(void **state)
{
    const struct tempdir *dir = *state;
    pid_t mounter = start_mounter(dir->path);
    bool seen = is_seen(dir->path, true), seen_without = is_seen(dir->path, false);

    kill(mounter, SIGKILL);
    waitpid(mounter, NULL, 0);
    assert_true(seen);
    assert_true(seen_without);
    assert_false(is_seen(dir->path, true));
}

UNIT_SUITE(test_mounts_of_all)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_mounts_of_another_namespace, tempdir_make,
                                        tempdir_remove),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
