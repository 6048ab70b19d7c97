#include "shim/admin/copyups/habits.h"

#include "base/glob.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

/* Caches come before ~/.cache, which holds most of them. */
static const struct habit habits[] = {
    {HABIT_CACHE, ".cache/torch", "PyTorch's cache of models", "cache", "torch"},
    {HABIT_CACHE, ".cache/huggingface", "the cache of Hugging Face", "cache", "huggingface"},
    {HABIT_CACHE, ".cache/pip", "pip's cache", "cache", "pip"},
    {HABIT_CACHE, ".cache/uv", "uv's cache", "cache", "uv"},
    {HABIT_CACHE, ".cache/torch_extensions", "built extensions of PyTorch", "cache",
     "torch-extensions"},
    {HABIT_CACHE, ".cache/matplotlib", "matplotlib's cache", "cache", "matplotlib"},
    {HABIT_CACHE, ".triton", "Triton's cache", "cache", "triton"},
    {HABIT_CACHE, "torchinductor_*", "Inductor's cache", "cache", "inductor"},
    {HABIT_CACHE, ".nv/ComputeCache", "CUDA's cache of kernels", "cache", "cuda"},
    {HABIT_CACHE, "conda/pkgs", "conda's packages", "cache", "conda"},
    {HABIT_CACHE, "miniconda3/pkgs", "conda's packages", "cache", "conda"},
    {HABIT_CACHE, ".conda/pkgs", "conda's packages", "cache", "conda"},
    {HABIT_CACHE, ".cache", "caches of programs", "cache", "xdg"},
    {HABIT_INSTALL, "site-packages", "Python's packages", NULL, NULL},
    {HABIT_INSTALL, "dist-packages", "Python's packages", NULL, NULL},
    {HABIT_WORK, "checkpoints", "checkpoints", "checkpoints", NULL},
    {HABIT_WORK, "checkpoint", "checkpoints", "checkpoints", NULL},
    {HABIT_WORK, "ckpt", "checkpoints", "checkpoints", NULL},
    {HABIT_WORK, "ckpts", "checkpoints", "checkpoints", NULL},
    {HABIT_WORK, "notebooks", "notebooks", "notebooks", NULL},
    {HABIT_WORK, ".ipynb_checkpoints", "notebooks", "notebooks", NULL},
    {HABIT_WORK, "lightning_logs", "logs of training", "logs", NULL},
    {HABIT_WORK, "tensorboard", "logs of training", "logs", NULL},
    {HABIT_WORK, "wandb", "logs of training", "logs", NULL},
    {HABIT_WORK, "mlruns", "logs of training", "logs", NULL},
    {HABIT_WORK, "runs", "logs of training", "logs", NULL},
    {HABIT_WORK, "logs", "logs", "logs", NULL},
    {HABIT_WORK, "log", "logs", "logs", NULL},
    {HABIT_WORK, "datasets", "data sets", "data", NULL},
    {HABIT_WORK, "data", "data sets", "data", NULL},
    {HABIT_WORK, "models", "models", "models", NULL},
    {HABIT_WORK, "outputs", "results", "outputs", NULL},
    {HABIT_WORK, "output", "results", "outputs", NULL},
    {HABIT_TEMPORARY, "tmp", "temporary files", NULL, NULL},
};

/* Returns the length of the component that a text begins with. */
static size_t component(const char *text)
{
    return strcspn(text, "/");
}

/* Returns true if the components of a pattern begin the path; *len becomes their length. */
static bool begins_with(const char *path, const char *parts, size_t *len)
{
    size_t at = 0;

    for (;;) {
        char name[NAME_MAX + 1], glob[32];
        size_t wanted = component(parts), has = component(path + at);
        if (has == 0 || has > NAME_MAX || wanted >= sizeof(glob))
            return false;
        memcpy(name, path + at, has);
        name[has] = '\0';
        memcpy(glob, parts, wanted);
        glob[wanted] = '\0';
        if (!glob_matches(glob, name))
            return false;
        at += has;
        parts += wanted;
        *len = at;
        if (!*parts)
            return true;
        parts++;
        if (path[at] != '/')
            return false;
        at++;
    }
}

const struct habit *habit_of(const char *path, size_t *len)
{
    for (size_t h = 0; h < sizeof(habits) / sizeof(*habits); h++)
        for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
            size_t part;
            if (begins_with(at + 1, habits[h].parts, &part)) {
                *len = (size_t)(at + 1 - path) + part;
                return &habits[h];
            }
        }
    return NULL;
}
