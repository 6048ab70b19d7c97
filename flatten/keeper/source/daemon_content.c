#include "flatten/keeper/source/daemon_content.h"

#include "flatten/keeper/files/containerd_store.h"
#include "flatten/keeper/source/source_backends.h"

#include <string.h>

/*
 * An image in the store of a containerd that dockerd has started, or of the host's: dockerd does
 * not say which it uses. The reader checks the blobs, so no wrong store can do harm.
 */

/* Opens the store of that root, if it has the blob. Returns a directory, or -1. */
static int open_store(const char *root, const struct digest *blob, uint64_t *size, struct err *why)
{
    _cleanup_fd_ int store = containerd_store_open(root, why);

    if (store < 0)
        return -1;
    if (containerd_store_find(store, blob, size, why) < 0)
        return err_wrap(why, "%s", root);
    return steal_fd(&store);
}

/* The image's digest: with this store, Id is that of its manifest or index. */
static int find_digest(const struct json *facts, struct digest *out, struct err *why)
{
    const char *text = json_text(json_path(facts, "Descriptor", "digest", NULL));

    if (!text)
        text = json_text(json_get(facts, "Id"));
    return text && digest_parse(text, out, why) == 0
               ? 0
               : err_set(why, ERR_FORMAT, "the daemon does not say the image's Id");
}

int daemon_content_find(struct source_daemon *d, const struct json *info, const struct json *facts,
                        struct err *why)
{
    const char *docker = json_text(json_get(info, "DockerRootDir"));
    _cleanup_free_ char *root = strf("%s/" CONTAINERD_OF_DOCKER, docker ? docker : "");
    struct source_registry found = {0};
    struct err first = ERR_INIT;

    if (!root)
        return err_nomem(why);
    if (!docker || docker[0] != '/')
        return err_set(why, ERR_UNSUPPORTED, "the daemon does not say where its images are");
    if (find_digest(facts, &found.root, why) < 0)
        return -1;
    int store = open_store(root, &found.root, &found.root_size, &first);
    if (store < 0)
        store = open_store(CONTAINERD_ROOT, &found.root, &found.root_size, why);
    if (store < 0) {
        *why = first;
        return err_wrap(why, "containerd has it neither in %s nor in " CONTAINERD_ROOT, root);
    }
    if (!(found.store = source_directory_store(store, why)))
        return -1;
    d->blobs = found;
    return 0;
}
