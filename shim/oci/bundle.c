#include "shim/oci/bundle.h"

#include "base/fdio.h"
#include "base/files/atomic_file.h"
#include "base/path.h"
#include "shim/host/file_attributes.h"

#include <fcntl.h>
#include <string.h>

static const char config_name[] = "config.json";

static char *config_path(const struct call *call)
{
    if (call->config && strcmp(call->config, config_name) != 0)
        return strdup(call->config);
    if (!call->bundle)
        return strdup(config_name);
    return strf("%s/%s", call->bundle, config_name);
}

static int open_directory(struct bundle *b, struct err *err)
{
    _cleanup_free_ char *dir = path_parent(b->path, &b->name);

    if (!dir)
        return err_nomem(err);
    b->dirfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return b->dirfd < 0 ? err_sys(err, "%s", b->path) : 0;
}

static int open_config(struct bundle *b, struct err *err)
{
    struct stat entry;

    /* O_NONBLOCK: opening a FIFO must not block before it is refused. */
    b->fd = openat(b->dirfd, b->name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (b->fd < 0 || fstatat(b->dirfd, b->name, &entry, AT_SYMLINK_NOFOLLOW) < 0)
        return err_sys(err, "%s", b->path);
    b->linked = S_ISLNK(entry.st_mode);
    if (fstat(b->fd, &b->st) < 0)
        return err_sys(err, "%s", b->path);
    if (!S_ISREG(b->st.st_mode))
        return err_set(err, ERR_FORMAT, "%s: not a regular file", b->path);
    return 0;
}

static int parse_config(struct bundle *b, struct err *err)
{
    static const struct json_options options = {.max_bytes = BUNDLE_CONFIG_BYTES,
                                                .unique_keys = true};
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (fd_read_file(b->fd, &b->st, BUNDLE_CONFIG_BYTES, &text, err) < 0)
        return err_wrap(err, "%s", b->path);
    b->doc = json_parse_buf(&text, &options, err);
    return b->doc ? 0 : err_wrap(err, "%s", b->path);
}

/* Opens and parses the file. Frees `path` with the bundle; NULL is out of memory. */
static int open_path(struct bundle *b, char *path, struct err *err)
{
    *b = (struct bundle)BUNDLE_INIT;
    b->path = path;
    if (!b->path)
        return err_nomem(err);
    if (open_directory(b, err) < 0 || open_config(b, err) < 0)
        return -1;
    return parse_config(b, err);
}

int bundle_open(struct bundle *b, const struct call *call, struct err *err)
{
    return open_path(b, config_path(call), err);
}

int bundle_open_file(struct bundle *b, const char *path, struct err *err)
{
    return open_path(b, strdup(path), err);
}

static int write_document(struct bundle *b, struct atomic_file *file, struct err *err)
{
    const struct timespec times[] = {b->st.st_atim, b->st.st_mtim};
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (json_write(b->doc, &text, err) < 0)
        return -1;
    if (text.len > BUNDLE_CONFIG_BYTES)
        return err_set(err, ERR_LIMIT, "larger than %d bytes", BUNDLE_CONFIG_BYTES);
    if (attributes_copy(b->fd, &b->st, file->fd, err) < 0)
        return -1;
    if (fd_write_all(file->fd, text.data, text.len, err) < 0)
        return -1;
    /* The day of the container ({container_name}) is that of the engine. */
    futimens(file->fd, times);
    return 0;
}

int bundle_write(struct bundle *b, struct err *err)
{
    _cleanup_atomic_file_ struct atomic_file file = ATOMIC_FILE_INIT;

    atomic_file_sweep(b->dirfd, false);
    if (atomic_file_begin(&file, b->dirfd, b->name, 0600, err) < 0)
        return err_wrap(err, "%s", b->path);
    file.fleeting = true; /* no container outlives a crash, and engines write the file again */
    if (write_document(b, &file, err) < 0 || atomic_file_commit(&file, err) < 0)
        return err_wrap(err, "%s", b->path);
    return 0;
}

void bundle_close(struct bundle *b)
{
    int saved = errno;

    if (b->doc)
        json_free(b->doc);
    if (b->fd >= 0)
        close(b->fd);
    if (b->dirfd >= 0)
        close(b->dirfd);
    free(b->path);
    *b = (struct bundle)BUNDLE_INIT;
    errno = saved;
}
