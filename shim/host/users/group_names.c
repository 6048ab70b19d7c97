#include "shim/host/users/group_names.h"

#include <string.h>

/* Go trims the white space of Unicode. Before a name, all that may be a part of it is passed over.
 */
static bool may_be_space(char c)
{
    return (unsigned char)c <= ' ' || (unsigned char)c >= 0x7f;
}

/* Behind a number, only what is certainly trimmed: with any other byte, runc reads 0 for a gid. */
static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Reads a number as it is printed. Returns what is behind it, or NULL. */
static const char *read_number(const char *at, const char *end, uint32_t *out)
{
    const char *begin = at;
    uint64_t number = 0;

    while (at < end && *at >= '0' && *at <= '9' && number <= UINT32_MAX)
        number = number * 10 + (uint64_t)(*at++ - '0');
    if (at == begin || number > UINT32_MAX || (*begin == '0' && at > begin + 1))
        return NULL;
    *out = (uint32_t)number;
    return at;
}

static bool ends_field(const char *at, const char *end)
{
    return at == end || *at == ':';
}

/* A name alone may be followed by what Go trims. */
static bool ends_name(const char *at, const char *end)
{
    while (at < end && may_be_space(*at))
        at++;
    return at == end;
}

/* Returns true if the name of the line is a number, but not its gid. */
static bool names_other(const char *line, const char *end, uint32_t *name)
{
    uint32_t gid;
    const char *name_end = read_number(line, end, name);

    if (!name_end || (!ends_field(name_end, end) && !ends_name(name_end, end)))
        return false;
    const char *id =
        name_end < end ? memchr(name_end + 1, ':', (size_t)(end - name_end - 1)) : NULL;
    const char *id_end = id ? read_number(id + 1, end, &gid) : NULL;
    return !id_end || !ends_field(id_end, end) || gid != *name;
}

void group_names_add(struct group_names *names, uint32_t gid)
{
    for (size_t i = 0; i < names->count; i++)
        if (names->list[i] == gid)
            return;
    if (names->count == GROUP_NAMES_MOST)
        names->more = true;
    else
        names->list[names->count++] = gid;
}

void group_names_read(const char *text, size_t len, struct group_names *out)
{
    const char *end = text + len;
    uint32_t name;

    while (text < end) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        const char *next = line_end ? line_end + 1 : end, *trimmed = line_end ? line_end : end;
        while (text < trimmed && may_be_space(*text))
            text++;
        while (trimmed > text && is_space(trimmed[-1]))
            trimmed--;
        if (names_other(text, trimmed, &name))
            group_names_add(out, name);
        text = next;
    }
}

bool group_names_have(const struct group_names *names, uint32_t gid)
{
    for (size_t i = 0; i < names->count; i++)
        if (names->list[i] == gid)
            return true;
    return names->more;
}
