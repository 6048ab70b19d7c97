#include "shim/admin/engine/engine_runtimes.h"

#include "base/fdio.h"
#include "shim/admin/engine/nvidia_toolkit.h"
#include "shim/admin/engine/runtime_program.h"

#include <fcntl.h>
#include <glob.h>
#include <string.h>

enum { DAEMON_BYTES = 1024 * 1024 };

const char docker_default_path[] = "/etc/docker/daemon.json";
const char containerd_default_path[] = "/etc/containerd/config.toml";

static const char *keep(struct engine_runtimes *r, const char *text)
{
    return arena_strndup(&r->arena, text, strlen(text));
}

static struct engine_runtime *find(struct engine_runtimes *r, const char *engine, const char *name)
{
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->list[i].engine, engine) == 0 && strcmp(r->list[i].name, name) == 0)
            return &r->list[i];
    return NULL;
}

static int add(struct engine_runtimes *r, const char *engine, const char *file, const char *name,
               const char *path, struct err *err)
{
    struct engine_runtime runtime = {
        .engine = engine, .file = keep(r, file), .name = keep(r, name), .path = keep(r, path)};
    struct engine_runtime *old = find(r, engine, name);

    if (!runtime.file || !runtime.name || !runtime.path)
        return err_nomem(err);
    if (old) {
        *old = runtime;
        return 0;
    }
    struct engine_runtime *list = arena_extend(&r->arena, r->list, r->count, sizeof(*list));
    if (!list)
        return err_nomem(err);
    r->list = list;
    list[r->count++] = runtime;
    return 0;
}

static void set_default(struct engine_runtimes *r, const char *engine, const char *name)
{
    for (size_t i = 0; name && i < r->count; i++)
        if (strcmp(r->list[i].engine, engine) == 0)
            r->list[i].is_default = strcmp(r->list[i].name, name) == 0;
}

/* ---- docker ---- */

int engine_runtimes_add_docker(struct engine_runtimes *r, const char *file,
                               const struct json *daemon, struct err *err)
{
    const struct json *runtimes = json_get(daemon, "runtimes");

    if (!json_is(runtimes, JSON_OBJECT))
        return 0;
    for (size_t i = 0; i < runtimes->len; i++) {
        const struct json *entry = runtimes->members[i].value;
        const char *path = json_text(json_get(entry, "path"));
        if (!path) /* a runtime of containerd's shim */
            path = json_text(json_path(entry, "options", "BinaryName", NULL));
        if (path && add(r, "docker", file, runtimes->members[i].key, path, err) < 0)
            return -1;
    }
    set_default(r, "docker", json_text(json_get(daemon, "default-runtime")));
    return 0;
}

/* ---- containerd ---- */

static int add_containerd_file(struct engine_runtimes *r, const struct containerd_file *file,
                               const char **fallback, struct err *err)
{
    const char *const runtimes[] = {"plugins", file->plugin, "containerd", "runtimes"};
    const char *const name[] = {"plugins", file->plugin, "containerd", "default_runtime_name"};

    for (size_t i = 0; i < file->toml.count; i++) {
        const struct toml_item *item = &file->toml.items[i];
        if (item->depth != 7 || !toml_starts_with(item, runtimes, 4) ||
            strcmp(item->path[5], "options") != 0 || strcmp(item->path[6], "BinaryName") != 0)
            continue;
        const char *path = toml_text(&file->toml, item, &r->arena);
        if (path && *path && add(r, "containerd", file->path, item->path[4], path, err) < 0)
            return -1;
    }
    const char *text = toml_text(&file->toml, toml_find(&file->toml, name, 4), &r->arena);
    if (text && *text)
        *fallback = text;
    return 0;
}

int engine_runtimes_add_containerd(struct engine_runtimes *r, const struct containerd_files *files,
                                   struct err *err)
{
    const char *fallback = NULL;

    for (size_t i = 0; i < files->count; i++)
        if (add_containerd_file(r, &files->list[i], &fallback, err) < 0)
            return -1;
    set_default(r, "containerd", fallback);
    return 0;
}

/* ---- podman ---- */

int engine_runtimes_add_podman(struct engine_runtimes *r, const char *file, const struct toml *toml,
                               struct err *err)
{
    static const char *const runtimes[] = {"engine", "runtimes"}, *const name[] = {"engine",
                                                                                   "runtime"};

    for (size_t i = 0; i < toml->count; i++) {
        const struct toml_item *item = &toml->items[i];
        struct toml_texts paths;
        if (item->depth != 3 || !toml_starts_with(item, runtimes, 2) ||
            !toml_texts(toml, item, &r->arena, &paths))
            continue;
        const char *path = paths.count ? paths.items[0] : NULL; /* podman takes the first found */
        for (size_t p = paths.count; p-- > 0;) {
            struct runtime_program program;
            runtime_program_find(paths.items[p], &program);
            path = program.found ? paths.items[p] : path;
        }
        if (path && add(r, "podman", file, item->path[2], path, err) < 0)
            return -1;
    }
    set_default(r, "podman", toml_text(toml, toml_find(toml, name, 2), &r->arena));
    return 0;
}

