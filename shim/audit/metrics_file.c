/* The file of counters. */
#include "base/fdio.h"
#include "base/files/atomic_file.h"
#include "shim/audit/audit_directory.h"
#include "shim/audit/metrics.h"
#include "shim/host/rundir.h"

#include <fcntl.h>
#include <sys/stat.h>

/* Reads the old file. One that is missing, too large or not regular counts as empty. */
static void read_old(int dirfd, const char *name, struct metrics *m)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct stat st;
    struct err ignored;
    _cleanup_fd_ int fd =
        openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
        fd_read_file(fd, &st, METRICS_BYTES, &text, &ignored) < 0 || !metrics_parse(m, text.data))
        m->count = 0;
}

static int write_text(int dirfd, const char *name, const struct buf *text, struct err *err)
{
    _cleanup_atomic_file_ struct atomic_file file = ATOMIC_FILE_INIT;

    if (buf_check(text, err) < 0 || atomic_file_begin(&file, dirfd, name, 0644, err) < 0)
        return -1;
    file.fleeting = true;
    if (fchmod(file.fd, 0644) <
        0) /* the umask may have cleared bits, and the collector is not root */
        return err_sys(err, "fchmod");
    if (fd_write_all(file.fd, text->data, text->len, err) < 0)
        return -1;
    return atomic_file_commit(&file, err);
}

static int write_new(int dirfd, const char *name, const struct metrics *m, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    metrics_print(m, &text);
    return write_text(dirfd, name, &text, err);
}

int audit_metrics_replace(const char *path, const struct buf *text, struct err *err)
{
    const char *name;
    _cleanup_fd_ int dirfd = audit_directory_open(path, false, &name, err);

    if (dirfd < 0)
        return -1;
    return write_text(dirfd, name, text, err) < 0 ? err_wrap(err, "%s", path) : 0;
}

/* Changes the counters in the file under the lock. */
static int update(const char *path, void (*count)(struct metrics *m, const void *subject),
                  const void *subject, struct err *err)
{
    struct metrics m = {.count = 0};
    const char *name;
    _cleanup_fd_ int dirfd = audit_directory_open(path, false, &name, err);
    _cleanup_fd_ int lock = dirfd < 0 ? -1 : rundir_lock("metrics", err);

    if (lock < 0)
        return -1;
    read_old(dirfd, name, &m);
    count(&m, subject);
    return write_new(dirfd, name, &m, err) < 0 ? err_wrap(err, "%s", path) : 0;
}

struct audited {
    const struct audit_record *record;
    bool failed;
};

static void count_decision(struct metrics *m, const void *subject)
{
    const struct audited *audited = subject;

    metrics_count(m, audited->record, audited->failed);
}

int metrics_update(const char *path, const struct audit_record *record, bool audit_failed,
                   struct err *err)
{
    const struct audited audited = {record, audit_failed};

    return update(path, count_decision, &audited, err);
}

static void count_copy(struct metrics *m, const void *subject)
{
    metrics_count_copy(m, subject);
}

int audit_metrics_copy(const char *path, const struct audit_copy *copy, struct err *err)
{
    return update(path, count_copy, copy, err);
}
