#include "shim/admin/engine/nvidia_toolkit.h"

#include "base/fdio.h"
#include "base/path.h"
#include "shim/host/trust.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>

enum { CONFIG_BYTES = 1024 * 1024, SPEC_BYTES = 16 * 1024 * 1024, ARENA_BYTES = 64 * 1024 * 1024 };

const char nvidia_toolkit_default_path[] = "/etc/nvidia-container-runtime/config.toml";

char *nvidia_toolkit_path(const char *runtime)
{
    const char *name;
    _cleanup_free_ char *dir = path_parent(runtime, &name);
    _cleanup_free_ char *own =
        dir ? strf("%s/.config/nvidia-container-runtime/config.toml", dir) : NULL;

    if (!own)
        return NULL;
    return dir[0] == '/' && access(own, F_OK) == 0 ? steal_ptr(&own)
                                                   : strdup(nvidia_toolkit_default_path);
}

/* ---- the configuration ---- */

#define RUNTIME "nvidia-container-runtime"

static const struct toml_item *find(const struct toml *toml, const char *const path[4])
{
    size_t depth = 0;

    while (depth < 4 && path[depth])
        depth++;
    return toml_find(toml, path, depth);
}

/* Fails for a table that is written inline, whose keys the scanner does not list. */
static int check_tables(const struct toml *toml, struct err *err)
{
    static const char *const tables[][4] = {{RUNTIME},
                                            {RUNTIME, "modes"},
                                            {RUNTIME, "modes", "cdi"},
                                            {"nvidia-container-runtime-hook"}};

    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
        const struct toml_item *item = find(toml, tables[i]);
        if (item && item->kind != TOML_TABLE)
            return err_set(err, ERR_UNSUPPORTED, "line %zu: '%s' is not a table with a header",
                           toml_line(toml, item->start), item->path[item->depth - 1]);
    }
    return 0;
}

static int read_text(struct nvidia_toolkit *t, const struct toml *toml, const char *const path[4],
                     const char **out, struct err *err)
{
    const struct toml_item *item = find(toml, path);

    if (!item)
        return 0;
    *out = toml_text(toml, item, &t->arena);
    return *out ? 0
                : err_set(err, ERR_UNSUPPORTED, "line %zu: '%s' is not a plain text",
                          toml_line(toml, item->start), item->path[item->depth - 1]);
}

static int read_texts(struct nvidia_toolkit *t, const struct toml *toml, const char *const path[4],
                      struct toml_texts *out, struct err *err)
{
    const struct toml_item *item = find(toml, path);

    if (!item || toml_texts(toml, item, &t->arena, out))
        return 0;
    return err_set(err, ERR_UNSUPPORTED, "line %zu: '%s' is not a list of plain texts",
                   toml_line(toml, item->start), item->path[item->depth - 1]);
}

int nvidia_toolkit_parse(const char *path, const char *text, size_t len, struct nvidia_toolkit *out,
                         struct err *err)
{
    static const char *default_runtimes[] = {"docker-runc", "runc", "crun"};
    static const char *default_dirs[] = {"/etc/cdi", "/var/run/cdi"};
    static const char *const mode[4] = {RUNTIME, "mode"}, *const runtimes[4] = {RUNTIME,
                                                                                "runtimes"};
    static const char *const kind[4] = {RUNTIME, "modes", "cdi", "default-kind"};
    static const char *const dirs[4] = {RUNTIME, "modes", "cdi", "spec-dirs"};
    static const char *const skip[4] = {"nvidia-container-runtime-hook", "skip-mode-detection"};
    struct toml toml;

    *out = (struct nvidia_toolkit){.arena = {.limit = ARENA_BYTES},
                                   .exists = text != NULL,
                                   .mode = "auto",
                                   .runtimes = {default_runtimes, 3},
                                   .device_kind = "nvidia.com/gpu",
                                   .spec_dirs = {default_dirs, 2}};
    out->path = arena_strndup(&out->arena, path, strlen(path));
    const char *copy = arena_strndup(&out->arena, text ? text : "", text ? len : 0);
    if (!out->path || !copy)
        return err_nomem(err);
    if (toml_scan(copy, text ? len : 0, &out->arena, &toml, err) < 0 ||
        check_tables(&toml, err) < 0 || read_text(out, &toml, mode, &out->mode, err) < 0 ||
        read_texts(out, &toml, runtimes, &out->runtimes, err) < 0 ||
        read_text(out, &toml, kind, &out->device_kind, err) < 0 ||
        read_texts(out, &toml, dirs, &out->spec_dirs, err) < 0)
        return -1;
    out->hook_in_all_modes = toml_true(&toml, find(&toml, skip));
    return 0;
}

int nvidia_toolkit_read(const char *path, struct nvidia_toolkit *out, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    *out = (struct nvidia_toolkit){0};
    if (file_read(AT_FDCWD, path, CONFIG_BYTES, &text, err) < 0) {
        if (err->kind != ERR_SYSTEM || err->sys != ENOENT)
            return -1;
        return nvidia_toolkit_parse(path, NULL, 0, out, err);
    }
    if (nvidia_toolkit_parse(path, text.data ? text.data : "", text.len, out, err) < 0)
        return err_wrap(err, "%s", path);
    struct stat st;
    out->distrusted = stat(path, &st) == 0 && !trust_closed(&st);
    return 0;
}

int nvidia_toolkit_read_of(const char *runtime, struct nvidia_toolkit *out, struct err *err)
{
    struct runtime_program program;

    runtime_program_find(runtime, &program);
    _cleanup_free_ char *path = nvidia_toolkit_path(program.path);
    *out = (struct nvidia_toolkit){0};
    return path ? nvidia_toolkit_read(path, out, err) : err_nomem(err);
}

void nvidia_toolkit_calls(const struct nvidia_toolkit *toolkit, struct runtime_program *out)
{
    for (size_t i = 0; i < toolkit->runtimes.count; i++) {
        runtime_program_find(toolkit->runtimes.items[i], out);
        if (out->found)
            return;
    }
    runtime_program_find(toolkit->runtimes.count ? toolkit->runtimes.items[0] : "", out);
}

/* ---- CDI specifications ---- */

static bool is_spec(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".json") == 0);
}

/* Returns true if a specification in the directory names the kind; the files are not parsed. */
static bool directory_has_spec(const char *path, const char *kind)
{
    DIR *dir = opendir(path);
    bool found = false;

    for (struct dirent *entry; dir && !found && (entry = readdir(dir));) {
        _cleanup_buf_ struct buf text = BUF_INIT;
        struct err ignored;
        found = is_spec(entry->d_name) &&
                file_read(dirfd(dir), entry->d_name, SPEC_BYTES, &text, &ignored) == 0 &&
                text.data && strstr(text.data, kind);
    }
    if (dir)
        closedir(dir);
    return found;
}

bool nvidia_toolkit_has_spec(const struct nvidia_toolkit *toolkit)
{
    for (size_t i = 0; i < toolkit->spec_dirs.count; i++)
        if (directory_has_spec(toolkit->spec_dirs.items[i], toolkit->device_kind))
            return true;
    return false;
}

void nvidia_toolkit_free(struct nvidia_toolkit *toolkit)
{
    arena_free(&toolkit->arena);
    *toolkit = (struct nvidia_toolkit){0};
}
