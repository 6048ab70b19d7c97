/* containerd's config.toml, and podman's containers.conf. */
#include "shim/admin/install/install.h"

#include "shim/admin/engine/toml.h"
#include "shim/admin/install/toml_edit.h"

#include <string.h>

enum { MOST_SETS = 8 };

static const char *quote(const char *text, struct arena *arena)
{
    _cleanup_buf_ struct buf out = BUF_INIT;

    buf_putc(&out, '"');
    for (; *text; text++)
        buf_printf(&out, strchr("\"\\", *text) ? "\\%c" : "%c", *text);
    buf_putc(&out, '"');
    return out.failed ? NULL : arena_strndup(arena, out.data, out.len);
}

static bool value_is(const struct toml *toml, const char *const *path, size_t depth,
                     const char *value)
{
    const struct toml_item *item = toml_find(toml, path, depth);

    return item && item->kind == TOML_KEY && item->value_end - item->value_start == strlen(value) &&
           memcmp(toml->text + item->value_start, value, strlen(value)) == 0;
}

/* Returns true if an earlier install made the runtime the default, which stays. */
static bool is_default(const struct buf *before, const char *const *path, size_t depth,
                       const char *name)
{
    _cleanup_arena_ struct arena arena = {.limit = 64u * 1024 * 1024};
    struct toml toml;
    struct err ignored;

    return before->len && toml_scan(before->data, before->len, &arena, &toml, &ignored) == 0 &&
           value_is(&toml, path, depth, name);
}

/* ---- containerd ---- */

/*
 * Returns the ID of the plugin that has the runtimes (containerd/docs/cri/config.md); NULL with an
 * error. *empty: an empty configuration gets a version.
 */
static const char *find_plugin(const struct toml *toml, bool *empty, struct err *err)
{
    const char *const version[] = {"version"};

    *empty = toml->count == 0;
    if (*empty || value_is(toml, version, 1, "2"))
        return "io.containerd.grpc.v1.cri";
    if (value_is(toml, version, 1, "3"))
        return "io.containerd.cri.v1.runtime";
    err_set(err, ERR_UNSUPPORTED,
            "not of version 2 or 3 (a file without \"version\" is of version 1); "
            "'containerd config migrate' prints it in a newer one");
    return NULL;
}

int install_containerd(const struct install *in, const struct buf *before, struct buf *after,
                       struct err *err)
{
    _cleanup_arena_ struct arena arena = {.limit = 64u * 1024 * 1024};
    _cleanup_buf_ struct buf bare = BUF_INIT;
    struct toml_set sets[MOST_SETS];
    struct toml toml;
    size_t count = 0;
    bool empty;

    /* the file without our edits */
    if (toml_edit(before, NULL, 0, &bare, err) < 0 ||
        toml_scan(bare.data ? bare.data : "", bare.len, &arena, &toml, err) < 0)
        return -1;
    const char *plugin = find_plugin(&toml, &empty, err);
    const char *path = quote(in->runtime, &arena), *name = quote(in->name, &arena);
    if (!plugin)
        return -1;
    if (!path || !name)
        return err_nomem(err);
    const char *const runtime[] = {"plugins",  plugin,   "containerd",
                                   "runtimes", in->name, "options"};
    const char *const systemd[] = {"plugins", plugin,    "containerd",   "runtimes",
                                   "runc",    "options", "SystemdCgroup"};
    if (empty)
        sets[count++] = (struct toml_set){.key = "version", .value = "2"};
    const char *const fallback[] = {"plugins", plugin, "containerd", "default_runtime_name"};
    if (in->make_default || is_default(before, fallback, 4, name))
        sets[count++] = (struct toml_set){
            .table = runtime, .depth = 3, .key = "default_runtime_name", .value = name};
    sets[count++] = (struct toml_set){.table = runtime,
                                      .depth = 5,
                                      .ours = true,
                                      .key = "runtime_type",
                                      .value = "\"io.containerd.runc.v2\""};
    sets[count++] = (struct toml_set){.table = runtime,
                                      .depth = 5,
                                      .ours = true,
                                      .key = "pod_annotations",
                                      .value = "[\"flatbed.*\"]"};
    sets[count++] = (struct toml_set){
        .table = runtime, .depth = 6, .ours = true, .key = "BinaryName", .value = path};
    if (value_is(&toml, systemd, 7, "true")) /* as for runc, or the kubelet's pods do not start */
        sets[count++] = (struct toml_set){
            .table = runtime, .depth = 6, .ours = true, .key = "SystemdCgroup", .value = "true"};
    return toml_edit(before, sets, count, after, err);
}

/* ---- podman ---- */

int install_podman(const struct install *in, const struct buf *before, struct buf *after,
                   struct err *err)
{
    static const char *const engine[] = {"engine", "runtimes"};
    _cleanup_arena_ struct arena arena = {.limit = 1024 * 1024};
    struct toml_set sets[2];
    size_t count = 0;
    const char *path = quote(in->runtime, &arena), *name = quote(in->name, &arena);
    _cleanup_free_ char *list = path ? strf("[%s]", path) : NULL;

    if (!list || !name)
        return err_nomem(err);
    static const char *const fallback[] = {"engine", "runtime"};
    if (in->make_default || is_default(before, fallback, 2, name))
        sets[count++] =
            (struct toml_set){.table = engine, .depth = 1, .key = "runtime", .value = name};
    sets[count++] = (struct toml_set){.table = engine, .depth = 2, .key = in->name, .value = list};
    return toml_edit(before, sets, count, after, err);
}

/* ---- and back ---- */

int install_toml_undo(const struct install *in, const struct buf *before, const struct buf *backup,
                      struct buf *after, struct err *err)
{
    (void)in;
    if (toml_edit(before, NULL, 0, after, err) < 0)
        return -1;
    /* The newline that an edit adds to the last line is the only change without a mark. */
    if (backup && after->len == backup->len + 1 && after->data[backup->len] == '\n' &&
        (!backup->len || memcmp(after->data, backup->data, backup->len) == 0))
        buf_truncate(after, backup->len);
    return buf_check(after, err);
}
