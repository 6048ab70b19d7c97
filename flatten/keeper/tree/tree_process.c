#include "flatten/keeper/tree/tree_process.h"

#include "base/landlock.h"
#include "flatten/keeper/tree/tree_writer.h"
#include "flatten/keeper/walk/walk.h"
#include "flatten/wire/wire.h"
#include "flatten/wire/wire_entry.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* The capabilities that files of any owner, mode, kind and attribute need. */
static const cap_value_t kept[] = {CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER,   CAP_FSETID,
                                   CAP_MKNOD, CAP_SETFCAP,      CAP_SYS_ADMIN};

/* Keeps a capability that this process has: in a container root may lack some. */
static int keep_capability(cap_t from, cap_t to, cap_value_t cap)
{
    cap_flag_value_t has = CAP_CLEAR;

    if (cap_get_flag(from, cap, CAP_PERMITTED, &has) < 0)
        return -1;
    return cap_set_flag(to, CAP_PERMITTED, 1, &cap, has) < 0 ||
                   cap_set_flag(to, CAP_EFFECTIVE, 1, &cap, has) < 0
               ? -1
               : 0;
}

static int drop_capabilities(struct err *err)
{
    cap_t now = cap_get_proc(), then = cap_init();
    int rc = now && then ? 0 : -1;

    for (size_t i = 0; rc == 0 && i < sizeof(kept) / sizeof(*kept); i++)
        rc = keep_capability(now, then, kept[i]);
    if (rc == 0)
        rc = cap_set_proc(then);
    if (rc < 0)
        err_sys(err, "cannot drop capabilities");
    cap_free(now);
    cap_free(then);
    return rc;
}

/* Gives the three descriptors the numbers after the standard ones, and closes all others. */
static int keep_descriptors(struct tree_process *p, struct err *err)
{
    enum { FIRST = STDERR_FILENO + 1, FREE = FIRST + 3 };
    int *const wanted[] = {&p->root, &p->input, &p->socket};

    for (int i = 0; i < 3; i++)
        if ((*wanted[i] = fcntl(*wanted[i], F_DUPFD_CLOEXEC, FREE)) < 0)
            return err_sys(err, "dup");
    for (int i = 0; i < 3; i++) {
        if (dup3(*wanted[i], FIRST + i, O_CLOEXEC) < 0)
            return err_sys(err, "dup");
        *wanted[i] = FIRST + i;
    }
    if (syscall(SYS_close_range, FREE, ~0U, 0) < 0)
        return err_sys(err, "close_range (Linux 5.9)");
    return 0;
}

/* Makes the tree the root directory, if this process may. */
static int enter_root(const struct tree_process *p, struct err *err)
{
    if (fchdir(p->root) < 0)
        return err_sys(err, "fchdir");
    if (chroot(".") < 0 && errno != EPERM)
        return err_sys(err, "chroot");
    return 0;
}

static int confine(struct tree_process *p, struct err *err)
{
    const struct rlimit none = {0, 0};

    umask(0);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != p->keeper)
        return err_set(err, ERR_SYSTEM, "flatten's main process is gone");
    if (keep_descriptors(p, err) < 0 || enter_root(p, err) < 0)
        return -1;
    if (setrlimit(RLIMIT_CORE, &none) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return err_sys(err, "PR_SET_NO_NEW_PRIVS");
    return landlock_confine(p->root, err) < 0 ? -1 : drop_capabilities(err);
}

static int tell_end(int socket, const struct err *failure, uint64_t left_out, struct err *err)
{
    _cleanup_buf_ struct buf message = BUF_INIT;

    if (failure)
        wire_encode_end(failure, &message);
    else
        buf_append(&message, &left_out, sizeof(left_out));
    return wire_send(socket, &message, -1, err);
}

_Noreturn void tree_process_run(const struct tree_process *of)
{
    struct tree_process p = *of;
    struct err err = ERR_INIT, ignored = ERR_INIT;
    uint64_t left_out = 0;
    int rc = confine(&p, &err);

    if (rc == 0)
        rc = tree_write(p.root, p.input, p.owners, &left_out, &err);
    close(p.input); /* the reader sees that nobody reads on */
    if (tell_end(p.socket, rc < 0 ? &err : NULL, left_out, &ignored) == 0 && rc == 0 &&
        fchdir(p.root) == 0)
        rc = walk_here(p.socket, &ignored);
    _exit(rc < 0);
}
