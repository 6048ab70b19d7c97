#include "flatten/keeper/files/containerd_store.h"

#include "flatten/exchange/blob_store.h"
#include "flatten/keeper/files/file_beneath.h"

int containerd_store_open(const char *root, struct err *err)
{
    _cleanup_free_ char *path = strf("%s/io.containerd.content.v1.content", root);

    return path ? store_directory_open(path, err) : err_nomem(err);
}

int containerd_store_find(int store, const struct digest *blob, uint64_t *size, struct err *err)
{
    char path[BLOB_PATH_SIZE];
    struct stat st;

    blob_path(blob, path);
    _cleanup_fd_ int fd = file_beneath_open(store, path, &st, err);
    if (fd < 0)
        return -1;
    *size = (uint64_t)st.st_size;
    return 0;
}
