#include "shim/admin/engine/engine_stores.h"

#include "base/fdio.h"
#include "base/json/json.h"
#include "shim/admin/engine/engine_runtimes.h"

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

const char *engine_podman_root(struct arena *arena)
{
    static const char *const files[] = {"/etc/containers/storage.conf",
                                        "/usr/share/containers/storage.conf"};
    static const char *const path[] = {"storage", "graphroot"};

    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        const char *root = toml_setting(files[i], path, 2, arena);
        if (root)
            return root;
    }
    return "/var/lib/containers/storage";
}
