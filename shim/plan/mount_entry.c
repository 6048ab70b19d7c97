#include "shim/plan/mount_entry.h"

#include "base/path.h"
#include "shim/mount/overlay.h"
#include "shim/mount/pin.h"

#include <string.h>

/* ---- making it ---- */

static bool policy_says(const struct plan_mount *m, const char *option)
{
    const struct policy_list *options = &m->volume->options;

    for (size_t i = 0; i < options->count; i++)
        if (strcmp(options->items[i], option) == 0)
            return true;
    return false;
}

bool mount_entry_has(const struct plan_mount *m, const char *option)
{
    if (strcmp(option, "nosuid") == 0)
        return !policy_says(m, "suid");
    if (strcmp(option, "nodev") == 0)
        return !policy_says(m, "dev");
    return policy_says(m, option);
}

static void put_option(struct json_doc *doc, struct json *list, const char *option)
{
    for (size_t i = 0; i < json_count(list); i++)
        if (strcmp(json_text(list->items[i]), option) == 0)
            return;
    json_append(doc, list, json_string(doc, option));
}

static struct json *make_options(const struct plan_mount *m, const struct mount_form *form,
                                 struct json_doc *doc)
{
    const struct policy_list *options = &m->volume->options;
    const char *const words[] = {
        m->pool ? NULL : "rbind",
        m->access == ACCESS_RW ? "rw" : "ro",
        form->rro ? "rro" : NULL,
        form->idmap ? (form->ridmap ? "ridmap" : "idmap") : NULL,
        m->pool ? NULL : "rprivate",
        mount_entry_has(m, "nosuid") ? "nosuid" : NULL,
        mount_entry_has(m, "nodev") ? "nodev" : NULL,
    };
    struct json *list = json_array(doc);
    struct err ignored;

    for (size_t i = 0; i < sizeof(words) / sizeof(*words) && !json_failed(doc); i++)
        if (words[i])
            put_option(doc, list, words[i]);
    for (size_t i = 0; i < options->count && !json_failed(doc); i++)
        if (strcmp(options->items[i], "rro") != 0)
            put_option(doc, list, options->items[i]);
    /* json_set marks the document as failed for NULL. */
    if (m->pool && overlay_options(m->pool, form->source, doc, list, &ignored) < 0)
        return NULL;
    return list;
}

