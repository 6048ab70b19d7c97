#include "shim/admin/engine/toml.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct scanner {
    const char *text;
    size_t at, len;
    struct arena *arena;
    struct toml *out;
    const char **table; /* the header above the keys */
    size_t table_depth;
    struct err *err;
};

size_t toml_line(const struct toml *toml, size_t offset)
{
    size_t line = 1;

    for (size_t i = 0; i < offset; i++)
        line += toml->text[i] == '\n';
    return line;
}

static int fail(struct scanner *s, const char *what)
{
    return err_set(s->err, ERR_FORMAT, "line %zu: not TOML: %s", toml_line(s->out, s->at), what);
}

static char peek(const struct scanner *s)
{
    return s->at < s->len ? s->text[s->at] : '\0';
}

static bool starts(const struct scanner *s, const char *with)
{
    size_t len = strlen(with);

    return s->len - s->at >= len && memcmp(s->text + s->at, with, len) == 0;
}

static void skip_blanks(struct scanner *s)
{
    while (peek(s) == ' ' || peek(s) == '\t')
        s->at++;
}

static void skip_comment(struct scanner *s)
{
    if (peek(s) == '#')
        while (s->at < s->len && s->text[s->at] != '\n')
            s->at++;
}

/* Skips blanks, comments and newlines. */
static void skip_lines(struct scanner *s)
{
    for (;;) {
        skip_blanks(s);
        skip_comment(s);
        if (starts(s, "\r\n"))
            s->at++;
        if (peek(s) != '\n')
            return;
        s->at++;
    }
}

static int end_line(struct scanner *s)
{
    skip_blanks(s);
    skip_comment(s);
    if (starts(s, "\r\n"))
        s->at++;
    if (s->at < s->len && peek(s) != '\n')
        return fail(s, "something is behind the end of the line's value");
    s->at += s->at < s->len;
    return 0;
}

/* ---- strings ---- */

/* Moves past a string that ends with `quote`, one or three characters. */
static int skip_string(struct scanner *s, const char *quote)
{
    bool many = quote[1] != '\0', escapes = quote[0] == '"';

    for (s->at += strlen(quote); s->at < s->len; s->at++) {
        if (escapes && s->text[s->at] == '\\') {
            s->at++;
        } else if (starts(s, quote)) {
            s->at += strlen(quote);
            for (int i = 0; many && i < 2 && peek(s) == quote[0]; i++)
                s->at++; /* up to two quotes may stand before the closing three */
            return 0;
        } else if (!many && s->text[s->at] == '\n') {
            break;
        }
    }
    return fail(s, "a string does not end");
}

static int skip_any_string(struct scanner *s)
{
    if (starts(s, "\"\"\""))
        return skip_string(s, "\"\"\"");
    if (starts(s, "'''"))
        return skip_string(s, "'''");
    return skip_string(s, peek(s) == '"' ? "\"" : "'");
}

/* ---- keys ---- */

