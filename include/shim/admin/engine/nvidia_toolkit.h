/*
 * NVIDIA's container toolkit as far as it decides about the order of runtimes: config.toml of
 * nvidia-container-runtime. (nvidia-container-toolkit 1.17 and 1.19: the keys and their defaults
 * are those of `nvidia-ctk config default`.)
 *
 * The runtime calls the first of `runtimes` that exists. In the modes cdi, jit-cdi and csv it first
 * writes the GPUs into config.json; in the mode legacy it adds a prestart hook, which gives the
 * container its GPUs after the low-level runtime has read config.json. The mode auto means legacy
 * up to version 1.17.
 */
#ifndef SHIM_NVIDIA_TOOLKIT_H
#define SHIM_NVIDIA_TOOLKIT_H

#include "shim/admin/engine/runtime_program.h"
#include "shim/admin/engine/toml_value.h"

extern const char nvidia_toolkit_default_path[]; /* /etc/nvidia-container-runtime/config.toml */

struct nvidia_toolkit {
    struct arena arena; /* owns the texts */
    const char *path;
    bool exists;
    bool distrusted; /* users other than root can write it */
    const char *mode;
    struct toml_texts runtimes;
    const char *device_kind; /* of its CDI specification, such as "nvidia.com/gpu" */
    struct toml_texts spec_dirs;
    bool hook_in_all_modes; /* skip-mode-detection: the hook also works in the mode cdi */
};

/*
 * Returns the path of the configuration that a runtime of NVIDIA reads: the one beside it where
 * NVIDIA's GPU operator puts it, else the default one. The caller frees it; NULL without memory.
 */
char *nvidia_toolkit_path(const char *runtime);

/*
 * Reads a configuration as text; `text` may be NULL for a file that does not exist, with all
 * defaults. ERR_FORMAT, with a line, for one that the toolkit cannot read; ERR_UNSUPPORTED for
 * values in a form that is not decoded. The caller calls nvidia_toolkit_free, also after a failure.
 */
int nvidia_toolkit_parse(const char *path, const char *text, size_t len, struct nvidia_toolkit *out,
                         struct err *err) must_check;

/* As nvidia_toolkit_parse, from the file. No error if there is none. */
int nvidia_toolkit_read(const char *path, struct nvidia_toolkit *out, struct err *err) must_check;

/* As nvidia_toolkit_read, from the configuration that a runtime of NVIDIA reads; a path or a name.
 */
int nvidia_toolkit_read_of(const char *runtime, struct nvidia_toolkit *out,
                           struct err *err) must_check;

/*
 * Finds the program that the toolkit calls: the first that exists. `found` is false if none does,
 * and the program is the first of the list.
 */
void nvidia_toolkit_calls(const struct nvidia_toolkit *toolkit, struct runtime_program *out);

/* Returns true if a CDI specification of the toolkit's device kind is in one of its directories. */
bool nvidia_toolkit_has_spec(const struct nvidia_toolkit *toolkit);

/* Frees the texts. */
void nvidia_toolkit_free(struct nvidia_toolkit *toolkit);

#define _cleanup_nvidia_toolkit_ _cleanup_(nvidia_toolkit_free)

#endif
