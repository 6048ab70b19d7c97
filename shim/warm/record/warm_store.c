#include "shim/warm/record/warm_store.h"

#include "base/fdio.h"
#include "base/files/atomic_file.h"
#include "base/hex.h"
#include "shim/mount/closed_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static const char record_name[] = "record";

int warm_store_open(const char *path, bool make, struct warm_store *out, struct err *err)
{
    out->fd = closed_directory_open(path, make, &out->path, err);
    return out->fd < 0 ? -1 : 0;
}

int warm_store_find(const char *path, struct warm_store *out, struct err *err)
{
    struct err why = ERR_INIT;

    if (warm_store_open(path, false, out, &why) == 0)
        return 1;
    if (err_missing(&why))
        return 0;
    *err = why;
    return -1;
}

void warm_store_close(struct warm_store *store)
{
    cleanup_fd(&store->fd);
    free(store->path);
    *store = (struct warm_store)WARM_STORE_INIT;
}

int warm_store_read(const struct warm_store *store, const char *key, const char *of,
                    struct arena *arena, struct warm_record *out, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    _cleanup_fd_ int entry = fd_open_directory(store->fd, key);

    if (entry < 0)
        return err_sys(err, "%s/%s", store->path, key);
    if (file_read(entry, record_name, WARM_RECORD_BYTES, &text, err) < 0)
        return -1;
    if (warm_record_parse(text.data ? text.data : "", text.len, arena, out, err) < 0)
        return err_wrap(err, "%s/%s/%s", store->path, key, record_name);
    if (of && strcmp(of, out->of) != 0)
        return err_set(err, ERR_FORMAT, "%s/%s is of another place", store->path, key);
    return 0;
}

int warm_store_lock(const struct warm_store *store, const char *key, struct err *err)
{
    return closed_directory_claim(store->fd, store->path, key,
                                  "another process records it, or reads it ahead", err);
}

int warm_store_write(int locked, const struct warm_record *record, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    _cleanup_atomic_file_ struct atomic_file file = ATOMIC_FILE_INIT;

    warm_record_print(record, &text);
    if (buf_check(&text, err) < 0 || atomic_file_begin(&file, locked, record_name, 0600, err) < 0 ||
        fd_write_all(file.fd, text.data, text.len, err) < 0)
        return -1;
    return atomic_file_commit(&file, err);
}

int warm_store_remove(const struct warm_store *store, const char *key, struct err *err)
{
    _cleanup_fd_ int entry = fd_open_directory(store->fd, key);

    if (entry < 0)
        return err_sys(err, "%s/%s", store->path, key);
    atomic_file_sweep(entry, false);
    if ((unlinkat(entry, record_name, 0) < 0 && errno != ENOENT) ||
        (unlinkat(store->fd, key, AT_REMOVEDIR) < 0 && errno != ENOENT && errno != ENOTEMPTY))
        return err_sys(err, "%s/%s", store->path, key);
    return 0;
}

int warm_store_each(const struct warm_store *store, warm_store_taker *take, void *ctx,
                    struct err *err)
{
    DIR *dir = fd_list_directory(store->fd, ".");
    const struct dirent *e;
    struct stat st;
    int rc = 0;

    if (!dir)
        return err_sys(err, "%s", store->path);
    while (rc == 0 && (e = readdir(dir)))
        if (hex_is(e->d_name, CHAIN_KEY - 1) &&
            fstatat(store->fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            rc = take(e->d_name, st.st_mtim.tv_sec, ctx, err);
    closedir(dir);
    return rc;
}
