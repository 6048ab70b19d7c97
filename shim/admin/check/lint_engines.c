/* Reads what the engines of this host are configured to do, and adds findings about it. */
#include "shim/admin/check/lint.h"

#include "base/fdio.h"
#include "shim/admin/check/lint_nvidia.h"
#include "shim/oci/lowlevel.h"

#include <fcntl.h>
#include <glob.h>
#include <string.h>

enum { HOOK_BYTES = 1024 * 1024 };

static void list_lowlevel(const struct policy *policy, struct nvidia_host *host)
{
    const struct policy_list *paths = &policy->runtime_paths;
    const char *const *names = paths->given ? paths->items : lowlevel_defaults;
    size_t count = paths->given ? paths->count : LOWLEVEL_DEFAULTS;

    host->paths = paths->given ? &paths->place : NULL;
    for (size_t i = 0; i < count && host->lowlevel_count < NVIDIA_HOST_MOST; i++) {
        struct runtime_program *program = &host->lowlevel[host->lowlevel_count];
        runtime_program_find(names[i], program);
        if (program->kind != RUNTIME_FLATBED) /* flatbed-runtime skips itself */
            host->lowlevel_count++;
    }
}

/* Adds that a configuration cannot be read, once. */
static void add_unread(const char *path, const struct err *err, struct findings *out)
{
    size_t len = strlen(path); /* the error begins with it */
    const char *why =
        strncmp(err->msg, path, len) == 0 && err->msg[len] == ':' ? err->msg + len + 2 : err->msg;

    for (size_t i = 0; i < out->count; i++)
        if (strcmp(out->list[i].rule, "nvidia-unread") == 0 && strcmp(out->list[i].file, path) == 0)
            return;
    findings_add_file(out, FINDING_WARNING, "nvidia-unread", path,
                      "%s; which program NVIDIA's runtime calls is not known", why);
}

/*
 * Finds the configuration in the list, or adds it. Returns false if there is no room, or if it
 * cannot be read, which is a finding.
 */
static bool find_view(struct nvidia_host *host, const char *path, size_t *index,
                      struct findings *out)
{
    struct err err = ERR_INIT;

    for (*index = 0; *index < host->view_count; ++*index)
        if (strcmp(host->views[*index].toolkit.path, path) == 0)
            return true;
    if (host->view_count == NVIDIA_HOST_MOST)
        return false;
    struct nvidia_view *view = &host->views[*index];
    if (nvidia_toolkit_read(path, &view->toolkit, &err) < 0) {
        nvidia_toolkit_free(&view->toolkit);
        add_unread(path, &err, out);
        return false;
    }
    const struct toml_texts *names = &view->toolkit.runtimes;
    for (; view->call_count < names->count && view->call_count < NVIDIA_HOST_MOST;
         view->call_count++)
        runtime_program_find(names->items[view->call_count], &view->calls[view->call_count]);
    view->has_spec = nvidia_toolkit_has_spec(&view->toolkit);
    host->view_count++;
    return true;
}

static void list_runtimes(struct nvidia_host *host, const struct engine_runtimes *runtimes,
                          struct findings *out)
{
    for (size_t i = 0; i < runtimes->count && host->runtime_count < NVIDIA_HOST_MOST; i++) {
        struct runtime_program program;
        runtime_program_find(runtimes->list[i].path, &program);
        _cleanup_free_ char *path =
            program.kind == RUNTIME_NVIDIA ? nvidia_toolkit_path(program.path) : NULL;
        size_t view;
        if (!path || !find_view(host, path, &view, out))
            continue;
        host->runtimes[host->runtime_count].runtime = &runtimes->list[i];
        host->runtimes[host->runtime_count].starts_runc = program.starts_runc;
        host->runtimes[host->runtime_count++].view = view;
    }
}

/* ---- containerd's imports ---- */

/* Adds a finding if containerd 1.x ignores a runtime of `file`, because of a later file. */
static void lint_shadow(const struct containerd_file *file, const struct containerd_file *last,
                        struct findings *out)
{
    const char *const runtimes[] = {"plugins", file->plugin, "containerd", "runtimes"};

    for (size_t i = 0; i < file->toml.count; i++) {
        const struct toml_item *item = &file->toml.items[i];
        _cleanup_arena_ struct arena arena = {0};
        if (item->depth != 7 || !toml_starts_with(item, runtimes, 4) ||
            strcmp(item->path[6], "BinaryName") != 0)
            continue;
        const char *path = toml_text(&file->toml, item, &arena);
        const char *const there[] = {"plugins",  last->plugin,  "containerd",
                                     "runtimes", item->path[4], "options"};
        if (!path || runtime_kind_of(path) != RUNTIME_FLATBED || toml_find(&last->toml, there, 6))
            continue;
        findings_add_file(out, FINDING_WARNING, "runtime-shadowed", file->path,
                          "containerd 1.x ignores the runtime '%s' there, because %s replaces the "
                          "section; run 'flatbed install containerd' again",
                          item->path[4], last->path);
    }
}

static void lint_containerd(struct findings *out)
{
    _cleanup_containerd_files_ struct containerd_files files = {0};
    struct err ignored;

    if (containerd_files_read(containerd_default_path, &files, &ignored) < 0)
        return;
    const struct containerd_file *last = containerd_files_last(&files);
    for (size_t i = 0; i < files.count; i++)
        if (&files.list[i] != last)
            lint_shadow(&files.list[i], last, out);
}

/* ---- podman's hooks ---- */

/* Adds a finding for each file by which podman adds NVIDIA's hook to containers. */
static void lint_hooks(const char *pattern, struct findings *out)
{
    glob_t found = {0};

    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++) {
            _cleanup_buf_ struct buf text = BUF_INIT;
            struct err ignored;
            if (file_read(AT_FDCWD, found.gl_pathv[i], HOOK_BYTES, &text, &ignored) < 0 ||
                !text.data || !strstr(text.data, "/nvidia-container-"))
                continue;
            findings_add_file(
                out, FINDING_WARNING, "nvidia-legacy", found.gl_pathv[i],
                "podman adds NVIDIA's hook, which gives containers their GPUs after "
                "the policy has judged; remove the file, and use 'podman run --device "
                "nvidia.com/gpu=0' with a CDI specification");
        }
    globfree(&found);
}

/* ---- the host ---- */

void lint_engines(const struct policy *policy, struct findings *out)
{
    _cleanup_engine_runtimes_ struct engine_runtimes runtimes = {0};
    struct nvidia_host host = {0};
    struct err err;
    size_t first;

    host.views = calloc(NVIDIA_HOST_MOST, sizeof(*host.views));
    if (!host.views || engine_runtimes_read(&runtimes, &err) < 0) {
        free(host.views);
        out->failed = true;
        return;
    }
    list_lowlevel(policy, &host);
    (void)find_view(&host, nvidia_toolkit_default_path, &first, out);
    list_runtimes(&host, &runtimes, out);
    lint_nvidia(&host, policy->mode == POLICY_OFF, out);
    if (policy->mode != POLICY_OFF) {
        lint_containerd(out);
        lint_hooks("/usr/share/containers/oci/hooks.d/*.json", out);
        lint_hooks("/etc/containers/oci/hooks.d/*.json", out);
    }
    for (size_t i = 0; i < host.view_count; i++)
        nvidia_toolkit_free(&host.views[i].toolkit);
    free(host.views);
}
