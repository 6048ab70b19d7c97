#include "shim/mount/layers.h"

#include "base/buf.h"
#include "shim/mount/mount_table.h"
#include "shim/mount/overlay.h"

#include <string.h>

const char *const layers_feature_names[LAYERS_FEATURES] = {
    [LAYERS_INDEX] = "index",
    [LAYERS_METACOPY] = "metacopy",
    [LAYERS_REDIRECT] = "redirect_dir",
    [LAYERS_NFS] = "nfs_export",
};

/* ---- text ---- */

/* Returns the length of the first option: up to a comma that is not in quotes, as a context has. */
static size_t option_length(const char *text)
{
    bool quoted = false;
    size_t len = 0;

    for (; text[len] && (quoted || text[len] != ','); len++)
        quoted ^= text[len] == '"';
    return len;
}

/* Returns a copy without the backslashes that escape a character. NULL without memory. */
static char *unescape(const char *text, size_t len, struct arena *arena)
{
    char *out = arena_strndup(arena, text, len);
    size_t to = 0;

    for (size_t from = 0; out && from < len; from++) {
        if (text[from] == '\\' && from + 1 < len)
            from++;
        out[to++] = text[from];
    }
    if (out)
        out[to] = '\0';
    return out;
}

/* ---- layers ---- */

static int add_lower(struct layers *out, const char *name, struct arena *arena, struct err *err)
{
    out->lower = arena_extend(arena, out->lower, out->count, sizeof(*out->lower));
    if (!out->lower || !name)
        return err_nomem(err);
    out->lower[out->count++] = name;
    return 0;
}

static int split_lower(const char *list, struct arena *arena, struct layers *out, struct err *err)
{
    while (*list) {
        size_t len = 0;
        while (list[len] && list[len] != ':')
            len += list[len] == '\\' && list[len + 1] ? 2 : 1;
        if (len == 0) { /* "::": all that follow hold the data of files alone */
            out->unfit = "it has layers of data alone";
            return 0;
        }
        if (add_lower(out, unescape(list, len, arena), arena, err) < 0)
            return -1;
        list += len + (list[len] == ':');
    }
    return 0;
}

/* Returns the layers as an option of mount(2), each without `skip` bytes. NULL without memory. */
static const char *join_lower(const struct layers *l, size_t skip, struct arena *arena)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    for (size_t i = 0; i < l->count; i++) {
        const char *one = overlay_option("", l->lower[i] + skip, NULL, arena);
        if (!one)
            return NULL;
        buf_printf(&text, "%s%s", i ? ":" : "lowerdir=", one + 1); /* behind its "=" */
    }
    return text.failed ? NULL : arena_strndup(arena, text.data ? text.data : "", text.len);
}

/* Returns the length of the leading directories that both paths have, with the last slash. */
static size_t shared_directories(const char *path, size_t len, const char *other)
{
    size_t same = 0, shared = 0;

    for (; same < len && path[same] == other[same]; same++)
        if (path[same] == '/')
            shared = same + 1;
    return shared;
}

const char *layers_shorten(const struct layers *layers, struct arena *arena, const char **base)
{
    size_t shared = layers->count ? strlen(layers->lower[0]) : 0;

    for (size_t i = 0; i < layers->count; i++)
        shared = shared_directories(layers->lower[0], shared, layers->lower[i]);
    if (shared < 2 || layers->lower[0][0] != '/')
        return NULL;
    *base = arena_strndup(arena, layers->lower[0], shared - 1);
    return *base ? join_lower(layers, shared, arena) : NULL;
}

/* ---- options ---- */

/* Options with which the upper directory keeps nothing that depends on the lower ones. */
static const struct {
    const char *name;
    const char *values; /* " a b "; NULL: it has none; "": any */
} harmless[] = {
    {"rw", NULL},
    {"userxattr", NULL},
    {"nouserxattr", NULL},
    {"seclabel", NULL},
    {"volatile", NULL},
    {"default_permissions", NULL},
    {"index", " off "},
    {"metacopy", " off "},
    {"redirect_dir", " off nofollow "},
    {"xino", " off auto "},
    {"nfs_export", " off "},
    {"uuid", " off null auto on "},
    {"verity", " off "},
    {"context", ""},
    {"fscontext", ""},
    {"defcontext", ""},
    {"rootcontext", ""},
    {"override_creds", NULL},
    {"fsync", " auto strict volatile "},
};

