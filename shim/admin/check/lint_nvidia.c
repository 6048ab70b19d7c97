#include "shim/admin/check/lint_nvidia.h"

#include <string.h>

/* Returns the program that is called: the first that exists; NULL if none does. */
static const struct runtime_program *first_found(const struct runtime_program *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].found)
            return &list[i];
    return NULL;
}

/* Returns the first program that is, or is not, flatbed-runtime; NULL if there is none. */
static const struct runtime_program *first_that(const struct nvidia_view *view, bool is_flatbed)
{
    for (size_t i = 0; i < view->call_count; i++)
        if ((view->calls[i].kind == RUNTIME_FLATBED) == is_flatbed)
            return &view->calls[i];
    return NULL;
}

/* ---- flatbed-runtime calls NVIDIA's runtime ---- */

/* Returns flatbed-runtime if a runtime of NVIDIA calls it. */
static const struct runtime_program *called_flatbed(const struct nvidia_host *host)
{
    for (size_t i = 0; i < host->view_count; i++) {
        const struct nvidia_view *view = &host->views[i];
        const struct runtime_program *called = first_found(view->calls, view->call_count);
        if (called && called->kind == RUNTIME_FLATBED)
            return called;
    }
    return NULL;
}

static void lint_order(const struct nvidia_host *host, bool off, struct findings *out)
{
    const struct runtime_program *called = first_found(host->lowlevel, host->lowlevel_count);
    const struct runtime_program *flatbed = called_flatbed(host);

    for (size_t i = 0; i < host->lowlevel_count; i++) {
        const struct runtime_program *low = &host->lowlevel[i];
        if (low->kind != RUNTIME_NVIDIA)
            continue;
        if (flatbed && low == called)
            findings_add(out, FINDING_ERROR, "nvidia-loop", host->paths,
                         "runtime.paths: %s calls %s, which calls it again: no container can "
                         "start; have runc in \"paths\" instead",
                         low->path, flatbed->path);
        else if (!off)
            findings_add(out, FINDING_WARNING, "nvidia-order", host->paths,
                         "runtime.paths: %s adds GPUs after the policy has judged: have runc in "
                         "\"paths\" instead, and run 'flatbed install nvidia', so that it calls "
                         "flatbed-runtime",
                         low->path);
    }
}

/* ---- NVIDIA's runtime calls another program ---- */

static void lint_calls(const struct nvidia_view *view, bool off, struct findings *out)
{
    const struct runtime_program *called = first_found(view->calls, view->call_count);
    const struct runtime_program *flatbed = first_that(view, true);
    const struct runtime_program *other = first_that(view, false);

    if (called && called->kind == RUNTIME_NVIDIA)
        findings_add_file(
            out, FINDING_ERROR, "nvidia-loop", view->toolkit.path,
            "\"runtimes\": NVIDIA's runtime calls %s, which is itself: its containers "
            "cannot start; run 'flatbed install nvidia'",
            called->path);
    if (!called && flatbed)
        findings_add_file(out, FINDING_ERROR, "nvidia-missing", view->toolkit.path,
                          "\"runtimes\": %s is not there, or cannot be executed: containers of "
                          "NVIDIA's runtime cannot start; run 'flatbed install nvidia'",
                          flatbed->path);
    if (!off && called && called->kind == RUNTIME_FLATBED && other)
        findings_add_file(
            out, FINDING_WARNING, "nvidia-falls-through", view->toolkit.path,
            "\"runtimes\" also has %s, and without %s containers start without the "
            "policy; run 'flatbed install nvidia', which leaves flatbed-runtime alone",
            other->path, called->path);
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), n = strlen(end);

    return len >= n && strcmp(text + len - n, end) == 0;
}

static void lint_runtime(const struct nvidia_host *host, size_t index, struct findings *out)
{
    const struct engine_runtime *runtime = host->runtimes[index].runtime;
    const struct nvidia_view *view = &host->views[host->runtimes[index].view];
    const struct runtime_program *called = first_found(view->calls, view->call_count);

    if (called && called->kind == RUNTIME_OTHER)
        findings_add_file(out, FINDING_WARNING, "nvidia-around", runtime->file,
                          "containers of the runtime '%s' start without the policy: NVIDIA's "
                          "runtime calls %s; run 'flatbed install nvidia'",
                          runtime->name, called->path);
    if (host->runtimes[index].starts_runc)
        findings_add_file(out, FINDING_WARNING, "nvidia-falls-through", runtime->file,
                          "the runtime '%s' is the script %s, which starts runc itself while the "
                          "driver is not loaded: make the name runc lead to flatbed-runtime, see "
                          "DIVERTING RUNC in flatbed(8)",
                          runtime->name, runtime->path);
    if (ends_with(runtime->path, ".legacy"))
        findings_add_file(
            out, FINDING_WARNING, "nvidia-legacy", runtime->file,
            "the runtime '%s' is %s, always in the mode legacy: a hook gives "
            "containers their GPUs after the policy has judged; have the program without "
            "\".legacy\" there",
            runtime->name, runtime->path);
}

/* ---- the modes ---- */

static void lint_mode(const struct nvidia_view *view, struct findings *out)
{
    const char *mode = view->toolkit.mode, *path = view->toolkit.path;
    bool is_auto = strcmp(mode, "auto") == 0;

    if (is_auto || strcmp(mode, "legacy") == 0)
        findings_add_file(out, FINDING_WARNING, "nvidia-legacy", path,
                          "\"mode\" is \"%s\"%s: a hook gives containers their GPUs after the "
                          "policy has judged; run 'flatbed install nvidia', which sets it to "
                          "\"cdi\"",
                          mode, is_auto ? ", which is legacy up to version 1.17" : "");
    if (view->toolkit.hook_in_all_modes)
        findings_add_file(out, FINDING_WARNING, "nvidia-legacy", path,
                          "with \"skip-mode-detection\" the hook of 'docker run --gpus' gives "
                          "containers GPUs after the policy has judged; set it to false");
    if (view->toolkit.distrusted)
        findings_add_file(out, FINDING_WARNING, "nvidia-writable", path,
                          "users other than root can write it, and so choose the program that "
                          "NVIDIA's runtime calls; make it owned by root, with mode 0644");
    if (strcmp(mode, "cdi") == 0 && !view->has_spec)
        findings_add_file(
            out, FINDING_WARNING, "nvidia-no-spec", path,
            "\"mode\" is \"cdi\", but there is no CDI specification of %s: containers "
            "that ask for a GPU do not start; run 'nvidia-ctk cdi generate "
            "--output=/etc/cdi/nvidia.yaml'",
            view->toolkit.device_kind);
}

/* Returns true if the toolkit is on the host: it is configured, or an engine has its runtime. */
static bool is_used(const struct nvidia_host *host, size_t view)
{
    for (size_t i = 0; i < host->runtime_count; i++)
        if (host->runtimes[i].view == view)
            return true;
    return host->views[view].toolkit.exists;
}

void lint_nvidia(const struct nvidia_host *host, bool off, struct findings *out)
{
    lint_order(host, off, out);
    for (size_t i = 0; i < host->view_count; i++) {
        if (!is_used(host, i))
            continue;
        lint_calls(&host->views[i], off, out);
        if (!off)
            lint_mode(&host->views[i], out);
    }
    for (size_t i = 0; !off && i < host->runtime_count; i++)
        lint_runtime(host, i, out);
}
