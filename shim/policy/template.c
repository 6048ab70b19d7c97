#include "shim/policy/template.h"

#include "base/cli/suggest.h"

#include <string.h>

static const char *const names[TEMPLATE_VARS] = {
    [VAR_NAME] = "name",
    [VAR_USER] = "user",
    [VAR_UID] = "uid",
    [VAR_GID] = "gid",
    [VAR_PROJECT] = "project",
    [VAR_CONTAINER] = "container",
    [VAR_CONTAINER_NAME] = "container_name",
    [VAR_IMAGE] = "image",
    [VAR_NAMESPACE] = "namespace",
    [VAR_HOSTNAME] = "hostname",
    [VAR_TARGET] = "target",
};

static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
static const char value_chars[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-@+=";

static bool component_of(const char *text, size_t len, const char *chars)
{
    if (len == 0 || len > TEMPLATE_VALUE_MAX)
        return false;
    for (size_t i = 0; i < len; i++)
        if (!text[i] || !strchr(chars, text[i]))
            return false;
    return !(text[0] == '.' && (len == 1 || (len == 2 && text[1] == '.')));
}

bool template_name_valid(const char *name, size_t len)
{
    return component_of(name, len, plain);
}

static int lookup(const char *name, size_t len)
{
    for (int i = 0; i < TEMPLATE_VARS; i++)
        if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
            return i;
    return -1;
}

static int unknown(const char *name, size_t len, struct err *err)
{
    _cleanup_free_ char *word = strndup(name, len);
    const char *near = word ? suggest_nearest(word, names, TEMPLATE_VARS) : NULL;

    if (near)
        return err_set(err, ERR_FORMAT, "there is no {%.*s}; did you mean {%s}?", (int)len, name,
                       near);
    return err_set(err, ERR_FORMAT, "there is no {%.*s}", (int)len, name);
}

/*
 * Returns the variable at a brace, and in *len the bytes from its brace to the closing one; -1 and
 * an error if it is none.
 */
static int at_brace(const char *text, size_t *len, struct err *err)
{
    const char *end = strchr(text, '}');

    if (*text == '}' || !end)
        return err_set(err, ERR_FORMAT, "a brace without its partner in '%s'", text);
    size_t name_len = (size_t)(end - text) - 1;
    int var = lookup(text + 1, name_len);
    if (var < 0)
        return unknown(text + 1, name_len > 64 ? 64 : name_len, err);
    *len = name_len + 2;
    return var;
}

int template_check(const char *text, unsigned allowed, unsigned *used, struct err *err)
{
    unsigned seen = 0;
    size_t len = 0;

    for (text += strcspn(text, "{}"); *text; text += strcspn(text, "{}")) {
        int var = at_brace(text, &len, err);
        if (var < 0)
            return -1;
        if (!(allowed & 1u << var))
            return err_set(err, ERR_FORMAT, "{%s} cannot be used here", names[var]);
        seen |= 1u << var;
        text += len;
    }
    if (used)
        *used = seen;
    return 0;
}

static int put_value(enum template_var var, const struct template_values *values, struct buf *out,
                     struct err *err)
{
    const char *value = values->value[var];

    if (!value && values->missing[var])
        return err_set(err, ERR_POLICY, "no value for {%s}: %s", names[var], values->missing[var]);
    if (!value)
        return err_set(err, ERR_POLICY, "no value for {%s}", names[var]);
    if (var != VAR_TARGET && !component_of(value, strlen(value), value_chars))
        return err_set(err, ERR_POLICY,
                       "{%s} is '%.80s', which cannot be a part of a path: letters, digits and "
                       "._@+=- only, at most %d",
                       names[var], value, TEMPLATE_VALUE_MAX);
    buf_puts(out, value);
    return 0;
}

int template_expand(const char *text, const struct template_values *values, struct buf *out,
                    struct err *err)
{
    while (*text) {
        size_t len = strcspn(text, "{}");
        buf_append(out, text, len);
        text += len;
        if (!*text)
            break;
        int var = at_brace(text, &len, err);
        if (var < 0 || put_value((enum template_var)var, values, out, err) < 0)
            return -1;
        text += len;
    }
    buf_append(out, "", 0); /* out->data is set even for an empty text */
    return buf_check(out, err);
}

char *template_glob(const char *text, size_t len, struct arena *arena)
{
    _cleanup_buf_ struct buf glob = BUF_INIT;

    for (size_t i = 0; i < len; i++) {
        if (text[i] == '{') {
            buf_putc(&glob, '*');
            i += strcspn(text + i, "}");
            continue;
        }
        if (strchr("*?[\\", text[i]))
            buf_putc(&glob, '\\');
        buf_putc(&glob, text[i]);
    }
    return glob.failed ? NULL : arena_strndup(arena, glob.data ? glob.data : "", glob.len);
}
