/* Installs on a host with GPUs: the order is engine, NVIDIA's runtime, flatbed-runtime, runc. */
#include "shim/admin/install/install_host.h"

#include "base/cli/log.h"
#include "shim/admin/engine/nvidia_toolkit.h"
#include "shim/policy/read/policy_read.h"

#include <string.h>

/* Finds the program that a runtime of NVIDIA calls. */
static int find_called(const struct engine_runtime *runtime, struct runtime_program *out,
                       struct err *err)
{
    _cleanup_nvidia_toolkit_ struct nvidia_toolkit toolkit = {0};

    if (nvidia_toolkit_read_of(runtime->path, &toolkit, err) < 0)
        return -1;
    nvidia_toolkit_calls(&toolkit, out);
    return 0;
}

static bool is_flatbed(const struct runtime_program *program)
{
    return program->found && program->kind == RUNTIME_FLATBED;
}

int install_keep_gpus(const struct engine_runtimes *runtimes, const char *engine,
                      struct install *in, struct err *err)
{
    const struct engine_runtime *now =
        in->make_default ? engine_runtimes_nvidia_default(runtimes, engine) : NULL;
    struct runtime_program called;

    if (!now)
        return 0;
    if (find_called(now, &called, err) < 0)
        return -1;
    if (!is_flatbed(&called))
        return err_set(err, ERR_UNSUPPORTED,
                       "the default runtime is '%s', NVIDIA's, without which containers get no "
                       "GPU; run 'flatbed install nvidia', which makes it call flatbed-runtime, "
                       "then this command again",
                       now->name);
    in->make_default = false;
    return 0;
}

void install_say_gpus(const struct engine_runtimes *runtimes, const char *engine)
{
    struct runtime_program called;
    struct err err = ERR_INIT;

    for (size_t i = 0; i < runtimes->count; i++) {
        const struct engine_runtime *r = &runtimes->list[i];
        if (strcmp(r->engine, engine) != 0 || !engine_runtime_is_nvidia(r))
            continue;
        if (find_called(r, &called, &err) < 0)
            log_warning("%s", err.msg);
        else if (!is_flatbed(&called))
            log_warning("containers of the runtime '%s' start without the policy: NVIDIA's runtime "
                        "calls %s; run 'flatbed install nvidia'",
                        r->name, called.path);
        else
            log_info("%s '%s': NVIDIA's runtime provides the GPUs, then calls %s",
                     r->is_default ? "the default stays" : "for GPUs there is", r->name,
                     called.path);
    }
}

/* ---- NVIDIA's toolkit ---- */

int install_check_nvidia(const struct config_file *file, struct install *in, struct err *err)
{
    _cleanup_policy_ struct policy *policy = policy_new(err);
    struct err ignored;

    (void)in;
    if (!policy)
        return -1;
    if (file->fd < 0)
        return err_set(err, ERR_SYSTEM,
                       "there is no such file; install NVIDIA's container toolkit, or write it by "
                       "'nvidia-ctk config --output=%s'",
                       file->path);
    if (policy_open(policy, NULL, &ignored) < 0)
        log_warning("%s", ignored.msg); /* the runtimes before the error are known */
    for (size_t i = 0; i < policy->runtime_paths.count; i++) {
        struct runtime_program program;
        _cleanup_buf_ struct buf place = BUF_INIT;
        runtime_program_find(policy->runtime_paths.items[i], &program);
        if (program.kind != RUNTIME_NVIDIA)
            continue;
        policy_place_print(&policy->runtime_paths.place, &place);
        return err_set(err, ERR_POLICY,
                       "%s: runtime.paths has %s: the two would call each other without end; have "
                       "runc there instead, then run this command again",
                       place.data ? place.data : policy_default_path,
                       policy->runtime_paths.items[i]);
    }
    return 0;
}

static void say_spec(const struct nvidia_toolkit *toolkit)
{
    _cleanup_buf_ struct buf dirs = BUF_INIT;

    if (nvidia_toolkit_has_spec(toolkit))
        return;
    for (size_t i = 0; i < toolkit->spec_dirs.count; i++)
        buf_printf(&dirs, "%s%s", i ? ", " : "", toolkit->spec_dirs.items[i]);
    log_warning("there is no CDI specification of %s (%s): containers that ask for a GPU do not "
                "start",
                toolkit->device_kind, dirs.data ? dirs.data : "no directory is configured");
    log_info("next: nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml");
}

void install_say_nvidia(const struct config_file *file, const struct install_command *c)
{
    _cleanup_nvidia_toolkit_ struct nvidia_toolkit toolkit = {0};
    _cleanup_engine_runtimes_ struct engine_runtimes runtimes = {0};
    struct err err = ERR_INIT;
    bool used = false;

    (void)c;
    if (nvidia_toolkit_read(file->path, &toolkit, &err) < 0 ||
        engine_runtimes_read(&runtimes, &err) < 0) {
        log_warning("%s", err.msg);
        return;
    }
    say_spec(&toolkit);
    for (size_t i = 0; i < runtimes.count; i++)
        used = used || engine_runtime_is_nvidia(&runtimes.list[i]);
    if (!used)
        log_info("next: nvidia-ctk runtime configure --runtime=docker --set-as-default && "
                 "systemctl restart docker");
}
