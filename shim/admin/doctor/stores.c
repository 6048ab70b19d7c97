/* The stores of this host's engines. */
#include "shim/admin/doctor/doctor.h"

#include "shim/admin/doctor/images/images.h"
#include "shim/admin/doctor/store/store.h"
#include "shim/admin/engine/engine_stores.h"

void doctor_stores(const char *const *more, size_t more_count, struct diagnoses *out)
{
    _cleanup_arena_ struct arena arena = {0};
    const char *docker = engine_docker_root(&arena), *podman = engine_podman_root(&arena);
    const char *containerd = engine_containerd_root(&arena);
    const char *const roots[] = {docker, containerd, podman};

    for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++)
        store_examine(roots[i], false, out);
    for (size_t i = 0; i < more_count; i++)
        store_examine(more[i], true, out);
    stores_examine_users(out);
    images_examine_docker(docker, out);
    images_examine_containerd(containerd, out);
    images_examine_podman(podman, out);
}
