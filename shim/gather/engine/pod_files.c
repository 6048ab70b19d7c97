#include "shim/gather/engine/pod_files.h"

#include "base/path.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Returns the path behind /var/lib/kubelet/pods/UID/, or NULL. */
static const char *in_pod(const char *uid, const char *path)
{
    static const char pods[] = "/var/lib/kubelet/pods/";

    if (strncmp(path, pods, sizeof(pods) - 1) != 0)
        return NULL;
    const char *pod = path + sizeof(pods) - 1;
    size_t len = strcspn(pod, "/");
    if (!len || pod[len] != '/' || (uid && (strlen(uid) != len || memcmp(pod, uid, len) != 0)))
        return NULL;
    return pod + len + 1;
}

/* A CSI driver keeps its own state in the directory of a volume, beside what it mounts. */
static bool is_csi_state(const char *path)
{
    static const char csi[] = "volumes/kubernetes.io~csi/", mount[] = "/mount";

    if (strncmp(path, csi, sizeof(csi) - 1) != 0)
        return false;
    const char *behind = strchr(path + sizeof(csi) - 1, '/');
    return !behind || strncmp(behind, mount, sizeof(mount) - 1) != 0 ||
           (behind[sizeof(mount) - 1] != '\0' && behind[sizeof(mount) - 1] != '/');
}

bool pod_files_has(const char *uid, const char *path)
{
    static const struct {
        const char *name;
        size_t least, most; /* components */
    } files[] = {
        {"containers/", 3, 3},             /* NAME/ID: a termination log */
        {"volumes/", 3, SIZE_MAX},         /* PLUGIN/NAME */
        {"volume-subpaths/", 4, SIZE_MAX}, /* VOLUME/CONTAINER/NUMBER */
    };
    const char *rest = in_pod(uid, path);

    if (!rest || is_csi_state(rest))
        return false;
    if (strcmp(rest, "etc-hosts") == 0)
        return true;
    size_t depth = path_depth(rest);
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        if (strncmp(rest, files[i].name, strlen(files[i].name)) == 0 && depth >= files[i].least &&
            depth <= files[i].most)
            return true;
    return false;
}
