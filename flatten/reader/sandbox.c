#include "flatten/reader/sandbox.h"

#include "base/landlock.h"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/capability.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

bool sandbox_has_list(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(FLATBED_COVERAGE)
    return false;
#else
    return true;
#endif
}

bool sandbox_closes_files(void)
{
#ifdef FLATBED_COVERAGE
    return false;
#else
    return true;
#endif
}

/* ---- capabilities ---- */

static int drop_capabilities(struct err *err)
{
    cap_t none = cap_init();

    if (!none)
        return err_sys(err, "cap_init");
    /* EPERM without CAP_SETPCAP: then no_new_privs alone keeps the process from gaining them. */
    for (cap_value_t cap = 0; cap_get_bound(cap) >= 0; cap++)
        if (cap_drop_bound(cap) < 0 && errno != EPERM) {
            cap_free(none);
            return err_sys(err, "the bounding set of capabilities");
        }
    int rc = cap_set_proc(none);
    cap_free(none);
    return rc < 0 ? err_sys(err, "cannot drop capabilities") : 0;
}

/* ---- system calls ---- */

static const int plain[] = {
    /* open descriptors */
    SCMP_SYS(read),
    SCMP_SYS(pread64),
    SCMP_SYS(write),
    SCMP_SYS(writev), /* message of abort(3) */
    SCMP_SYS(pwrite64),
    SCMP_SYS(lseek),
    SCMP_SYS(close),
    SCMP_SYS(fstat),
    SCMP_SYS(ftruncate),
    SCMP_SYS(fallocate),
    SCMP_SYS(copy_file_range),
    SCMP_SYS(sync_file_range),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(recvmsg),
    SCMP_SYS(sendmsg),
    /* memory */
    SCMP_SYS(brk),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    /* threads */
    SCMP_SYS(futex),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(gettid),
    SCMP_SYS(getpid),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    /* signals and time */
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(clock_gettime),
    /*
     * facts that tell little: qsort(3) asks for the size of memory, image_index.c for the machine
     */
    SCMP_SYS(sysinfo),
    SCMP_SYS(uname),
    SCMP_SYS(getrandom),
};

static int allow_plain(scmp_filter_ctx list)
{
    for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++) {
        int rc = seccomp_rule_add(list, SCMP_ACT_ALLOW, plain[i], 0);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static struct scmp_arg_cmp equals(unsigned arg, scmp_datum_t value)
{
    return (struct scmp_arg_cmp){.arg = arg, .op = SCMP_CMP_EQ, .datum_a = value};
}

/* Adds the rules that look at an argument. Returns 0, or a negative errno. */
static int allow_some(scmp_filter_ctx list)
{
    /*
     * For isatty(3): TCGETS, and TCGETS2 in a newer glibc, whose headers exclude termios.h. For the
     * progress line: the width of the terminal.
     */
    static const unsigned long ioctls[] = {TCGETS, _IOR('T', 0x2a, char[44]), TIOCGWINSZ};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(ioctls) / sizeof(*ioctls); i++)
        rc = seccomp_rule_add(list, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1, equals(1, ioctls[i]));
    if (rc == 0)
        rc = seccomp_rule_add(list, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1, equals(1, F_DUPFD_CLOEXEC));
    /* No memory becomes executable. */
    if (rc == 0)
        rc = seccomp_rule_add(list, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
                              SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    if (rc == 0)
        rc = seccomp_rule_add(list, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
                              SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    /*
     * Threads, not processes. A filter cannot read the arguments of clone3: glibc falls back to
     * clone.
     */
    if (rc == 0)
        rc = seccomp_rule_add(list, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                              SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
    if (rc == 0)
        rc = seccomp_rule_add(list, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    /* Signals to this process alone, for abort(3). */
    if (rc == 0)
        rc = seccomp_rule_add(list, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                              equals(0, (scmp_datum_t)getpid()));
    /* Names of threads and mappings, which are not needed. */
    if (rc == 0)
        rc = seccomp_rule_add(list, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(prctl), 0);
    return rc;
}

static int filter_calls(struct err *err)
{
    scmp_filter_ctx list = seccomp_init(SCMP_ACT_KILL_PROCESS);
    int rc = list ? 0 : -ENOMEM;

    if (rc == 0)
        rc = allow_plain(list);
    if (rc == 0)
        rc = allow_some(list);
    if (rc == 0)
        rc = seccomp_load(list);
    seccomp_release(list);
    if (rc == 0)
        return 0;
    errno = -rc;
    return err_sys(err, "the kernel takes no list of system calls (seccomp), and without one no "
                        "image is read");
}

int sandbox_enter(struct err *err)
{
    const struct rlimit none = {0, 0};

    if (setrlimit(RLIMIT_CORE, &none) < 0)
        return err_sys(err, "RLIMIT_CORE");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return err_sys(err, "PR_SET_NO_NEW_PRIVS");
    /* Without Landlock the list of system calls has no open(2) either. */
    if ((sandbox_closes_files() && landlock_confine(-1, err) < 0) || drop_capabilities(err) < 0)
        return -1;
    return sandbox_has_list() ? filter_calls(err) : 0;
}