static bool is_harmless(const char *name, const char *value)
{
    char word[32];

    snprintf(word, sizeof(word), " %s ", value ? value : "");
    for (size_t i = 0; i < sizeof(harmless) / sizeof(*harmless); i++) {
        const char *values = harmless[i].values;
        if (strcmp(harmless[i].name, name) == 0)
            return !value ? !values : values && (!*values || strstr(values, word));
    }
    return false;
}

static int refuse_option(struct layers *out, const char *option, struct arena *arena,
                         struct err *err)
{
    out->unfit = arena_printf(arena, "it is mounted with '%.100s'", option);
    return out->unfit ? 0 : err_nomem(err);
}

/* Reads any option but the layers. Writes into `option`, and restores it. */
static int read_other_option(char *option, struct buf *rest, struct arena *arena,
                             struct layers *out, struct err *err)
{
    char *equals = strchr(option, '='), *value = equals ? equals + 1 : NULL;

    if (equals)
        *equals = '\0';
    bool fits = is_harmless(option, value);
    for (size_t i = 0; i < LAYERS_FEATURES; i++)
        out->given[i] |= strcmp(option, layers_feature_names[i]) == 0;
    out->users |= strcmp(option, "userxattr") == 0;
    out->fleeting |= strcmp(option, "volatile") == 0 ||
                     (strcmp(option, "fsync") == 0 && value && strcmp(value, "volatile") == 0);
    bool implied = strcmp(option, "rw") == 0 || strcmp(option, "seclabel") == 0;
    if (equals)
        *equals = '=';
    if (!fits)
        return refuse_option(out, option, arena, err);
    if (!implied)
        buf_printf(rest, ",%s", option);
    return 0;
}

/* True for "KEY=…": *kept gets the option, *value what is behind the "=". */
static bool option_takes(const char *option, const char *key, const char **kept, const char **value)
{
    size_t len = strlen(key);

    if (strncmp(option, key, len) != 0)
        return false;
    *kept = option;
    *value = option + len;
    return true;
}

static int read_option(char *option, struct buf *rest, struct arena *arena, struct layers *out,
                       struct err *err)
{
    const char *value, *ignored;

    if (option_takes(option, "lowerdir=", &out->kept[0], &value))
        return split_lower(value, arena, out, err);
    if (option_takes(option, "lowerdir+=", &ignored, &value))
        return add_lower(out, value, arena, err);
    if (option_takes(option, "upperdir=", &out->kept[1], &value))
        out->upper = unescape(value, strlen(value), arena);
    else if (option_takes(option, "workdir=", &out->kept[2], &value))
        out->work = unescape(value, strlen(value), arena);
    else
        return read_other_option(option, rest, arena, out, err);
    return (out->kept[1] && !out->upper) || (out->kept[2] && !out->work) ? err_nomem(err) : 0;
}

int layers_read(const char *super, struct arena *arena, struct layers *out, struct err *err)
{
    _cleanup_buf_ struct buf rest = BUF_INIT;

    *out = (struct layers){0};
    while (*super) {
        size_t len = option_length(super);
        char *option = mount_table_unescape(super, len, arena);
        if (!option)
            return err_nomem(err);
        if (read_option(option, &rest, arena, out, err) < 0)
            return -1;
        super += len + (super[len] == ',');
    }
    if (!out->kept[0] && !(out->kept[0] = join_lower(out, 0, arena)))
        return err_nomem(err);
    out->rest = arena_strndup(arena, rest.data ? rest.data : "", rest.len);
    if (rest.failed || !out->rest)
        return err_nomem(err);
    if (!out->unfit && (!out->upper || !out->work))
        out->unfit = "it has no upper directory";
    return 0;
}
