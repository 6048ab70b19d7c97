/* containerd's config.toml, podman's containers.conf, and config.toml of NVIDIA's toolkit. */
#include "shim/admin/install/install.h"

#include "shim/admin/engine/containerd_files.h"
#include "shim/admin/engine/nvidia_toolkit.h"
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

/* The texts of a configuration of containerd that are the same for all of its sets. */
struct runtime_table {
    const char *options[6]; /* the path of its options; shorter ones are tables above */
    const char *quoted_path, *quoted_name;
    bool is_default, with_systemd;
};

static size_t list_sets(const struct runtime_table *t, bool empty, struct toml_set sets[MOST_SETS])
{
    static const char type[] = "\"io.containerd.runc.v2\"", annotations[] = "[\"flatbed.*\"]";
    const char *const *table = t->options;
    size_t n = 0;

    if (empty)
        sets[n++] = (struct toml_set){.key = "version", .value = "2"};
    if (t->is_default)
        sets[n++] = (struct toml_set){table, 3, false, "default_runtime_name", t->quoted_name};
    sets[n++] = (struct toml_set){table, 5, true, "runtime_type", type};
    sets[n++] = (struct toml_set){table, 5, true, "pod_annotations", annotations};
    sets[n++] = (struct toml_set){table, 6, true, "BinaryName", t->quoted_path};
    if (t->with_systemd) /* as for runc, or the kubelet's pods do not start */
        sets[n++] = (struct toml_set){table, 6, true, "SystemdCgroup", "true"};
    return n;
}

/* Returns the plugin of a configuration that may have an edit, or NULL with an error. */
static const char *plugin_of(const struct install *in, const struct toml *bare, struct err *err)
{
    return in->plugin ? in->plugin : containerd_plugin(bare, NULL, err);
}

int install_containerd(const struct install *in, const struct buf *before, struct buf *after,
                       struct err *err)
{
    _cleanup_arena_ struct arena arena = {.limit = 64u * 1024 * 1024};
    _cleanup_buf_ struct buf bare = BUF_INIT;
    struct toml_set sets[MOST_SETS];
    struct toml toml;

    /* the file without our edits */
    if (toml_edit(before, NULL, 0, &bare, err) < 0 ||
        toml_scan(bare.data ? bare.data : "", bare.len, &arena, &toml, err) < 0)
        return -1;
    const char *plugin = plugin_of(in, &toml, err);
    if (!plugin)
        return -1;
    const char *const fallback[] = {"plugins", plugin, "containerd", "default_runtime_name"};
    const char *const systemd[] = {"plugins", plugin,    "containerd",   "runtimes",
                                   "runc",    "options", "SystemdCgroup"};
    struct runtime_table table = {
        .options = {"plugins", plugin, "containerd", "runtimes", in->name, "options"},
        .quoted_path = quote(in->runtime, &arena),
        .quoted_name = quote(in->name, &arena),
        .with_systemd = in->systemd_cgroup ? strcmp(in->systemd_cgroup, "true") == 0
                                           : value_is(&toml, systemd, 7, "true"),
    };
    if (!table.quoted_path || !table.quoted_name)
        return err_nomem(err);
    table.is_default = in->make_default || is_default(before, fallback, 4, table.quoted_name);
    return toml_edit(before, sets, list_sets(&table, toml.count == 0, sets), after, err);
}

bool install_containerd_is_default(const struct install *in, const struct buf *text)
{
    _cleanup_arena_ struct arena arena = {.limit = 64u * 1024 * 1024};
    struct toml toml;
    struct err ignored;

    if (!text->len || toml_scan(text->data, text->len, &arena, &toml, &ignored) < 0)
        return false;
    const char *plugin = plugin_of(in, &toml, &ignored), *name = quote(in->name, &arena);
    const char *const fallback[] = {"plugins", plugin, "containerd", "default_runtime_name"};
    return plugin && name && value_is(&toml, fallback, 4, name);
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

/* ---- NVIDIA's toolkit ---- */

int install_nvidia(const struct install *in, const struct buf *before, struct buf *after,
                   struct err *err)
{
    static const char *const table[] = {"nvidia-container-runtime"};
    _cleanup_arena_ struct arena arena = {.limit = 1024 * 1024};
    const char *path = quote(in->runtime, &arena);
    _cleanup_free_ char *list = path ? strf("[%s]", path) : NULL;
    const struct toml_set sets[] = {{table, 1, false, "mode", "\"cdi\""},
                                    {table, 1, false, "runtimes", list}};

    return list ? toml_edit(before, sets, 2, after, err) : err_nomem(err);
}

/* Returns true if a configuration of the toolkit names flatbed-runtime. */
static bool names_flatbed(const struct buf *text)
{
    _cleanup_nvidia_toolkit_ struct nvidia_toolkit toolkit = {0};
    struct err ignored;

    if (nvidia_toolkit_parse("", text->data ? text->data : "", text->len, &toolkit, &ignored) < 0)
        return false;
    for (size_t i = 0; i < toolkit.runtimes.count; i++)
        if (runtime_kind_of(toolkit.runtimes.items[i]) == RUNTIME_FLATBED)
            return true;
    return false;
}

int install_nvidia_undo(const struct install *in, const struct buf *before,
                        const struct buf *backup, struct buf *after, struct err *err)
{
    if (install_toml_undo(in, before, backup, after, err) < 0)
        return -1;
    if (backup && names_flatbed(after) && !names_flatbed(backup))
        return err_set(err, ERR_FORMAT,
                       "'runtimes' has no mark of flatbed install: another program wrote the file "
                       "since; set 'mode' and 'runtimes' by hand, as they are in the backup");
    return 0;
}
