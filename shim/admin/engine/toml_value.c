#include "shim/admin/engine/toml_value.h"

#include <string.h>

/* Returns the character that an escape means, or '\0' if it is not decoded. */
static char unescape(char c)
{
    static const char names[] = "\"\\tn", means[] = "\"\\\t\n";
    const char *at = c ? strchr(names, c) : NULL;

    return at ? means[at - names] : '\0';
}

/* Decodes the text that begins at *at, and moves past it. NULL if it is none. */
static const char *take_text(const char **at, const char *end, struct arena *arena)
{
    const char quote = *at < end ? **at : '\0', *from = *at + 1;
    char *text = quote == '"' || quote == '\'' ? arena_alloc(arena, (size_t)(end - *at)) : NULL;
    size_t len = 0;

    if (!text)
        return NULL;
    for (; from < end && *from != quote && *from != '\n'; from++) {
        bool escaped = quote == '"' && *from == '\\';
        if (escaped && ++from == end)
            return NULL;
        char c = escaped ? unescape(*from) : *from;
        if (!c)
            return NULL;
        text[len++] = c;
    }
    if (from == end || *from != quote || (len == 0 && from + 1 < end && from[1] == quote))
        return NULL; /* no end, or the first of three quotes */
    *at = from + 1;
    return text;
}

static const char *value_of(const struct toml *toml, const struct toml_item *item, const char **end)
{
    if (!item || item->kind != TOML_KEY)
        return NULL;
    *end = toml->text + item->value_end;
    return toml->text + item->value_start;
}

const char *toml_text(const struct toml *toml, const struct toml_item *item, struct arena *arena)
{
    const char *end, *at = value_of(toml, item, &end);
    const char *text = at ? take_text(&at, end, arena) : NULL;

    return text && at == end ? text : NULL;
}

/* Skips blanks, newlines, comments and commas: the scanner has checked the form of the list. */
static const char *skip_between(const char *at, const char *end)
{
    for (;;) {
        while (at < end && strchr(" \t\r\n,", *at))
            at++;
        if (at == end || *at != '#')
            return at;
        while (at < end && *at != '\n')
            at++;
    }
}

bool toml_texts(const struct toml *toml, const struct toml_item *item, struct arena *arena,
                struct toml_texts *out)
{
    const char *end, *at = value_of(toml, item, &end);
    struct toml_texts texts = {0};

    *out = (struct toml_texts){0};
    if (!at || *at != '[')
        return false;
    for (at = skip_between(at + 1, end); at < end && *at != ']'; at = skip_between(at, end)) {
        const char *text = take_text(&at, end, arena);
        const char **items =
            text ? arena_extend(arena, texts.items, texts.count, sizeof(*items)) : NULL;
        if (!items)
            return false;
        texts.items = items;
        texts.items[texts.count++] = text;
    }
    *out = texts;
    return true;
}

bool toml_true(const struct toml *toml, const struct toml_item *item)
{
    const char *end, *at = value_of(toml, item, &end);

    return at && end - at == 4 && memcmp(at, "true", 4) == 0;
}
