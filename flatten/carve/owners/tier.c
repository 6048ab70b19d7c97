/*
 * Tiers of packages by their names: how often they change. The first row that matches decides;
 * without one, a package of a distribution is TIER_SYSTEM, another one TIER_PACKAGE. The rows are
 * data:
 *
 *   TIER_TOOLCHAIN  libraries of CUDA, cuDNN, NCCL, ROCm, oneAPI and MKL; compilers. They change
 *                   when somebody decides so, a few times a year, and are the largest files.
 *   TIER_FRAMEWORK  torch and what is released with it, TensorFlow, JAX, vLLM and their like: they
 *                   change every few weeks.
 *
 * A row for packages of distributions must not match their small libraries: libcu* has libcurl and
 * libcups, libnv* has libnvme. Packages built on a framework, such as transformers or torchmetrics,
 * have releases of their own: TIER_PACKAGE.
 */
#include "flatten/carve/owners/finder.h"

#include "base/glob.h"

enum origin { DISTRIBUTION = 1, LANGUAGE = 2, ANY = DISTRIBUTION | LANGUAGE };

static const struct {
    enum origin origin;
    enum owner_tier tier;
    const char *glob;
} table[] = {
    {DISTRIBUTION, TIER_SYSTEM, "gcc-*-base"},
    {DISTRIBUTION, TIER_FRAMEWORK, "libnvinfer*"},
    {DISTRIBUTION, TIER_FRAMEWORK, "libnvonnxparsers*"},
    {DISTRIBUTION, TIER_FRAMEWORK, "libnvparsers*"},
    {DISTRIBUTION, TIER_FRAMEWORK, "python3-libnvinfer*"},
    {DISTRIBUTION, TIER_FRAMEWORK, "libonnxruntime*"},
    {ANY, TIER_FRAMEWORK, "tensorrt*"},
    {ANY, TIER_FRAMEWORK, "onnxruntime*"},
    {LANGUAGE, TIER_FRAMEWORK, "torch"},
    {LANGUAGE, TIER_FRAMEWORK, "torchvision"},
    {LANGUAGE, TIER_FRAMEWORK, "torchaudio"},
    {LANGUAGE, TIER_FRAMEWORK, "torchtext"},
    {LANGUAGE, TIER_FRAMEWORK, "torchao"},
    {LANGUAGE, TIER_FRAMEWORK, "libtorch*"},
    {LANGUAGE, TIER_FRAMEWORK, "pytorch"},
    {LANGUAGE, TIER_FRAMEWORK, "pytorch-cuda"},
    {LANGUAGE, TIER_FRAMEWORK, "pytorch-[gc]pu"},
    {LANGUAGE, TIER_FRAMEWORK, "pytorch-mutex"},
    {LANGUAGE, TIER_FRAMEWORK, "pytorch-triton*"},
    {LANGUAGE, TIER_FRAMEWORK, "triton"},
    {LANGUAGE, TIER_FRAMEWORK, "triton-*"},
    {LANGUAGE, TIER_FRAMEWORK, "torchtriton"},
    {LANGUAGE, TIER_FRAMEWORK, "tensorflow*"},
    {LANGUAGE, TIER_FRAMEWORK, "libtensorflow*"},
    {LANGUAGE, TIER_FRAMEWORK, "jax"},
    {LANGUAGE, TIER_FRAMEWORK, "jax-*"},
    {LANGUAGE, TIER_FRAMEWORK, "jaxlib"},
    {LANGUAGE, TIER_FRAMEWORK, "vllm"},
    {LANGUAGE, TIER_FRAMEWORK, "vllm-*"},
    {LANGUAGE, TIER_FRAMEWORK, "sglang"},
    {LANGUAGE, TIER_FRAMEWORK, "sgl-kernel"},
    {LANGUAGE, TIER_FRAMEWORK, "flash-attn*"},
    {LANGUAGE, TIER_FRAMEWORK, "flashinfer*"},
    {LANGUAGE, TIER_FRAMEWORK, "xformers"},
    {LANGUAGE, TIER_FRAMEWORK, "deepspeed"},
    {LANGUAGE, TIER_FRAMEWORK, "paddle*"},
    {LANGUAGE, TIER_FRAMEWORK, "mxnet*"},
    {ANY, TIER_TOOLCHAIN, "cuda"},
    {ANY, TIER_TOOLCHAIN, "cuda-*"},
    {ANY, TIER_TOOLCHAIN, "cudatoolkit*"},
    {ANY, TIER_TOOLCHAIN, "cudnn*"},
    {ANY, TIER_TOOLCHAIN, "cutensor*"},
    {ANY, TIER_TOOLCHAIN, "nccl"},
    {ANY, TIER_TOOLCHAIN, "gds-tools*"},
    {ANY, TIER_TOOLCHAIN, "libcublas*"},
    {ANY, TIER_TOOLCHAIN, "libcuda[0-9]*"},
    {ANY, TIER_TOOLCHAIN, "libcudart*"},
    {ANY, TIER_TOOLCHAIN, "libcudnn*"},
    {ANY, TIER_TOOLCHAIN, "libcudss*"},
    {ANY, TIER_TOOLCHAIN, "libcufft*"},
    {ANY, TIER_TOOLCHAIN, "libcufile*"},
    {ANY, TIER_TOOLCHAIN, "libcuinj*"},
    {ANY, TIER_TOOLCHAIN, "libcupti*"},
    {ANY, TIER_TOOLCHAIN, "libcurand*"},
    {ANY, TIER_TOOLCHAIN, "libcusolver*"},
    {ANY, TIER_TOOLCHAIN, "libcusparse*"},
    {ANY, TIER_TOOLCHAIN, "libcutensor*"},
    {ANY, TIER_TOOLCHAIN, "libnccl*"},
    {ANY, TIER_TOOLCHAIN, "libnpp*"},
    {ANY, TIER_TOOLCHAIN, "libnvblas*"},
    {ANY, TIER_TOOLCHAIN, "libnvfatbin*"},
    {ANY, TIER_TOOLCHAIN, "libnvidia-*"},
    {ANY, TIER_TOOLCHAIN, "libnvjitlink*"},
    {ANY, TIER_TOOLCHAIN, "libnvjpeg*"},
    {ANY, TIER_TOOLCHAIN, "libnvptxcompiler*"},
    {ANY, TIER_TOOLCHAIN, "libnvrtc*"},
    {ANY, TIER_TOOLCHAIN, "libnvshmem*"},
    {ANY, TIER_TOOLCHAIN, "libnvtoolsext*"},
    {ANY, TIER_TOOLCHAIN, "libnvvm*"},
    {ANY, TIER_TOOLCHAIN, "nvidia-*"},
    {ANY, TIER_TOOLCHAIN, "nsight-*"},
    {ANY, TIER_TOOLCHAIN, "mkl"},
    {ANY, TIER_TOOLCHAIN, "mkl-*"},
    {ANY, TIER_TOOLCHAIN, "libmkl-*"},
    {ANY, TIER_TOOLCHAIN, "onemkl*"},
    {ANY, TIER_TOOLCHAIN, "intel-*"},
    {ANY, TIER_TOOLCHAIN, "dpcpp*"},
    {ANY, TIER_TOOLCHAIN, "rocm*"},
    {ANY, TIER_TOOLCHAIN, "rocblas*"},
    {ANY, TIER_TOOLCHAIN, "rocfft*"},
    {ANY, TIER_TOOLCHAIN, "rocrand*"},
    {ANY, TIER_TOOLCHAIN, "rocsolver*"},
    {ANY, TIER_TOOLCHAIN, "rocsparse*"},
    {ANY, TIER_TOOLCHAIN, "rccl*"},
    {ANY, TIER_TOOLCHAIN, "hip"},
    {ANY, TIER_TOOLCHAIN, "hip-*"},
    {ANY, TIER_TOOLCHAIN, "hipblas*"},
    {ANY, TIER_TOOLCHAIN, "hipfft*"},
    {ANY, TIER_TOOLCHAIN, "hiprand*"},
    {ANY, TIER_TOOLCHAIN, "hipsolver*"},
    {ANY, TIER_TOOLCHAIN, "hipsparse*"},
    {ANY, TIER_TOOLCHAIN, "hsa-*"},
    {ANY, TIER_TOOLCHAIN, "miopen*"},
    {DISTRIBUTION, TIER_TOOLCHAIN, "binutils*"},
    {DISTRIBUTION, TIER_TOOLCHAIN, "libbinutils*"},
    {DISTRIBUTION, TIER_TOOLCHAIN, "clang*"},
    {DISTRIBUTION, TIER_TOOLCHAIN, "libclang*"},
    {DISTRIBUTION, TIER_TOOLCHAIN, "cpp"},
    {DISTRIBUTION, TIER_TOOLCHAIN, "cpp-*"},
    {DISTRIBUTION, TIER_TOOLCHAIN, "g++"},
    {DISTRIBUTION, TIER_TOOLCHAIN, "g++-*"},
    {DISTRIBUTION, TIER_TOOLCHAIN, "gcc"},
    {DISTRIBUTION, TIER_TOOLCHAIN, "gcc-*"},
    {DISTRIBUTION, TIER_TOOLCHAIN, "gfortran*"},
    {DISTRIBUTION, TIER_TOOLCHAIN, "libgcc-*-dev"},
    {DISTRIBUTION, TIER_TOOLCHAIN, "libstdc++-*-dev"},
    {DISTRIBUTION, TIER_TOOLCHAIN, "libgfortran-*-dev"},
    {DISTRIBUTION, TIER_TOOLCHAIN, "llvm*"},
    {DISTRIBUTION, TIER_TOOLCHAIN, "libllvm*"},
    {DISTRIBUTION, TIER_TOOLCHAIN, "lld"},
    {DISTRIBUTION, TIER_TOOLCHAIN, "lld-*"},
    {DISTRIBUTION, TIER_TOOLCHAIN, "golang*"},
    {DISTRIBUTION, TIER_TOOLCHAIN, "rust"},
    {DISTRIBUTION, TIER_TOOLCHAIN, "rustc*"},
    {DISTRIBUTION, TIER_TOOLCHAIN, "libstd-rust-*"},
    {LANGUAGE, TIER_TOOLCHAIN, "binutils_*"},
    {LANGUAGE, TIER_TOOLCHAIN, "binutils_impl_*"},
    {LANGUAGE, TIER_TOOLCHAIN, "clang_*"},
    {LANGUAGE, TIER_TOOLCHAIN, "gcc_*"},
    {LANGUAGE, TIER_TOOLCHAIN, "gfortran_*"},
    {LANGUAGE, TIER_TOOLCHAIN, "gxx_*"},
    {LANGUAGE, TIER_TOOLCHAIN, "libgcc-devel_*"},
    {LANGUAGE, TIER_TOOLCHAIN, "libstdcxx-devel_*"},
    {LANGUAGE, TIER_TOOLCHAIN, "llvm-openmp"},
    {LANGUAGE, TIER_TOOLCHAIN, "sysroot_*"},
};

enum owner_tier tier_of(enum owner_kind kind, const char *name)
{
    bool is_distribution = kind == OWNER_DPKG || kind == OWNER_APK || kind == OWNER_RPM;
    enum origin origin = is_distribution ? DISTRIBUTION : LANGUAGE;

    if (kind == OWNER_NPM)
        return TIER_PACKAGE;
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
        if (table[i].origin & origin && glob_matches(table[i].glob, name))
            return table[i].tier;
    return is_distribution ? TIER_SYSTEM : TIER_PACKAGE;
}
