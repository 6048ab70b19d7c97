#include "shim/admin/engine/engine_stores.h"

#include "base/fdio.h"
#include "base/json/json.h"
#include "shim/admin/engine/engine_runtimes.h"
#include "shim/host/trust.h"
#include "shim/mount/source_wait.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>

enum { CONFIG_BYTES = 1024 * 1024 };

/* Returns a text of a JSON file's object, kept in the arena, or NULL. */
static const char *json_setting(const char *file, const char *key, struct arena *arena)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    static const struct json_options options = {.max_bytes = CONFIG_BYTES};
    struct err ignored;

    if (file_read(AT_FDCWD, file, CONFIG_BYTES, &text, &ignored) < 0)
        return NULL;
    _cleanup_json_ struct json_doc *doc = json_parse_buf(&text, &options, &ignored);
    const char *found = doc ? json_text(json_get(json_root(doc), key)) : NULL;
    return found ? arena_strndup(arena, found, strlen(found)) : NULL;
}

/* The same of a TOML file. */
static const char *toml_setting(const char *file, const char *const *path, size_t depth,
                                struct arena *arena)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;
    struct toml toml;

    if (file_read(AT_FDCWD, file, CONFIG_BYTES, &text, &ignored) < 0 || !text.data ||
        toml_scan(text.data, text.len, arena, &toml, &ignored) < 0)
        return NULL;
    return toml_text(&toml, toml_find(&toml, path, depth), arena);
}

const char *engine_docker_root(struct arena *arena)
{
    const char *root = json_setting(docker_default_path, "data-root", arena);

    return root ? root : "/var/lib/docker";
}

const char *engine_containerd_root(struct arena *arena)
{
    static const char *const path[] = {"root"};
    const char *root = toml_setting(containerd_default_path, path, 1, arena);

    return root ? root : "/var/lib/containerd";
}

const char *const *engine_containerd_sockets(struct arena *arena)
{
    static const char *const path[] = {"grpc", "address"};
    const char *own = toml_setting(containerd_default_path, path, 2, arena);
    const char *dockers = json_setting(docker_default_path, "containerd", arena);
    const char *exec = json_setting(docker_default_path, "exec-root", arena);
    const char **list = arena_alloc(arena, 4 * sizeof(*list));
    size_t count = 0;

    if (!list)
        return NULL;
    list[count++] = own ? own : "/run/containerd/containerd.sock";
    if (dockers)
        list[count++] = dockers;
    /* Docker starts one if the system has none. */
    list[count] = arena_printf(arena, "%s/containerd/containerd.sock", exec ? exec : "/run/docker");
    if (!list[count++])
        return NULL;
    list[count] = NULL;
    return list;
}

/* Returns a setting of storage.conf(5), or NULL. */
static const char *storage_setting(const char *key, struct arena *arena)
{
    static const char *const files[] = {"/etc/containers/storage.conf",
                                        "/usr/share/containers/storage.conf"};
    const char *const path[] = {"storage", key};
    const char *found = NULL;

    for (size_t i = 0; !found && i < sizeof(files) / sizeof(*files); i++)
        found = toml_setting(files[i], path, 2, arena);
    return found;
}

const char *engine_podman_root(struct arena *arena)
{
    const char *root = storage_setting("graphroot", arena);

    return root ? root : "/var/lib/containers/storage";
}

const char *engine_podman_users_root(struct arena *arena)
{
    const char *root = storage_setting("rootless_storage_path", arena);

    return root && root[0] ? root : NULL;
}

/* Returns true for UID.GID. */
static bool names_remapped(const char *name)
{
    static const char digits[] = "0123456789";
    size_t uid = strspn(name, digits);
    size_t gid = name[uid] == '.' ? strspn(name + uid + 1, digits) : 0;

    return uid && gid && !name[uid + 1 + gid];
}

static int visit_below(const char *root, const char *name, engine_visit_store *visit, void *ctx,
                       struct err *err)
{
    _cleanup_free_ char *path = strf("%s/%s", root, name);

    return path ? visit(ctx, path, err) : err_nomem(err);
}

static int visit_remapped(const char *root, engine_visit_store *visit, void *ctx, struct err *err)
{
    DIR *dir = source_answers(root, ENGINE_STORE_WAIT) ? opendir(root) : NULL;
    const struct dirent *e;
    int rc = 0;

    while (dir && rc == 0 && (e = readdir(dir)))
        if (names_remapped(e->d_name))
            rc = visit_below(root, e->d_name, visit, ctx, err);
    if (dir)
        closedir(dir);
    return rc;
}

int engine_each_store(engine_visit_store *visit, void *ctx, struct err *err)
{
    _cleanup_arena_ struct arena arena = {0};
    const char *home = getenv("HOME"), *docker = engine_docker_root(&arena);

    if (!trust_rootless())
        return visit(ctx, docker, err) < 0 || visit_remapped(docker, visit, ctx, err) < 0
                   ? -1
                   : visit(ctx, engine_podman_root(&arena), err);
    if (!home || home[0] != '/')
        return 0;
    return visit_below(home, ".local/share/docker", visit, ctx, err) < 0
               ? -1
               : visit_below(home, ".local/share/containers/storage", visit, ctx, err);
}