static bool is_bare(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/*
 * Copies a string without its quotes. Refuses all escapes but \" and \\: any character can be
 * written as one, even a plain one.
 */
static int unquote(struct scanner *s, size_t start, size_t len, bool escapes, const char **out)
{
    char *name = arena_strndup(s->arena, s->text + start, len), *to = name;

    if (!name)
        return err_nomem(s->err);
    for (const char *from = name; escapes && *from; *to++ = *from++) {
        if (*from == '\\' && from[1] != '"' && from[1] != '\\')
            return err_set(
                s->err, ERR_UNSUPPORTED,
                "line %zu: a key has an escape other than \\\" and \\\\; write it plainly",
                toml_line(s->out, start));
        from += *from == '\\';
    }
    if (escapes)
        *to = '\0';
    *out = name;
    return 0;
}

static int read_name(struct scanner *s, const char **out)
{
    size_t start = s->at;
    char quote = peek(s);

    if (quote == '"' || quote == '\'') {
        if (skip_string(s, quote == '"' ? "\"" : "'") < 0)
            return -1;
        return unquote(s, start + 1, s->at - start - 2, quote == '"', out);
    }
    while (is_bare(peek(s)))
        s->at++;
    if (s->at == start)
        return fail(s, "expected a key");
    return unquote(s, start, s->at - start, false, out);
}

/* Appends a dotted key to `path`, which has room for TOML_DEPTH. */
static int read_key(struct scanner *s, const char **path, size_t *depth)
{
    for (;;) {
        skip_blanks(s);
        if (*depth == TOML_DEPTH)
            return fail(s, "too many names in a key");
        if (read_name(s, &path[(*depth)++]) < 0)
            return -1;
        skip_blanks(s);
        if (peek(s) != '.')
            return 0;
        s->at++;
    }
}

/* ---- values ---- */

static int skip_value(struct scanner *s, int depth);

static int skip_array(struct scanner *s, int depth)
{
    for (s->at++;;) {
        skip_lines(s);
        if (peek(s) == ']')
            break;
        if (skip_value(s, depth + 1) < 0)
            return -1;
        skip_lines(s);
        if (peek(s) == ']')
            break;
        if (peek(s) != ',')
            return fail(s, "expected ',' or ']' in an array");
        s->at++;
    }
    s->at++;
    return 0;
}

static int skip_inline_table(struct scanner *s, int depth)
{
    const char *path[TOML_DEPTH];

    s->at++;
    skip_blanks(s);
    while (peek(s) != '}') {
        size_t names = 0;
        if (read_key(s, path, &names) < 0)
            return -1;
        if (peek(s) != '=')
            return fail(s, "expected '='");
        s->at++;
        skip_blanks(s);
        if (skip_value(s, depth + 1) < 0)
            return -1;
        skip_blanks(s);
        if (peek(s) == '}')
            break;
        if (peek(s) != ',')
            return fail(s, "expected ',' or '}' in an inline table");
        s->at++;
        skip_blanks(s);
    }
    s->at++;
    return 0;
}

/* Skips a number, a boolean or a date. */
static int skip_bare_value(struct scanner *s)
{
    size_t start = s->at;

    while (isalnum((unsigned char)peek(s)) || (peek(s) && strchr("+-_.:", peek(s))))
        s->at++;
    /* "1979-05-27 07:32:00" */
    if (s->at - start == 10 && peek(s) == ' ' && isdigit((unsigned char)s->text[s->at + 1]))
        for (s->at++; isalnum((unsigned char)peek(s)) || (peek(s) && strchr("+-.:", peek(s)));)
            s->at++;
    size_t len = s->at - start;
    const char *v = s->text + start;
    bool word = (len == 4 && memcmp(v, "true", 4) == 0) ||
                (len == 5 && memcmp(v, "false", 5) == 0) || (len == 3 && !memcmp(v, "inf", 3)) ||
                (len == 3 && memcmp(v, "nan", 3) == 0);
    return len && (word || strchr("+-0123456789", v[0])) ? 0 : fail(s, "expected a value");
}

static int skip_value(struct scanner *s, int depth)
{
    if (depth > TOML_DEPTH)
        return fail(s, "values are too deep");
    switch (peek(s)) {
    case '"':
    case '\'':
        return skip_any_string(s);
    case '[':
        return skip_array(s, depth);
    case '{':
        return skip_inline_table(s, depth);
    default:
        return skip_bare_value(s);
    }
}

/* ---- items ---- */

static struct toml_item *add_item(struct scanner *s, enum toml_kind kind, const char *const *path,
                                  size_t depth)
{
    struct toml_item *items = arena_extend(s->arena, s->out->items, s->out->count, sizeof(*items));
    if (!items)
        return NULL;
    s->out->items = items;
    const char **copy = arena_alloc(s->arena, (depth + 1) * sizeof(*copy));
    if (!copy)
        return NULL;
    memcpy(copy, path, depth * sizeof(*copy));
    struct toml_item *item = &items[s->out->count++];
    *item = (struct toml_item){
        .kind = kind, .path = copy, .depth = depth, .table_depth = s->table_depth};
    return item;
}

static size_t line_start(const struct scanner *s)
{
    size_t at = s->at;

    while (at > 0 && s->text[at - 1] != '\n')
        at--;
    return at;
}

static int read_header(struct scanner *s)
{
    const char *path[TOML_DEPTH];
    size_t depth = 0, start = line_start(s);
    bool array = starts(s, "[[");

    s->at += array ? 2 : 1;
    if (read_key(s, path, &depth) < 0)
        return -1;
    if (!starts(s, array ? "]]" : "]"))
        return fail(s, "a table's header does not end");
    s->at += array ? 2 : 1;
    struct toml_item *item = add_item(s, array ? TOML_TABLE_ARRAY : TOML_TABLE, path, depth);
    if (!item)
        return err_nomem(s->err);
    item->start = start;
    item->table_depth = depth;
    s->table = item->path;
    s->table_depth = depth;
    if (end_line(s) < 0)
        return -1;
    item->end = s->at;
    return 0;
}

static int read_pair(struct scanner *s)
{
    const char *path[2 * TOML_DEPTH];
    size_t depth = 0, start = line_start(s);

    for (size_t i = 0; i < s->table_depth; i++)
        path[i] = s->table[i];
    if (read_key(s, path + s->table_depth, &depth) < 0)
        return -1;
    if (peek(s) != '=')
        return fail(s, "expected '='");
    s->at++;
    skip_blanks(s);
    size_t value = s->at;
    if (skip_value(s, 0) < 0)
        return -1;
    struct toml_item *item = add_item(s, TOML_KEY, path, s->table_depth + depth);
    if (!item)
        return err_nomem(s->err);
    item->start = start;
    item->value_start = value;
    item->value_end = s->at;
    if (end_line(s) < 0)
        return -1;
    item->end = s->at;
    return 0;
}

int toml_scan(const char *text, size_t len, struct arena *arena, struct toml *out, struct err *err)
{
    struct scanner s = {.text = text, .len = len, .arena = arena, .out = out, .err = err};

    *out = (struct toml){.text = text};
    if (len > TOML_BYTES)
        return err_set(err, ERR_LIMIT, "larger than %d bytes", TOML_BYTES);
    if (memchr(text, '\0', len))
        return err_set(err, ERR_FORMAT, "not TOML: it has NUL bytes");
    for (skip_lines(&s); s.at < s.len; skip_lines(&s))
        if ((peek(&s) == '[' ? read_header(&s) : read_pair(&s)) < 0)
            return -1;
    return 0;
}

bool toml_starts_with(const struct toml_item *item, const char *const *path, size_t depth)
{
    if (item->depth < depth)
        return false;
    for (size_t i = 0; i < depth; i++)
        if (strcmp(item->path[i], path[i]) != 0)
            return false;
    return true;
}

const struct toml_item *toml_find(const struct toml *toml, const char *const *path, size_t depth)
{
    for (size_t i = 0; i < toml->count; i++)
        if (toml->items[i].depth == depth && toml_starts_with(&toml->items[i], path, depth))
            return &toml->items[i];
    return NULL;
}
