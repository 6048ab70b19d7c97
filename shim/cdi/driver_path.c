#include "shim/cdi/driver_path.h"

#include "base/glob.h"
#include "base/path.h"

#include <stdio.h>
#include <string.h>

struct pattern {
    const char *directory, *name; /* globs; a star of the directory may stand for several parts */
};

static const char *const library_directories[] = {
    "/usr/lib/*-linux-gnu", "/lib/*-linux-gnu", "/usr/lib64", "/lib64", "/usr/lib", "/usr/lib32",
};

/* Directories below those of the libraries. */
static const char *const library_parts[] = {"", "/vdpau", "/gbm", "/nvidia", "/nvidia/current"};

static const char *const libraries[] = {
    "libcuda.so.[0-9]*",    "libcudadebugger.so.[0-9]*", "libnvcuvid.so.[0-9]*",
    "libnvoptix.so.[0-9]*", "libnvidia-*.so.[0-9]*",     "lib*_nvidia.so.[0-9]*",
};

/* nvidia-modprobe is not among the programs: it is setuid. */
static const struct pattern files[] = {
    {"/usr/bin", "nvidia-smi"},
    {"/usr/bin", "nvidia-debugdump"},
    {"/usr/bin", "nvidia-persistenced"},
    {"/usr/bin", "nvidia-cuda-mps-control"},
    {"/usr/bin", "nvidia-cuda-mps-server"},
    {"/usr/bin", "nvidia-imex"},
    {"/usr/bin", "nvidia-imex-ctl"},
    {"/run/nvidia-persistenced", "socket"},
    {"/var/run/nvidia-persistenced", "socket"},
    {"/run/nvidia-fabricmanager", "socket"},
    {"/var/run/nvidia-fabricmanager", "socket"},
    {"/lib/firmware/nvidia/[0-9]*", "gsp*.bin"},
    {"/usr/lib/firmware/nvidia/[0-9]*", "gsp*.bin"},
    {"/usr/share/nvidia", "*"},
    {"/etc/vulkan/icd.d", "nvidia_*.json"},
    {"/etc/vulkan/implicit_layer.d", "nvidia_*.json"},
    {"/usr/share/vulkan/icd.d", "nvidia_*.json"},
    {"/usr/share/vulkan/implicit_layer.d", "nvidia_*.json"},
    {"/etc/vulkansc/icd.d", "nvidia_*.json"},
    {"/usr/share/glvnd/egl_vendor.d", "*_nvidia.json"},
    {"/usr/share/egl/egl_external_platform.d", "*_nvidia_*.json"},
    {"/usr/share/X11/xorg.conf.d", "*nvidia*.conf"},
    {"/usr/lib*/xorg/modules/drivers", "nvidia_drv.so"},
    {"/usr/lib*/xorg/modules/extensions", "libglxserver_nvidia.so*"},
};

static bool is_library(const char *directory, const char *name)
{
    bool known = false;
    char glob[64];

    for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
        known = known || glob_matches(libraries[i], name);
    for (size_t i = 0; known && i < sizeof(library_directories) / sizeof(char *); i++)
        for (size_t k = 0; k < sizeof(library_parts) / sizeof(char *); k++) {
            snprintf(glob, sizeof(glob), "%s%s", library_directories[i], library_parts[k]);
            if (glob_matches(glob, directory))
                return true;
        }
    return false;
}

bool driver_path_is(const char *path)
{
    const char *slash = path_is_clean_absolute(path) ? strrchr(path, '/') : NULL;
    char directory[128];

    if (!slash || slash == path || (size_t)(slash - path) >= sizeof(directory))
        return false;
    memcpy(directory, path, (size_t)(slash - path));
    directory[slash - path] = '\0';
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        if (glob_matches(files[i].directory, directory) && glob_matches(files[i].name, slash + 1))
            return true;
    return is_library(directory, slash + 1);
}
