#include "flatten/command/analyze_files.h"

#include "base/fdio.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_BYTES = 64 * 1024 };

/* Written by flatbed bench --save. */
static const char saved_costs[] = "/var/lib/flatbed/costs.json";

int analyze_load_rules(const char *path, struct ci_rules *rules, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (file_read(AT_FDCWD, path, MOST_BYTES, &text, err) < 0)
        return -1;
    if (ci_rules_parse(rules, text.data ? text.data : "", text.len, err) < 0)
        return err_wrap(err, "%s", path);
    return 0;
}

/* Opens the saved costs. Returns 1 with *out, 0 if there are none, or -1. */
static int open_saved_costs(int *out, struct err *err)
{
    int fd = open(saved_costs, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;

    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : err_sys(err, "%s", saved_costs);
    *out = fd;
    if (fstat(fd, &st) < 0)
        return err_sys(err, "%s", saved_costs);
    if (!S_ISREG(st.st_mode) || st.st_uid != 0 || (st.st_mode & (S_IWGRP | S_IWOTH)))
        return err_set(err, ERR_POLICY, "%s: writable by users other than root", saved_costs);
    return 1;
}

static int parse_costs(const char *path, const struct buf *text, struct lookup_costs *out,
                       struct err *err)
{
    if (lookup_costs_parse(text->data ? text->data : "", text->len, out, err) < 0)
        return err_wrap(err, "%s", path);
    snprintf(out->file, sizeof(out->file), "%s", path);
    out->saved_here = strcmp(path, saved_costs) == 0;
    return 0;
}

static int load_saved_costs(struct lookup_costs *out, struct err *err)
{
    _cleanup_fd_ int fd = -1;
    _cleanup_buf_ struct buf text = BUF_INIT;
    int rc = open_saved_costs(&fd, err);

    if (rc <= 0)
        return rc;
    if (fd_read_all(fd, MOST_BYTES, &text, err) < 0)
        return err_wrap(err, "%s", saved_costs);
    return parse_costs(saved_costs, &text, out, err);
}

int analyze_load_costs(const char *path, struct lookup_costs *out, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    *out = lookup_default_costs;
    if (!path)
        return load_saved_costs(out, err);
    if (file_read(AT_FDCWD, path, MOST_BYTES, &text, err) < 0)
        return err_wrap(err, "%s", path);
    return parse_costs(path, &text, out, err);
}
