#include "shim/policy/read/decode/policy_decode.h"

#include "base/size.h"

#include "base/cli/suggest.h"
#include "base/path.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- errors ---- */

static int put_place(struct decoder *d, size_t offset)
{
    struct err inner = *d->err;
    unsigned line, column;

    json_position(d->file->doc, d->preset ? d->preset->offset : offset, &line, &column);
    return err_set(d->err, inner.kind, "%s:%u:%u: %s", d->file->path, line, column, inner.msg);
}

__attribute__((format(printf, 3, 0))) static int vfail(struct decoder *d, size_t offset,
                                                       const char *format, va_list args)
{
    char text[512];

    vsnprintf(text, sizeof(text), format, args);
    err_set(d->err, ERR_POLICY, "%s", text);
    return put_place(d, offset);
}

int decode_fail(struct decoder *d, const struct json *value, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vfail(d, value->start, format, args);
    va_end(args);
    return -1;
}

int decode_fail_at(struct decoder *d, size_t offset, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vfail(d, offset, format, args);
    va_end(args);
    return -1;
}

int decode_wrap(struct decoder *d, const struct json *value)
{
    d->err->kind = ERR_POLICY;
    return put_place(d, value->start);
}

struct policy_place decode_place(const struct decoder *d, const struct json *value)
{
    if (d->preset)
        return *d->preset;
    return (struct policy_place){.file = d->file, .offset = value->start};
}

/* ---- values ---- */

int decode_type(struct decoder *d, const struct json *value, enum json_type type)
{
    if (value->type == type)
        return 0;
    return decode_fail(d, value, "expected %s, not %s", json_type_name(type),
                       json_type_name(value->type));
}

int decode_bool(struct decoder *d, const struct json *value, bool *out)
{
    if (decode_type(d, value, JSON_BOOL) < 0)
        return -1;
    *out = value->boolean;
    return 0;
}

int decode_text(struct decoder *d, const struct json *value, struct policy_text *out)
{
    if (decode_type(d, value, JSON_STRING) < 0)
        return -1;
    const char *text = json_text(value);
    if (!text || !*text)
        return decode_fail(d, value, text ? "an empty string" : "a string with a NUL byte");
    *out = (struct policy_text){.text = text, .place = decode_place(d, value)};
    return 0;
}

int decode_list(struct decoder *d, const struct json *value, struct policy_list *out)
{
    if (decode_type(d, value, JSON_ARRAY) < 0)
        return -1;
    const char **items = arena_alloc(&d->policy->arena, (value->len + 1) * sizeof(*items));
    if (!items)
        return err_nomem(d->err);
    for (size_t i = 0; i < value->len; i++) {
        struct policy_text text = {0};
        if (decode_text(d, value->items[i], &text) < 0)
            return -1;
        items[i] = text.text;
    }
    *out = (struct policy_list){
        .items = items, .count = value->len, .given = true, .place = decode_place(d, value)};
    return 0;
}

void decode_print_names(struct buf *out, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "%s%s", i ? ", " : "", names[i]);
}

int decode_bytes(struct decoder *d, const struct json *value, uint64_t *out)
{
    struct policy_text text = {0};

    if (decode_text(d, value, &text) < 0)
        return -1;
    if (!size_parse(text.text, out) || *out == 0)
        return decode_fail(d, value, "'%.40s': expected bytes such as \"20g\"", text.text);
    return 0;
}

/* Reads "10%". Returns 0 for any other text. */
static unsigned read_percent(const char *text)
{
    enum { LARGEST_SHARE = 99 };
    size_t digits = strspn(text, "0123456789");

    if (!digits || digits > 2 || strcmp(text + digits, "%") != 0)
        return 0;
    unsigned long share = strtoul(text, NULL, 10);
    return share <= LARGEST_SHARE ? (unsigned)share : 0;
}

int decode_free(struct decoder *d, const struct json *value, struct policy_free *room)
{
    struct policy_text text = {.text = ""};

    *room = (struct policy_free){0};
    if (decode_text(d, value, &text) < 0)
        return -1;
    room->percent = read_percent(text.text);
    if (!room->percent && (!size_parse(text.text, &room->bytes) || !room->bytes))
        return decode_fail(d, value,
                           "'%.40s': expected bytes such as \"20g\", or 1 to 99 per cent such as "
                           "\"10%%\"",
                           text.text);
    return 0;
}

int decode_seconds(struct decoder *d, const struct json *value, unsigned least, unsigned most,
                   unsigned *out)
{
    uint64_t seconds;

    if (decode_type(d, value, JSON_NUMBER) < 0)
        return -1;
    if (!json_u64(value, &seconds) || seconds < least || seconds > most)
        return decode_fail(d, value, "%.32s: expected whole seconds, %u to %u", value->text, least,
                           most);
    *out = (unsigned)seconds;
    return 0;
}

int decode_choice(struct decoder *d, const struct json *value, const char *const *names,
                  size_t count, int *out)
{
    _cleanup_buf_ struct buf list = BUF_INIT;
    struct policy_text text = {0};

    if (decode_text(d, value, &text) < 0 || !text.text)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], text.text) == 0) {
            *out = (int)i;
            return 0;
        }
    decode_print_names(&list, names, count);
    return decode_fail(d, value, "'%s': expected one of %s", text.text, list.data ? list.data : "");
}

/* ---- objects ---- */

static int unknown_key(struct decoder *d, const struct json_member *m,
                       const struct decode_key *keys, size_t count)
{
    const char *names[32];
    size_t known = count < 32 ? count : 32;

    if (memchr(m->key, '\0', m->key_len))
        return decode_fail_at(d, m->key_start, "the key \"%s...\" has a NUL byte", m->key);
    for (size_t i = 0; i < known; i++)
        names[i] = keys[i].name;
    const char *near = suggest_nearest(m->key, names, known);
    if (near)
        return decode_fail_at(d, m->key_start, "unknown key \"%s\"; did you mean \"%s\"?", m->key,
                              near);
    return decode_fail_at(d, m->key_start, "unknown key \"%s\"", m->key);
}

int decode_member(struct decoder *d, const struct json_member *m, const struct decode_key *keys,
                  size_t count, void *target)
{
    for (size_t i = 0; i < count; i++) {
        if (json_member_is(m, keys[i].name))
            return keys[i].read(d, m->value, target);
    }
    return unknown_key(d, m, keys, count);
}

int decode_object(struct decoder *d, const struct json *value, const struct decode_key *keys,
                  size_t count, void *target)
{
    if (decode_type(d, value, JSON_OBJECT) < 0)
        return -1;
    for (size_t i = 0; i < value->len; i++)
        if (decode_member(d, &value->members[i], keys, count, target) < 0)
            return -1;
    return 0;
}

int decode_path(struct decoder *d, const struct json *value, struct policy_text *out)
{
    if (decode_text(d, value, out) < 0)
        return -1;
    if (!path_is_clean_absolute(out->text) || strcmp(out->text, "/") == 0)
        return decode_fail(d, value, "'%s' is not a clean absolute path", out->text);
    return 0;
}
