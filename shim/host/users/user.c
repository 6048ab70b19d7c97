#include "shim/host/users/user.h"

#include "base/fdio.h"
#include "shim/host/process/child.h"

#include <fcntl.h>
#include <string.h>

enum { GETENT_NOT_FOUND = 2 }; /* getent(1) */
enum { PASSWD_BYTES = 16 * 1024 * 1024, LINE_BYTES = 4096 };

static const char *next_field(const char *text)
{
    const char *colon = text + strcspn(text, ":\n");

    return *colon == ':' ? colon + 1 : NULL;
}

static bool parse_id(const char *text, unsigned *out)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    unsigned long id = strtoul(text, &end, 10);
    *out = (unsigned)id;
    return errno == 0 && id < 0xffffffff && *end == ':';
}

bool user_parse(const char *line, struct user *out)
{
    size_t len = strcspn(line, ":\n");
    const char *password = next_field(line);
    const char *uid = password ? next_field(password) : NULL;
    const char *gid = uid ? next_field(uid) : NULL;

    if (!gid || len == 0 || len >= sizeof(out->name))
        return false;
    memcpy(out->name, line, len);
    out->name[len] = '\0';
    return parse_id(uid, &out->uid) && parse_id(gid, &out->gid);
}

/* Compares by name, or by uid if `name` is NULL. */
static bool user_matches(const struct user *user, const char *name, uid_t uid)
{
    return name ? strcmp(user->name, name) == 0 : user->uid == uid;
}

static bool in_passwd_file(const char *name, uid_t uid, struct user *out)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;

    if (file_read(AT_FDCWD, "/etc/passwd", PASSWD_BYTES, &text, &ignored) < 0)
        return false;
    for (const char *line = text.data; line && *line;) {
        const char *end = strchr(line, '\n');
        if (user_parse(line, out) && user_matches(out, name, uid))
            return true;
        line = end ? end + 1 : NULL;
    }
    return false;
}

static enum user_answer in_other_databases(const char *name, uid_t uid, struct user *out)
{
    char program[] = "/usr/bin/getent", database[] = "passwd", end_of_options[] = "--";
    char key[USER_NAME_MAX], text[LINE_BYTES];
    char *const argv[] = {program, end_of_options, database, key, NULL};
    struct err ignored;
    int status;

    if (name && strlen(name) >= sizeof(key))
        return USER_NONE;
    if (name)
        snprintf(key, sizeof(key), "%s", name);
    else
        snprintf(key, sizeof(key), "%u", (unsigned)uid);
    if (child_output(argv, text, sizeof(text), &status, &ignored) < 0)
        return USER_UNKNOWN;
    if (status == GETENT_NOT_FOUND)
        return USER_NONE;
    return status == 0 && user_parse(text, out) && user_matches(out, name, uid) ? USER_FOUND
                                                                                : USER_UNKNOWN;
}

static enum user_answer user_find(const char *name, uid_t uid, struct user *out)
{
    return in_passwd_file(name, uid, out) ? USER_FOUND : in_other_databases(name, uid, out);
}

enum user_answer user_by_uid(uid_t uid, struct user *out)
{
    return user_find(NULL, uid, out);
}

enum user_answer user_by_name(const char *name, struct user *out)
{
    return *name ? user_find(name, 0, out) : USER_NONE;
}

bool user_is_local(uid_t uid, struct user *out)
{
    return in_passwd_file(NULL, uid, out);
}
