#include "flatten/keeper/source/daemon_content.h"

#include "flatten/keeper/files/containerd_store.h"
#include "flatten/keeper/source/source_backends.h"

#include <string.h>

/* An image in containerd's store. The reader checks the blobs, so no wrong store can do harm. */

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
    struct source_registry found = {0};

    if (!docker || docker[0] != '/')
        return err_set(why, ERR_UNSUPPORTED, "the daemon does not say where its images are");
    if (find_digest(facts, &found.root, why) < 0)
        return -1;
    int store = containerd_store_of_docker(docker, &found.root, &found.root_size, why);
    if (store < 0 || !(found.store = source_directory_store(store, why)))
        return -1;
    d->blobs = found;
    return 0;
}