bool engine_podman_has_default(const char *path)
{
    static const char *const name[] = {"engine", "runtime"};
    _cleanup_arena_ struct arena arena = {.limit = 64u * 1024 * 1024};
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct toml toml;
    struct err ignored;

    return file_read(AT_FDCWD, path, TOML_BYTES, &text, &ignored) == 0 && text.data &&
           toml_scan(text.data, text.len, &arena, &toml, &ignored) == 0 &&
           toml_find(&toml, name, 2);
}

/* ---- CRI-O ---- */

int engine_runtimes_add_crio(struct engine_runtimes *r, const char *file, const struct toml *toml,
                             struct err *err)
{
    static const char *const runtimes[] = {"crio", "runtime", "runtimes"};
    static const char *const name[] = {"crio", "runtime", "default_runtime"};

    for (size_t i = 0; i < toml->count; i++) {
        const struct toml_item *item = &toml->items[i];
        const char *path = item->depth == 5 && toml_starts_with(item, runtimes, 3) &&
                                   strcmp(item->path[4], "runtime_path") == 0
                               ? toml_text(toml, item, &r->arena)
                               : NULL;
        if (path && *path && add(r, "CRI-O", file, item->path[3], path, err) < 0)
            return -1;
    }
    set_default(r, "CRI-O", toml_text(toml, toml_find(toml, name, 3), &r->arena));
    return 0;
}

/* ---- the host ---- */

static int read_docker(struct engine_runtimes *r, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;

    if (file_read(AT_FDCWD, docker_default_path, DAEMON_BYTES, &text, &ignored) < 0 || !text.data)
        return 0;
    _cleanup_json_ struct json_doc *daemon = json_parse(text.data, text.len, NULL, &ignored);
    return daemon ? engine_runtimes_add_docker(r, docker_default_path, json_root(daemon), err) : 0;
}

typedef int add_toml(struct engine_runtimes *r, const char *file, const struct toml *toml,
                     struct err *err);

static int read_toml(struct engine_runtimes *r, const char *path, add_toml *add_file,
                     struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct toml toml;
    struct err ignored;

    if (file_read(AT_FDCWD, path, TOML_BYTES, &text, &ignored) < 0 || !text.data)
        return 0;
    const char *copy = arena_strndup(&r->arena, text.data, text.len);
    if (!copy)
        return err_nomem(err);
    return toml_scan(copy, text.len, &r->arena, &toml, &ignored) < 0
               ? 0
               : add_file(r, path, &toml, err);
}

/* Reads the files of a pattern, by name: later ones override earlier ones. */
static int read_tomls(struct engine_runtimes *r, const char *pattern, add_toml *add_file,
                      struct err *err)
{
    glob_t found = {0};
    int rc = 0;

    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; rc == 0 && i < found.gl_pathc; i++)
            rc = read_toml(r, found.gl_pathv[i], add_file, err);
    globfree(&found);
    return rc;
}

int engine_runtimes_read(struct engine_runtimes *r, struct err *err)
{
    static const struct {
        const char *pattern;
        add_toml *add_file;
    } files_of[] = {
        {"/usr/share/containers/containers.conf", engine_runtimes_add_podman},
        {"/etc/containers/containers.conf", engine_runtimes_add_podman},
        {"/etc/containers/containers.conf.d/*.conf", engine_runtimes_add_podman},
        {"/etc/crio/crio.conf", engine_runtimes_add_crio},
        {"/etc/crio/crio.conf.d/*", engine_runtimes_add_crio},
    };
    _cleanup_containerd_files_ struct containerd_files files = {0};
    struct err ignored;

    if (read_docker(r, err) < 0)
        return -1;
    if (containerd_files_read(containerd_default_path, &files, &ignored) == 0 &&
        engine_runtimes_add_containerd(r, &files, err) < 0)
        return -1;
    for (size_t i = 0; i < sizeof(files_of) / sizeof(*files_of); i++)
        if (read_tomls(r, files_of[i].pattern, files_of[i].add_file, err) < 0)
            return -1;
    return 0;
}

bool engine_runtime_is_nvidia(const struct engine_runtime *runtime)
{
    struct runtime_program program;

    runtime_program_find(runtime->path, &program);
    return program.kind == RUNTIME_NVIDIA;
}

bool engine_runtime_is_flatbed(const struct engine_runtime *runtime)
{
    _cleanup_nvidia_toolkit_ struct nvidia_toolkit toolkit = {0};
    struct runtime_program program;
    struct err ignored;

    runtime_program_find(runtime->path, &program);
    if (program.kind != RUNTIME_NVIDIA ||
        nvidia_toolkit_read_of(runtime->path, &toolkit, &ignored) < 0)
        return program.kind == RUNTIME_FLATBED;
    nvidia_toolkit_calls(&toolkit, &program);
    return program.kind == RUNTIME_FLATBED;
}

const struct engine_runtime *engine_runtimes_nvidia_default(const struct engine_runtimes *r,
                                                            const char *engine)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->list[i].is_default && strcmp(r->list[i].engine, engine) == 0 &&
            engine_runtime_is_nvidia(&r->list[i]))
            return &r->list[i];
    return NULL;
}

void engine_runtimes_free(struct engine_runtimes *r)
{
    arena_free(&r->arena);
    *r = (struct engine_runtimes){0};
}
