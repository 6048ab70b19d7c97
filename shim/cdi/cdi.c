#include "shim/cdi/cdi.h"

#include <string.h>

/* ---- one specification ---- */

static const char *copy_text(const struct json *value, struct arena *arena)
{
    const char *text = json_text(value);

    return text ? arena_strndup(arena, text, strlen(text)) : NULL;
}

static bool says_read_only(const struct json *options)
{
    bool read_only = false;

    for (size_t i = 0; i < json_count(options); i++) {
        const char *text = json_text(json_at(options, i));
        if (text && (strcmp(text, "ro") == 0 || strcmp(text, "rw") == 0))
            read_only = text[1] == 'o';
    }
    return read_only;
}

static int add_mount(struct cdi *cdi, const struct json *mount, struct arena *arena,
                     struct err *err)
{
    if (!json_text(json_get(mount, "hostPath")) || !json_text(json_get(mount, "containerPath")))
        return 0;
    struct cdi_mount m = {.source = copy_text(json_get(mount, "hostPath"), arena),
                          .target = copy_text(json_get(mount, "containerPath"), arena),
                          .writable = !says_read_only(json_get(mount, "options"))};
    cdi->mounts = arena_extend(arena, cdi->mounts, cdi->mount_count, sizeof(*cdi->mounts));
    if (!m.source || !m.target || !cdi->mounts)
        return err_nomem(err);
    cdi->mounts[cdi->mount_count++] = m;
    return 0;
}

static int add_hook(struct cdi *cdi, const struct json *hook, struct arena *arena, struct err *err)
{
    const struct json *args = json_get(hook, "args");

    if (!json_text(json_get(hook, "path")) || !json_text(json_get(hook, "hookName")))
        return 0;
    struct cdi_hook h = {.stage = copy_text(json_get(hook, "hookName"), arena),
                         .path = copy_text(json_get(hook, "path"), arena),
                         .args = arena_alloc(arena, (json_count(args) + 1) * sizeof(*h.args))};
    cdi->hooks = arena_extend(arena, cdi->hooks, cdi->hook_count, sizeof(*cdi->hooks));
    if (!h.stage || !h.path || !h.args || !cdi->hooks)
        return err_nomem(err);
    for (size_t i = 0; i < json_count(args); i++) {
        if (!json_text(json_at(args, i)))
            return 0;
        h.args[h.arg_count] = copy_text(json_at(args, i), arena);
        if (!h.args[h.arg_count++])
            return err_nomem(err);
    }
    cdi->hooks[cdi->hook_count++] = h;
    return 0;
}

static int add_edits(struct cdi *cdi, const struct json *edits, struct arena *arena,
                     struct err *err)
{
    const struct json *mounts = json_get(edits, "mounts"), *hooks = json_get(edits, "hooks");

    for (size_t i = 0; i < json_count(mounts); i++)
        if (add_mount(cdi, json_at(mounts, i), arena, err) < 0)
            return -1;
    for (size_t i = 0; i < json_count(hooks); i++)
        if (add_hook(cdi, json_at(hooks, i), arena, err) < 0)
            return -1;
    return 0;
}

int cdi_add(struct cdi *cdi, const struct json *spec, struct arena *arena, struct err *err)
{
    const struct json *devices = json_get(spec, "devices");

    if (!json_text(json_get(spec, "cdiVersion")) || !json_text(json_get(spec, "kind")))
        return 0;
    for (size_t i = 0; i < json_count(devices); i++)
        if (add_edits(cdi, json_get(json_at(devices, i), "containerEdits"), arena, err) < 0)
            return -1;
    return add_edits(cdi, json_get(spec, "containerEdits"), arena, err);
}

/* ---- looking ---- */

const struct cdi_mount *cdi_find_mount(const struct cdi *cdi, const char *source,
                                       const char *target)
{
    for (size_t i = 0; i < cdi->mount_count; i++)
        if (strcmp(cdi->mounts[i].source, source) == 0 &&
            strcmp(cdi->mounts[i].target, target) == 0)
            return &cdi->mounts[i];
    return NULL;
}

static bool same_args(const struct cdi_hook *hook, const struct json *args)
{
    if (json_count(args) != hook->arg_count)
        return false;
    for (size_t i = 0; i < hook->arg_count; i++) {
        const char *text = json_text(json_at(args, i));
        if (!text || strcmp(text, hook->args[i]) != 0)
            return false;
    }
    return true;
}

bool cdi_has_hook(const struct cdi *cdi, const char *stage, const char *path,
                  const struct json *args)
{
    for (size_t i = 0; i < cdi->hook_count; i++)
        if (strcmp(cdi->hooks[i].stage, stage) == 0 && strcmp(cdi->hooks[i].path, path) == 0 &&
            same_args(&cdi->hooks[i], args))
            return true;
    return false;
}
