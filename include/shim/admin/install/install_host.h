/*
 * Parts of the commands install and uninstall that look at the host: install_containerd_files.c
 * edits the files of containerd, install_gpu.c knows the needs of NVIDIA's runtime.
 */
#ifndef SHIM_INSTALL_HOST_H
#define SHIM_INSTALL_HOST_H

#include "shim/admin/engine/engine_runtimes.h"
#include "shim/admin/install/config_file.h"
#include "shim/admin/install/install.h"

struct install_command {
    const char *name, *runtime, *config;
    bool make_default, dry_run;
};

/* ---- install_containerd_files.c ---- */

/*
 * Edits the file in which the runtime takes effect: `path` or one that it imports. If containerd is
 * on this host, it has to agree, else the edit is taken back: ERR_UNSUPPORTED.
 */
int install_containerd_files(const struct install_command *c, struct install *in, const char *path,
                             struct err *err) must_check;
/* Removes the runtime from all files. */
int uninstall_containerd_files(const struct install_command *c, const struct install *in,
                               const char *path, struct err *err) must_check;

/* ---- install_gpu.c ---- */

/*
 * Keeps the default runtime of an engine if it is a runtime of NVIDIA, without which containers get
 * no GPU: in->make_default becomes false. ERR_UNSUPPORTED if it does not call flatbed-runtime.
 */
int install_keep_gpus(const struct engine_runtimes *runtimes, const char *engine,
                      struct install *in, struct err *err) must_check;

/* Says of each runtime of NVIDIA that an engine has whether it calls flatbed-runtime. */
void install_say_gpus(const struct engine_runtimes *runtimes, const char *engine);

/*
 * Checks that NVIDIA's runtime can be made to call flatbed-runtime: its configuration exists, and
 * the policy names no runtime of NVIDIA, which would call flatbed-runtime again. ERR_POLICY, or
 * ERR_SYSTEM.
 */
int install_check_nvidia(const struct config_file *file, struct install *in,
                         struct err *err) must_check;

/* Says what a host still needs whose toolkit has this configuration. */
void install_say_nvidia(const struct config_file *file, const struct install_command *c);

#endif
