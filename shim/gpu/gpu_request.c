#include "shim/gpu/gpu_request.h"

#include <string.h>
#include <strings.h>

const char gpu_variable[] = "NVIDIA_VISIBLE_DEVICES";

static const char mounts[] = "/var/run/nvidia-container-devices/";

struct reader {
    const struct spec *spec;
    struct arena *arena;
    struct gpu_request *out;
    struct err *err;
};

/* ---- one name ---- */

static struct gpu_wish *push_wish(struct reader *r, const char *carrier, bool variable)
{
    struct gpu_request *out = r->out;

    out->list = arena_extend(r->arena, out->list, out->count, sizeof(*out->list));
    if (!out->list) {
        err_nomem(r->err);
        return NULL;
    }
    struct gpu_wish *wish = &out->list[out->count++];
    *wish = (struct gpu_wish){.carrier = carrier, .variable = variable};
    return wish;
}

static int add_name(struct reader *r, const char *text, size_t len, const char *carrier,
                    bool variable)
{
    if (r->out->count == GPU_WISHES) {
        r->out->too_many = true;
        return 0;
    }
    struct gpu_wish *wish = push_wish(r, carrier, variable);
    if (!wish)
        return -1;
    return gpu_name_parse(text, len, r->arena, &wish->name) ? 0 : err_nomem(r->err);
}

/* ---- lists ---- */

/* Sets the bounds of the next item without the blanks around it. Returns false at the end. */
static bool next_item(const char **at, const char **item, size_t *len)
{
    static const char blanks[] = " \t\r\n\v\f";

    for (; **at; *at += **at == ',') {
        *item = *at;
        *at += strcspn(*at, ",");
        const char *end = *at;
        while (*item < end && strchr(blanks, **item))
            (*item)++;
        while (end > *item && strchr(blanks, end[-1]))
            end--;
        *len = (size_t)(end - *item);
        if (*len) {
            *at += **at == ',';
            return true;
        }
    }
    return false;
}

static bool list_has(const char *list, const char *name)
{
    const char *item;
    size_t len;

    while (next_item(&list, &item, &len))
        if (len == strlen(name) && strncasecmp(item, name, len) == 0)
            return true;
    return false;
}

static int add_list(struct reader *r, const char *list, const char *carrier, bool variable)
{
    const char *item;
    size_t len;

    while (next_item(&list, &item, &len))
        if (add_name(r, item, len, carrier, variable) < 0)
            return -1;
    return 0;
}

/* ---- carriers ---- */

static bool is_set(const struct spec *spec, const char *name)
{
    const char *value = spec_env(spec, name);

    return value && *value;
}

static int add_variables(struct reader *r, const char *const *variables)
{
    const char *value = spec_env(r->spec, gpu_variable);

    if (!value && is_set(r->spec, "CUDA_VERSION") && !is_set(r->spec, "NVIDIA_REQUIRE_CUDA"))
        return add_name(r, "all", strlen("all"), "an old CUDA image", true);
    if (value && add_list(r, value, gpu_variable, true) < 0)
        return -1;
    for (; *variables; variables++) {
        value = spec_env(r->spec, *variables);
        if (value && add_list(r, value, *variables, false) < 0)
            return -1;
    }
    return 0;
}

/* Adds "VENDOR/CLASS/NAME" as "VENDOR/CLASS=NAME". */
static int add_cdi_path(struct reader *r, const char *path, const char *carrier)
{
    char *name = arena_strndup(r->arena, path, strlen(path));
    char *slash = name ? strrchr(name, '/') : NULL;

    if (!name)
        return err_nomem(r->err);
    if (slash)
        *slash = '=';
    return add_name(r, name, strlen(name), carrier, false);
}

static int add_mounts(struct reader *r)
{
    for (size_t i = 0; i < r->spec->mount_count; i++) {
        const char *path = r->spec->list[i].destination;
        if (strncmp(path, mounts, strlen(mounts)) != 0)
            continue;
        const char *name = path + strlen(mounts);
        int rc = 0;
        if (strncmp(name, "imex/", strlen("imex/")) == 0)
            r->out->more = path;
        else if (strncmp(name, "cdi/", strlen("cdi/")) == 0)
            rc = add_cdi_path(r, name + strlen("cdi/"), path);
        else
            rc = add_name(r, name, strlen(name), path, false);
        if (rc < 0)
            return -1;
    }
    return 0;
}

static int add_annotations(struct reader *r)
{
    static const char prefix[] = "cdi.k8s.io/";
    const struct json *list = r->spec->annotations;

    for (size_t i = 0; i < json_count(list); i++) {
        const struct json_member *m = &list->members[i];
        const char *value = json_text(m->value);
        if (strncmp(m->key, prefix, strlen(prefix)) == 0 && value &&
            add_list(r, value, m->key, false) < 0)
            return -1;
    }
    return 0;
}

static void find_more(struct reader *r)
{
    static const char *const names[] = {"NVIDIA_MIG_CONFIG_DEVICES", "NVIDIA_MIG_MONITOR_DEVICES",
                                        "NVIDIA_IMEX_CHANNELS"};
    static const char *const switches[] = {"NVIDIA_GDS", "NVIDIA_MOFED", "NVIDIA_GDRCOPY",
                                           "NVIDIA_NVSWITCH"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const char *value = spec_env(r->spec, names[i]);
        if (value && *value && strcmp(value, "void") != 0 && strcmp(value, "none") != 0)
            r->out->more = names[i];
    }
    for (size_t i = 0; i < sizeof(switches) / sizeof(*switches); i++) {
        const char *value = spec_env(r->spec, switches[i]);
        if (value && strcmp(value, "enabled") == 0)
            r->out->more = switches[i];
    }
}

int gpu_request_read(const struct spec *spec, const char *const *variables, struct arena *arena,
                     struct gpu_request *out, struct err *err)
{
    struct reader r = {.spec = spec, .arena = arena, .out = out, .err = err};

    *out = (struct gpu_request){0};
    find_more(&r);
    return add_variables(&r, variables) < 0 || add_mounts(&r) < 0 || add_annotations(&r) < 0 ? -1
                                                                                             : 0;
}

/* ---- the variable ---- */

/* Returns the value if the entry of process.env is of the variable, or NULL. */
static const char *value_of(const struct json *entry)
{
    static const size_t len = sizeof(gpu_variable) - 1;
    const char *text = json_text(entry);

    return text && strncmp(text, gpu_variable, len) == 0 && text[len] == '=' ? text + len + 1
                                                                             : NULL;
}

bool gpu_request_asked_all(const struct spec *spec)
{
    for (size_t i = json_count(spec->env); i > 0; i--) {
        const char *value = value_of(json_at(spec->env, i - 1));
        if (value && strcmp(value, "void") != 0)
            return list_has(value, "all") || list_has(value, "nvidia.com/gpu=all");
    }
    return false;
}

void gpu_request_rewrite(const struct spec *spec, struct json_doc *doc, const char *value)
{
    struct json *env = json_list(doc, spec->process, "env");
    _cleanup_free_ char *text = strf("%s=%s", gpu_variable, value);
    struct json *entry = text ? json_string(doc, text) : NULL;

    for (size_t i = json_count(env); i > 0; i--)
        if (value_of(json_at(env, i - 1)))
            json_remove_at(env, i - 1);
    json_append(doc, env, entry);
}
