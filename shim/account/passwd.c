#include "shim/account/passwd.h"

#include "shim/policy/template.h"

#include <stdlib.h>
#include <string.h>

/* Returns the field after the one that begins there, or NULL if the line ends before. */
static const char *next_field(const char *field)
{
    const char *end = field + strcspn(field, ":\n");

    return *end == ':' ? end + 1 : NULL;
}

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');

    return end && end[1] ? end + 1 : NULL;
}

bool passwd_has_id(const char *text, uint32_t id)
{
    for (const char *line = text && *text ? text : NULL; line; line = next_line(line)) {
        const char *password = next_field(line);
        const char *field = password ? next_field(password) : NULL;
        char *end;
        if (!field || *field < '0' || *field > '9')
            continue;
        unsigned long found = strtoul(field, &end, 10);
        if (found == id && (*end == ':' || *end == '\n' || !*end))
            return true;
    }
    return false;
}

bool passwd_has_name(const char *text, const char *name)
{
    size_t len = strlen(name);

    for (const char *line = text && *text ? text : NULL; line; line = next_line(line))
        if (strncmp(line, name, len) == 0 && line[len] == ':')
            return true;
    return false;
}

/* Appends the text, which then ends with a newline if it has any line. */
static void put_text(const char *text, struct buf *out)
{
    size_t len = text ? strlen(text) : 0;

    buf_append(out, text, len);
    if (len && text[len - 1] != '\n')
        buf_putc(out, '\n');
}

static void put_name(const char *text, const char *name, uint32_t id, struct buf *out)
{
    if (template_name_valid(name, strlen(name)) && !passwd_has_name(text, name))
        buf_puts(out, name);
    else
        buf_printf(out, "%u", (unsigned)id);
}

void passwd_put_user(const char *text, const struct passwd_entry *entry, struct buf *out)
{
    put_text(text, out);
    if (passwd_has_id(text, entry->uid))
        return;
    put_name(text, entry->name, entry->uid, out);
    buf_printf(out, ":x:%u:%u:", (unsigned)entry->uid, (unsigned)entry->gid);
    put_name(NULL, entry->name, entry->uid, out);
    buf_printf(out, ":%s:/bin/sh\n", entry->home);
}

void passwd_put_group(const char *text, const struct passwd_entry *entry, struct buf *out)
{
    put_text(text, out);
    if (passwd_has_id(text, entry->gid))
        return;
    put_name(text, entry->name, entry->gid, out);
    buf_printf(out, ":x:%u:\n", (unsigned)entry->gid);
}
