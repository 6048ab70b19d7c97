/* The paths of NVIDIA's driver. */
#include "tests/unit/lib/unit.h"

#include "shim/cdi/driver_path.h"

static void test_files_of_the_driver(void **state)
{
    /* All mounts that toolkit 1.19.1 made in the mode jit-cdi, with graphics. */
    static const char *const paths[] = {
        "/run/nvidia-fabricmanager/socket",
        "/run/nvidia-persistenced/socket",
        "/usr/bin/nvidia-cuda-mps-control",
        "/usr/bin/nvidia-cuda-mps-server",
        "/usr/bin/nvidia-debugdump",
        "/usr/bin/nvidia-persistenced",
        "/usr/bin/nvidia-smi",
        "/etc/vulkan/icd.d/nvidia_icd.json",
        "/etc/vulkan/implicit_layer.d/nvidia_layers.json",
        "/usr/lib/x86_64-linux-gnu/libEGL_nvidia.so.550.54.15",
        "/usr/lib/x86_64-linux-gnu/libGLX_nvidia.so.550.54.15",
        "/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.15",
        "/usr/lib/x86_64-linux-gnu/libcudadebugger.so.550.54.15",
        "/usr/lib/x86_64-linux-gnu/libnvcuvid.so.550.54.15",
        "/usr/lib/x86_64-linux-gnu/libnvidia-allocator.so.550.54.15",
        "/usr/lib/x86_64-linux-gnu/libnvidia-cfg.so.550.54.15",
        "/usr/lib/x86_64-linux-gnu/libnvidia-egl-gbm.so.550.54.15",
        "/usr/lib/x86_64-linux-gnu/libnvidia-encode.so.550.54.15",
        "/usr/lib/x86_64-linux-gnu/libnvidia-glcore.so.550.54.15",
        "/usr/lib/x86_64-linux-gnu/libnvidia-gpucomp.so.550.54.15",
        "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.550.54.15",
        "/usr/lib/x86_64-linux-gnu/libnvidia-nvvm.so.550.54.15",
        "/usr/lib/x86_64-linux-gnu/libnvidia-opencl.so.550.54.15",
        "/usr/lib/x86_64-linux-gnu/libnvidia-ptxjitcompiler.so.550.54.15",
        "/usr/lib/x86_64-linux-gnu/libnvidia-rtcore.so.550.54.15",
        "/usr/lib/x86_64-linux-gnu/libnvoptix.so.550.54.15",
        "/usr/share/nvidia/nvoptix.bin",
        "/lib/firmware/nvidia/550.54.15/gsp_ga10x.bin",
        "/lib/firmware/nvidia/550.54.15/gsp_tu10x.bin",
        "/usr/lib/x86_64-linux-gnu/vdpau/libvdpau_nvidia.so.550.54.15",
        "/usr/share/X11/xorg.conf.d/10-nvidia.conf",
        "/usr/share/X11/xorg.conf.d/nvidia-drm-outputclass.conf",
        "/usr/share/egl/egl_external_platform.d/10_nvidia_wayland.json",
        "/usr/share/egl/egl_external_platform.d/15_nvidia_gbm.json",
        "/usr/share/glvnd/egl_vendor.d/10_nvidia.json",
        "/usr/lib/xorg/modules/drivers/nvidia_drv.so",
        "/usr/lib/xorg/modules/extensions/libglxserver_nvidia.so.550.54.15",
        /* and of other distributions */
        "/usr/lib64/libcuda.so.550.54.15",
        "/usr/lib/aarch64-linux-gnu/nvidia/current/libcuda.so.550.54.15",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
        if (!driver_path_is(paths[i]))
            fail_msg("%s", paths[i]);
}

static void test_other_files(void **state)
{
    static const char *const paths[] = {
        "/usr/bin/nvidia-modprobe",
        "/usr/bin/nvidia-smi/x",
        "/usr/bin/nvidia-smi/",
        "/usr/local/bin/nvidia-smi",
        "/usr/lib/x86_64-linux-gnu/libcrypt.so.1",
        "/usr/lib/x86_64-linux-gnu/libcuda.so",
        "/home/alice/libcuda.so.550",
        "/usr/share/nvidia",
        "/usr/share/nvidia/../../../etc/shadow",
        "/run/nvidia-persistenced",
        "/",
        "",
        "libcuda.so.550",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
        if (driver_path_is(paths[i]))
            fail_msg("%s", paths[i]);
}

UNIT_SUITE(test_driver_path)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_of_the_driver),
        cmocka_unit_test(test_other_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
