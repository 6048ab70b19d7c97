#include "flatten/keeper/files/containerd_store.h"

#include "flatten/exchange/blob_store.h"
#include "flatten/keeper/files/file_beneath.h"

#define HOST_ROOT "/var/lib/containerd"

/* Opens the store of a containerd's root, if it has the blob. */
static int open_store(const char *root, const struct digest *blob, uint64_t *size, struct err *err)
{
    _cleanup_free_ char *path = strf("%s/io.containerd.content.v1.content", root);
    char name[BLOB_PATH_SIZE];
    struct stat st;

    if (!path)
        return err_nomem(err);
    _cleanup_fd_ int store = store_directory_open(path, err);
    if (store < 0)
        return -1;
    blob_path(blob, name);
    _cleanup_fd_ int fd = file_beneath_open(store, name, &st, err);
    if (fd < 0)
        return err_wrap(err, "%s", root);
    *size = (uint64_t)st.st_size;
    return steal_fd(&store);
}

int containerd_store_of_docker(const char *docker_root, const struct digest *blob, uint64_t *size,
                               struct err *err)
{
    _cleanup_free_ char *root = strf("%s/containerd/daemon", docker_root);
    struct err first = ERR_INIT;

    if (!root)
        return err_nomem(err);
    int store = open_store(root, blob, size, &first);
    if (store < 0)
        store = open_store(HOST_ROOT, blob, size, err);
    if (store >= 0)
        return store;
    *err = first;
    return err_wrap(err, "containerd has it neither in %s nor in " HOST_ROOT, root);
}
