#include "shim/admin/explain/gpus.h"

#include "base/fdio.h"
#include "shim/gather/security/security_devices.h"
#include "shim/oci/device.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>

enum { NVIDIA_MAJOR = 195, MODESET_MINOR = 254, INFORMATION_BYTES = 64 * 1024 };

static int push(struct gpus *out, const struct buf *text, struct arena *arena, struct err *err)
{
    out->list = arena_extend(arena, out->list, out->count, sizeof(*out->list));
    if (!out->list || text->failed)
        return err_nomem(err);
    out->list[out->count] = arena_strndup(arena, text->data, text->len);
    return out->list[out->count++] ? 0 : err_nomem(err);
}

/* ---- models ---- */

/* Returns the value behind "NAME:" in the driver's information, NULL if it has no such line. */
static const char *field(const char *information, const char *name, size_t *len)
{
    for (const char *line = information; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':') {
            line += strlen(name) + 1;
            line += strspn(line, " \t");
            *len = strcspn(line, "\n");
            return line;
        }
    }
    return NULL;
}

static bool has_minor(const char *information, int64_t minor)
{
    size_t len;
    const char *value = field(information, "Device Minor", &len);

    return value && len && strtol(value, NULL, 10) == minor;
}

/* Appends the model of the GPU with that minor number, if the driver says it. */
static void put_model(const char *driver, int64_t minor, struct buf *out)
{
    DIR *dir = opendir(driver);
    const struct dirent *entry;
    bool found = false;

    while (dir && !found && (entry = readdir(dir)) != NULL) {
        _cleanup_free_ char *path = strf("%s/information", entry->d_name);
        _cleanup_buf_ struct buf text = BUF_INIT;
        struct err ignored;
        size_t len;
        if (entry->d_name[0] == '.' || !path ||
            file_read(dirfd(dir), path, INFORMATION_BYTES, &text, &ignored) < 0 || !text.data ||
            !has_minor(text.data, minor))
            continue;
        const char *model = field(text.data, "Model", &len);
        found = true;
        if (model && len)
            buf_printf(out, " (%.*s)", (int)len, model);
    }
    if (dir)
        closedir(dir);
}

/* ---- devices ---- */

static bool is_character(const struct json *device)
{
    const char *type = json_text(json_get(device, "type"));

    return type && (strcmp(type, "c") == 0 || strcmp(type, "u") == 0);
}

static bool is_gpu(const struct json *device)
{
    int64_t minor = device_part(device, "minor");

    return is_character(device) && device_part(device, "major") == NVIDIA_MAJOR && minor >= 0 &&
           minor < MODESET_MINOR;
}

static bool is_mig(const struct json *device)
{
    static const char directory[] = "/dev/nvidia-caps/";
    const char *path = json_text(json_get(device, "path"));

    return is_character(device) && path && strncmp(path, directory, sizeof(directory) - 1) == 0;
}

static int add_nodes(const struct spec *spec, const char *driver, struct arena *arena,
                     struct gpus *out, struct err *err)
{
    const struct json *list = device_nodes(spec);

    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *device = json_at(list, i);
        const char *path = json_text(json_get(device, "path"));
        _cleanup_buf_ struct buf text = BUF_INIT;
        if (!is_gpu(device) && !is_mig(device))
            continue;
        buf_puts(&text, path ? path : "a device without a path");
        if (is_gpu(device))
            put_model(driver, device_part(device, "minor"), &text);
        else
            buf_puts(&text, " (MIG)");
        if (push(out, &text, arena, err) < 0)
            return -1;
    }
    return 0;
}

/* Returns true if linux.devices has the node of a rule for one GPU. */
static bool has_node(const struct spec *spec, const struct json *rule)
{
    const struct json *list = device_nodes(spec);

    for (size_t i = 0; i < json_count(list); i++)
        if (is_gpu(json_at(list, i)) &&
            device_part(json_at(list, i), "minor") == device_part(rule, "minor"))
            return true;
    return false;
}

/* Adds the GPUs that only a rule of the cgroup names: a node of the image is enough to use them. */
static int add_rules(const struct spec *spec, struct arena *arena, struct gpus *out,
                     struct err *err)
{
    const struct json *rules = device_rules(spec);

    for (size_t i = 0; i < json_count(rules); i++) {
        const struct json *rule = json_at(rules, i);
        int64_t minor = device_part(rule, "minor");
        _cleanup_buf_ struct buf text = BUF_INIT;
        if (!device_rule_allows(rule) || !is_character(rule) ||
            device_part(rule, "major") != NVIDIA_MAJOR || minor >= MODESET_MINOR ||
            (minor >= 0 && has_node(spec, rule)))
            continue;
        if (minor < 0)
            buf_puts(&text, "all, by a device rule for 195:*");
        else
            buf_printf(&text, "195:%lld, by a device rule", (long long)minor);
        if (push(out, &text, arena, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- the hook of the mode "legacy" ---- */

static bool has_legacy_hook(const struct spec *spec)
{
    const struct json *hooks = json_path(spec->root, "hooks", "prestart", NULL);

    for (size_t i = 0; i < json_count(hooks); i++) {
        const char *path = json_text(json_get(json_at(hooks, i), "path"));
        if (path && strstr(path, "nvidia-container-runtime-hook"))
            return true;
    }
    return false;
}

static int add_legacy(const struct spec *spec, struct arena *arena, struct gpus *out,
                      struct err *err)
{
    const char *asked = spec_env(spec, "NVIDIA_VISIBLE_DEVICES");
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (!has_legacy_hook(spec) || !asked || !*asked || strcmp(asked, "void") == 0 ||
        strcmp(asked, "none") == 0)
        return 0;
    buf_printf(&text, "those that a hook adds for NVIDIA_VISIBLE_DEVICES=%.200s", asked);
    return push(out, &text, arena, err);
}

int gpus_find(const struct spec *spec, const char *driver, struct arena *arena, struct gpus *out,
              struct err *err)
{
    _cleanup_buf_ struct buf all = BUF_INIT;

    *out = (struct gpus){0};
    if (security_all_devices(spec)) {
        buf_puts(&all, "all devices of this host");
        return push(out, &all, arena, err);
    }
    return add_nodes(spec, driver, arena, out, err) < 0 || add_rules(spec, arena, out, err) < 0
               ? -1
               : add_legacy(spec, arena, out, err);
}
