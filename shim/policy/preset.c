#include "shim/policy/preset.h"

#include <string.h>

enum { PRESETS = 12 };

static const char *const names[PRESETS] = {
    "torch",    "huggingface",      "pip",  "uv",    "conda",      "triton",
    "inductor", "torch-extensions", "cuda", "numba", "matplotlib", "xdg",
};

static const char *const variables[PRESETS] = {
    "TORCH_HOME",
    "HF_HOME",
    "PIP_CACHE_DIR",
    "UV_CACHE_DIR",
    "CONDA_PKGS_DIRS",
    "TRITON_CACHE_DIR",
    "TORCHINDUCTOR_CACHE_DIR",
    "TORCH_EXTENSIONS_DIR",
    "CUDA_CACHE_PATH",
    "NUMBA_CACHE_DIR",
    "MPLCONFIGDIR",
    "XDG_CACHE_HOME",
};

const char *preset_variable(const char *name)
{
    for (size_t i = 0; i < PRESETS; i++)
        if (strcmp(names[i], name) == 0)
            return variables[i];
    return NULL;
}

const char *const *preset_names(size_t *count)
{
    *count = PRESETS;
    return names;
}
