/*
 * passwd(5) and group(5) of an image, "UID GID NAME\nTEXT": the text stays as it is, at most one
 * well-formed line follows it, and glibc finds the account afterwards. A number that glibc finds as
 * the name of another group is found as one.
 */
#include "fuzz.h"
#include "shim/account/passwd.h"
#include "shim/host/users/group_names.h"

#include <grp.h>
#include <pwd.h>
#include <string.h>

typedef void put_account(const char *text, const struct passwd_entry *entry, struct buf *out);

/* Returns the line that was added, or NULL. */
static const char *added_line(const char *text, const struct buf *out)
{
    size_t len = strlen(text), end = len > 0 && text[len - 1] != '\n';

    must(out->len >= len + end && memcmp(out->len ? out->data : "", text, len) == 0);
    must(!end || out->data[len] == '\n');
    return out->len > len + end ? out->data + len + end : NULL;
}

static void check_line(const char *line, unsigned fields)
{
    must(line[strlen(line) - 1] == '\n' && strchr(line, '\n') == line + strlen(line) - 1);
    for (const char *p = line; *p; p++)
        fields -= *p == ':';
    must(fields == 0);
}

static bool libc_has_user(char *text, uint32_t uid)
{
    FILE *file = fmemopen(text, strlen(text), "r");
    const struct passwd *found = NULL;

    must(file);
    while ((found = fgetpwent(file)) && found->pw_uid != uid)
        ;
    fclose(file);
    return found;
}

static bool libc_has_group(char *text, uint32_t gid)
{
    FILE *file = fmemopen(text, strlen(text), "r");
    const struct group *found = NULL;

    must(file);
    while ((found = fgetgrent(file)) && found->gr_gid != gid)
        ;
    fclose(file);
    return found;
}

static void check_user(const char *text, const struct passwd_entry *entry)
{
    _cleanup_buf_ struct buf out = BUF_INIT, again = BUF_INIT;

    passwd_put_user(text, entry, &out);
    must(!out.failed);
    const char *line = added_line(text, &out);
    must(!line == passwd_has_id(text, entry->uid));
    if (!line)
        return;
    check_line(line, 6);
    must(passwd_has_id(out.data, entry->uid) && libc_has_user(out.data, entry->uid));
    passwd_put_user(out.data, entry, &again);
    must(buf_equal(&out, &again));
}

static void check_group(const char *text, const struct passwd_entry *entry)
{
    _cleanup_buf_ struct buf out = BUF_INIT, again = BUF_INIT;

    passwd_put_group(text, entry, &out);
    must(!out.failed);
    const char *line = added_line(text, &out);
    must(!line == passwd_has_id(text, entry->gid));
    if (!line)
        return;
    check_line(line, 3);
    must(passwd_has_id(out.data, entry->gid) && libc_has_group(out.data, entry->gid));
    passwd_put_group(out.data, entry, &again);
    must(buf_equal(&out, &again));
}

static void check_names(char *text)
{
    struct group_names names = {0};
    FILE *file = *text ? fmemopen(text, strlen(text), "r") : NULL;

    group_names_read(text, strlen(text), &names);
    for (const struct group *line; file && (line = fgetgrent(file));) {
        char number[16];
        unsigned long name = strtoul(line->gr_name, NULL, 10);
        snprintf(number, sizeof(number), "%lu", name & UINT32_MAX);
        if (strcmp(number, line->gr_name) == 0 && name != line->gr_gid)
            must(group_names_have(&names, (uint32_t)name));
    }
    if (file)
        fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *newline = size ? memchr(data, '\n', size) : NULL;
    struct passwd_entry entry = {.home = "/home/x"};
    char *end, *next;

    if (!newline || memchr(data, '\0', size))
        return 0;
    char *head = strndup((const char *)data, (size_t)(newline - data));
    char *text = strndup((const char *)newline + 1, size - (size_t)(newline + 1 - data));
    must(head && text);
    entry.uid = (uint32_t)strtoul(head, &end, 10);
    entry.gid = (uint32_t)strtoul(end, &next, 10);
    entry.name = *next ? next + 1 : "";
    check_user(text, &entry);
    check_group(text, &entry);
    check_names(text);
    free(head);
    free(text);
    return 0;
}
