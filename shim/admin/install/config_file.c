#include "shim/admin/install/config_file.h"
#include "shim/admin/install/config_diff.h"

#include "base/fdio.h"
#include "base/files/atomic_file.h"
#include "base/path.h"
#include "shim/host/file_attributes.h"

#include <fcntl.h>
#include <string.h>

static char *backup_path(const struct config_file *file)
{
    return strf("%s" CONFIG_FILE_BACKUP, file->path);
}

static int read_backup(struct config_file *file, struct err *err)
{
    _cleanup_free_ char *path = backup_path(file);

    if (!path)
        return err_nomem(err);
    if (file_read(AT_FDCWD, path, CONFIG_FILE_BYTES, &file->backup, err) == 0)
        file->has_backup = true;
    else if (err->kind != ERR_SYSTEM || err->sys != ENOENT)
        return -1;
    return 0;
}

int config_file_read(const char *path, struct config_file *out, struct err *err)
{
    *out = (struct config_file)CONFIG_FILE_INIT;
    out->path = realpath(path, NULL);
    if (!out->path && errno != ENOENT)
        return err_sys(err, "%s", path);
    if (!out->path) {
        struct stat st;
        if (lstat(path, &st) == 0)
            return err_set(err, ERR_FORMAT, "%s: a symbolic link that leads nowhere", path);
        out->path = strdup(path);
        return out->path ? read_backup(out, err) : err_nomem(err);
    }
    out->fd = open(out->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
    if (out->fd < 0 || fstat(out->fd, &out->st) < 0)
        return err_sys(err, "%s", path);
    if (!S_ISREG(out->st.st_mode))
        return err_set(err, ERR_FORMAT, "%s: not a regular file", path);
    if (fd_read_all(out->fd, CONFIG_FILE_BYTES, &out->text, err) < 0)
        return err_wrap(err, "%s", path);
    return read_backup(out, err);
}

/* Opens the directory of a path, made if `make`, and sets *name to the name in it. */
static int open_directory(const char *path, bool make, const char **name, struct err *err)
{
    _cleanup_free_ char *dir = path_parent(path, name);

    if (!dir)
        return err_nomem(err);
    for (char *p = dir + 1; make && *dir; p++) {
        char c = *p;
        if (c != '/' && c != '\0')
            continue;
        *p = '\0';
        if (mkdir(dir, 0755) < 0 && errno != EEXIST)
            return err_sys(err, "%s", dir);
        *p = c;
        if (!c)
            break;
    }
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? err_sys(err, "%s", dir) : fd;
}

static int write_text(const struct config_file *file, const char *path, const struct buf *text,
                      struct err *err)
{
    static const mode_t mode = 0644;
    _cleanup_atomic_file_ struct atomic_file out = ATOMIC_FILE_INIT;
    const char *name = NULL;
    _cleanup_fd_ int dirfd = open_directory(path, file->fd < 0, &name, err);

    if (dirfd < 0)
        return -1;
    if (atomic_file_begin(&out, dirfd, name, file->fd < 0 ? mode : 0600, err) < 0 ||
        (file->fd >= 0 && attributes_copy(file->fd, &file->st, out.fd, err) < 0) ||
        fd_write_all(out.fd, text->data, text->len, err) < 0 || atomic_file_commit(&out, err) < 0)
        return err_wrap(err, "%s", path);
    return 0;
}

int config_file_keep(const struct config_file *file, struct err *err)
{
    _cleanup_free_ char *path = backup_path(file);

    if (!path)
        return err_nomem(err);
    return file->fd < 0 ? 0 : write_text(file, path, &file->text, err);
}

int config_file_write(const struct config_file *file, const struct buf *text, struct err *err)
{
    return write_text(file, file->path, text, err);
}

int config_file_remove(const struct config_file *file, struct err *err)
{
    return unlink(file->path) < 0 ? err_sys(err, "%s", file->path) : 0;
}

int config_file_remove_backup(const struct config_file *file, struct err *err)
{
    _cleanup_free_ char *path = backup_path(file);

    if (!path)
        return err_nomem(err);
    return unlink(path) < 0 && errno != ENOENT ? err_sys(err, "%s", path) : 0;
}

void config_file_close(struct config_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    free(file->path);
    buf_free(&file->text);
    buf_free(&file->backup);
    *file = (struct config_file)CONFIG_FILE_INIT;
}

int config_file_print_diff(const struct config_file *file, const struct buf *after, bool removes,
                           struct err *err)
{
    return config_diff_print(file->path, file->fd < 0 ? NULL : &file->text, removes ? NULL : after,
                             err);
}

int config_file_replace(const struct config_file *file, const struct buf *after, bool keep,
                        bool removes, struct err *err)
{
    if (keep && config_file_keep(file, err) < 0)
        return -1;
    return removes ? config_file_remove(file, err) : config_file_write(file, after, err);
}
