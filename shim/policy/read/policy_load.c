#include "base/fdio.h"
#include "base/path.h"
#include "shim/host/trust.h"
#include "shim/policy/policy.h"
#include "shim/policy/read/policy_order.h"
#include "shim/policy/read/policy_read.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>

static int check_trust(const char *path, const struct stat *dir, const struct stat *file,
                       struct err *err)
{
    const char *why = NULL;

    if (!S_ISREG(file->st_mode))
        why = "not a regular file";
    else if (!trust_owner(file->st_uid))
        why = "not owned by root: chown root:root makes it so";
    else if (file->st_mode & (S_IWGRP | S_IWOTH))
        why = "writable by group or others: chmod go-w ends that";
    else if (!trust_entry(dir, file))
        why = "in a directory that is writable by users other than root";
    return why ? err_set(err, ERR_POLICY, "%s: %s", path, why) : 0;
}

/*
 * Refuses a symbolic link: users other than root might control its target, and a dangling link is
 * not "no policy".
 */
static int refuse_link(const char *path, struct err *err)
{
    return err_set(err, ERR_POLICY,
                   "%s: a symbolic link, which is not followed: put there what it leads to", path);
}

/* Returns true only if the name itself is not there. */
static bool is_absent(int dirfd, const char *name)
{
    struct stat st;

    return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

/* Reads a file after checking the open descriptor, which is also the one that is read. */
static int read_trusted(const struct policy *policy, int dirfd, const char *name, const char *path,
                        struct buf *text, struct err *err)
{
    struct stat dir, file;
    _cleanup_fd_ int fd =
        openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);

    if (fd < 0 && errno == ELOOP)
        return refuse_link(path, err);
    if (fd < 0)
        return err_sys(err, "%s", path);
    if (fstat(dirfd, &dir) < 0 || fstat(fd, &file) < 0)
        return err_sys(err, "%s", path);
    if (check_trust(path, &dir, &file, err) < 0) {
        if (!policy->draft || !S_ISREG(file.st_mode))
            return -1;
        if (policy->distrust->kind == ERR_NONE)
            *policy->distrust = *err;
    }
    if (fd_read_file(fd, &file, POLICY_FILE_BYTES, text, err) < 0)
        return err_wrap(err, "%s", path);
    return 0;
}

static int load_file(struct policy *policy, int dirfd, const char *name, const char *path,
                     struct err *err)
{
    static const struct json_options options = {
        .max_bytes = POLICY_FILE_BYTES, .comments = true, .unique_keys = true};
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (read_trusted(policy, dirfd, name, path, &text, err) < 0)
        return -1;
    struct json_doc *doc = json_parse_buf(&text, &options, err);
    if (!doc) { /* the parser's message begins with "LINE:COLUMN: " */
        struct err inner = *err;
        return err_set(err, inner.kind, "%s:%s", path, inner.msg);
    }
    return policy_add(policy, path, doc, err);
}

int policy_add(struct policy *policy, const char *path, struct json_doc *doc, struct err *err)
{
    if (policy->file_count == POLICY_FILES) {
        json_free(doc);
        return err_set(err, ERR_LIMIT, "more than %d policy files", POLICY_FILES);
    }
    struct policy_file *file = &policy->files[policy->file_count++];
    file->doc = doc;
    file->path = strdup(path);
    if (!file->path)
        return err_nomem(err);
    struct decoder d = {.policy = policy, .file = file, .err = err};
    return decode_header(&d);
}

static int is_fragment(const struct dirent *entry)
{
    size_t len = strlen(entry->d_name);

    return entry->d_name[0] != '.' && len > 5 && strcmp(entry->d_name + len - 5, ".json") == 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int load_fragments(struct policy *policy, int parent, const char *name, const char *path,
                          struct err *err)
{
    struct dirent **list = NULL;
    struct stat st;

    if (is_absent(parent, name))
        return 0;
    if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
        return refuse_link(path, err);
    _cleanup_fd_ int dirfd = fd_open_directory(parent, name);
    if (dirfd < 0)
        return err_sys(err, "%s", path);
    int count = scandirat(dirfd, ".", &list, is_fragment, by_bytes);
    if (count < 0)
        return err_sys(err, "%s", path);
    int rc = 0;
    for (int i = 0; i < count; i++) {
        _cleanup_free_ char *file = strf("%s/%s", path, list[i]->d_name);
        if (rc == 0)
            rc = file ? load_file(policy, dirfd, list[i]->d_name, file, err) : err_nomem(err);
        free(list[i]);
    }
    free(list);
    return rc;
}

/* Loads "policy.json" and its directory "policy.d", in an open directory. */
static int load_files(struct policy *policy, int dirfd, const char *path, const char *name,
                      bool required, struct err *err)
{
    size_t stem = strlen(path);

    if (stem > 5 && strcmp(path + stem - 5, ".json") == 0)
        stem -= 5;
    if (required || !is_absent(dirfd, name))
        if (load_file(policy, dirfd, name, path, err) < 0)
            return -1;
    _cleanup_free_ char *directory = strf("%.*s.d", (int)stem, path);
    if (!directory)
        return err_nomem(err);
    return load_fragments(policy, dirfd, directory + (name - path), directory, err);
}

int policy_open(struct policy *policy, const char *path, struct err *err)
{
    bool required = path != NULL;

    if (!path)
        path = policy_default_path;
    const char *name;
    _cleanup_free_ char *dir = path_parent(path, &name);
    if (!dir)
        return err_nomem(err);
    _cleanup_fd_ int dirfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dirfd < 0) {
        int saved = errno;
        if (!required && is_absent(AT_FDCWD, dir))
            return 0;
        errno = saved;
        return err_sys(err, "%s", path);
    }
    int rc = load_files(policy, dirfd, path, name, required, err);
    if (rc < 0)
        policy->mode = POLICY_ENFORCE;
    return rc;
}
