#include "shim/admin/zfs/rows.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Splits a line at its tabs, and writes over them. Returns false if it has not three fields. */
static bool split(char *line, struct zfs_row *row)
{
    char *property = strchr(line, '\t');
    char *value = property ? strchr(property + 1, '\t') : NULL;

    if (!value || property == line || value == property + 1 || strchr(value + 1, '\t'))
        return false;
    *property = *value = '\0';
    *row = (struct zfs_row){line, property + 1, value + 1};
    return true;
}

int zfs_rows_parse(const char *text, size_t len, struct arena *arena, struct zfs_rows *out,
                   struct err *err)
{
    char *copy = arena_strndup(arena, len ? text : "", len);

    *out = (struct zfs_rows){0};
    if (!copy)
        return err_nomem(err);
    if (memchr(copy, '\0', len))
        return err_set(err, ERR_FORMAT, "zfs printed a NUL");
    for (char *line = copy; *line;) {
        char *end = line + strcspn(line, "\n"), *next = end + (*end == '\n');
        struct zfs_row *list = arena_extend(arena, out->list, out->count, sizeof(*list));
        if (!list)
            return err_nomem(err);
        *end = '\0';
        out->list = list;
        if (!split(line, &list[out->count++]))
            return err_set(err, ERR_FORMAT, "zfs printed a line that is not understood");
        line = next;
    }
    return 0;
}

const char *zfs_rows_value(const struct zfs_rows *rows, const char *name, const char *property)
{
    for (size_t i = 0; i < rows->count; i++)
        if (strcmp(rows->list[i].name, name) == 0 && strcmp(rows->list[i].property, property) == 0)
            return rows->list[i].value;
    return NULL;
}

uint64_t zfs_number(const char *value)
{
    char *end;

    if (!value || value[0] < '0' || value[0] > '9')
        return 0;
    errno = 0;
    uint64_t number = strtoull(value, &end, 10);
    return errno || *end ? 0 : number;
}

uint64_t zfs_dedup_entries(const char *text)
{
    static const char label[] = "DDT entries ";
    const char *at = strstr(text, label);

    return at ? strtoull(at + sizeof(label) - 1, NULL, 10) : 0;
}
