#include "shim/policy/preset.h"

#include <string.h>

static const struct {
    const char *name, *variable;
} presets[] = {
    {"torch", "TORCH_HOME"},
    {"huggingface", "HF_HOME"},
    {"pip", "PIP_CACHE_DIR"},
    {"uv", "UV_CACHE_DIR"},
    {"conda", "CONDA_PKGS_DIRS"},
    {"triton", "TRITON_CACHE_DIR"},
    {"inductor", "TORCHINDUCTOR_CACHE_DIR"},
    {"torch-extensions", "TORCH_EXTENSIONS_DIR"},
    {"cuda", "CUDA_CACHE_PATH"},
    {"numba", "NUMBA_CACHE_DIR"},
    {"matplotlib", "MPLCONFIGDIR"},
    {"xdg", "XDG_CACHE_HOME"},
};
enum { PRESETS = sizeof(presets) / sizeof(*presets) };

const char *preset_variable(const char *name)
{
    for (size_t i = 0; i < PRESETS; i++)
        if (strcmp(presets[i].name, name) == 0)
            return presets[i].variable;
    return NULL;
}

void preset_print_names(struct buf *out)
{
    for (size_t i = 0; i < PRESETS; i++)
        buf_printf(out, "%s%s", i ? ", " : "", presets[i].name);
}