static void add_mappings(const struct spec *spec, struct json_doc *doc, struct json *entry)
{
    static const char *const keys[] = {"uidMappings", "gidMappings"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        json_set(doc, entry, keys[i],
                 json_copy(doc, json_path(spec->root, "linux", keys[i], NULL)));
}

struct json *mount_entry_make(const struct plan_mount *m, const struct mount_form *form,
                              struct json_doc *doc, const struct spec *spec)
{
    struct json *entry = json_object(doc);

    json_set(doc, entry, "destination", json_string(doc, m->target));
    json_set(doc, entry, "type", json_string(doc, m->pool ? "overlay" : "bind"));
    json_set(doc, entry, "source", json_string(doc, m->pool ? "overlay" : form->source));
    json_set(doc, entry, "options", make_options(m, form, doc));
    if (form->idmap)
        add_mappings(spec, doc, entry);
    return entry;
}

static const char *const file_options[] = {"bind", "ro", "nosuid", "nodev", "noexec"};

enum { FILE_OPTIONS = sizeof(file_options) / sizeof(*file_options) };

struct json *mount_entry_make_file(const struct plan_file *file, struct json_doc *doc)
{
    struct json *entry = json_object(doc), *list = json_array(doc);

    json_set(doc, entry, "destination", json_string(doc, file->target));
    json_set(doc, entry, "type", json_string(doc, "bind"));
    json_set(doc, entry, "source", json_string(doc, file->source));
    for (size_t i = 0; i < FILE_OPTIONS; i++)
        json_append(doc, list, json_string(doc, file_options[i]));
    json_set(doc, entry, "options", list);
    return entry;
}

/* ---- recognising it ---- */

static bool is_text(const struct json *value, const char *expected)
{
    const char *text = json_text(value);

    return text && strcmp(text, expected) == 0;
}

bool mount_entry_is_file(const struct spec_mount *mount, const char *source, const char *target)
{
    const struct json *entry = mount->entry, *options = json_get(entry, "options");

    for (size_t i = 0; i < FILE_OPTIONS; i++)
        if (!is_text(json_at(options, i), file_options[i]))
            return false;
    return json_count(options) == FILE_OPTIONS && json_count(entry) == 4 &&
           is_text(json_get(entry, "destination"), target) &&
           is_text(json_get(entry, "type"), "bind") && is_text(json_get(entry, "source"), source);
}

static bool same_value(const struct json *a, const struct json *b);

static bool is_rro(const struct json *value)
{
    return is_text(value, "rro");
}

static bool is_idmap(const struct json *value)
{
    return is_text(value, "idmap") || is_text(value, "ridmap");
}

/*
 * Ignores "rro": whether the runtime can do it is found out later, and it only restricts. For the
 * same reason "ridmap" is "idmap".
 */
static bool same_items(const struct json *a, const struct json *b)
{
    size_t i = 0, j = 0;

    for (;;) {
        while (is_rro(json_at(a, i)))
            i++;
        while (is_rro(json_at(b, j)))
            j++;
        if (i == a->len || j == b->len)
            return i == a->len && j == b->len;
        bool idmaps = is_idmap(a->items[i]) && is_idmap(b->items[j]);
        if (!same_value(a->items[i++], b->items[j++]) && !idmaps)
            return false;
    }
}

static bool same_members(const struct json *a, const struct json *b)
{
    if (a->len != b->len)
        return false;
    for (size_t i = 0; i < a->len; i++) {
        const struct json_member *m = &a->members[i];
        const struct json *other = json_get_len(b, m->key, m->key_len);
        if (!other || !same_value(m->value, other))
            return false;
    }
    return true;
}

/* Recurses as deep as the entry that was made, which is not deep. */
static bool same_value(const struct json *a, const struct json *b)
{
    if (a->type != b->type)
        return false;
    switch (a->type) {
    case JSON_OBJECT:
        return same_members(a, b);
    case JSON_ARRAY:
        return same_items(a, b);
    case JSON_BOOL:
        return a->boolean == b->boolean;
    case JSON_STRING:
    case JSON_NUMBER:
        return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
    case JSON_NULL:
        break;
    }
    return true;
}

int mount_entry_is(const struct spec_mount *mount, const struct plan_mount *m,
                   const struct mount_form *form, const struct spec *spec, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = json_new_object(err);
    const struct json *entry = doc ? mount_entry_make(m, form, doc, spec) : NULL;

    if (!entry || json_failed(doc))
        return err_nomem(err);
    return same_value(entry, mount->entry);
}

static bool starts_option(const struct json *options, const char *start)
{
    for (size_t i = 0; i < json_count(options); i++) {
        const char *text = json_text(json_at(options, i));
        if (text && strncmp(text, start, strlen(start)) == 0)
            return true;
    }
    return false;
}

bool mount_entry_is_pool(const struct spec_mount *mount, const struct plan_mount *m)
{
    _cleanup_arena_ struct arena arena = {0};
    const char *lower = m->pool ? overlay_option("lowerdir", m->pool, NULL, &arena) : NULL;

    return lower && mount->type && strcmp(mount->type, "overlay") == 0 &&
           spec_has_option(mount->options, lower) && spec_has_option(mount->options, "index=on") &&
           starts_option(mount->options, "upperdir=") && starts_option(mount->options, "workdir=");
}

const char *mount_entry_pin_path(const struct plan_mount *m, struct arena *arena)
{
    _cleanup_buf_ struct buf path = BUF_INIT;

    buf_printf(&path, PIN_DIRECTORY "/%s:%s", m->volume->name, m->name);
    return path.failed ? NULL : arena_strndup(arena, path.data, path.len);
}

bool mount_entry_is_held(const struct spec_mount *mount)
{
    static const char held[] = PIN_DIRECTORY "/bind:";

    return mount->source && strncmp(mount->source, held, sizeof(held) - 1) == 0 &&
           path_is_clean_absolute(mount->source);
}

bool mount_entry_names_pin(const struct spec_mount *mount)
{
    _cleanup_buf_ struct buf path = BUF_INIT;
    struct err ignored = ERR_INIT;

    if (!mount->source)
        return false;
    if (mount->source[0] == '/') {
        buf_putc(&path, '/');
        if (path_clean(mount->source, strlen(mount->source), &path, &ignored) == 0)
            return path_is_beneath(path.data, PIN_DIRECTORY) ||
                   path_is_beneath(path.data, "/var" PIN_DIRECTORY);
    }
    return strstr(mount->source, "flatbed") != NULL; /* relative, or more ".." than directories */
}
