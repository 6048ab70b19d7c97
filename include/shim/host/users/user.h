/*
 * The host's users: /etc/passwd first, then the other databases of nsswitch.conf, by `getent`.
 *
 * glibc's own lookup would load modules (LDAP, SSSD) into the runtime, and cannot be linked
 * statically.
 */
#ifndef SHIM_USER_H
#define SHIM_USER_H

#include <stdbool.h>
#include <sys/types.h>

enum { USER_NAME_MAX = 256 };

struct user {
    uid_t uid;
    gid_t gid;
    char name[USER_NAME_MAX];
};

enum user_answer {
    USER_FOUND,
    USER_NONE,    /* no database has the user */
    USER_UNKNOWN, /* getent is missing, failed, or took too long */
};

/* Looks a user up by uid. May start getent, for at most two seconds. */
enum user_answer user_by_uid(uid_t uid, struct user *out);
/* Looks a user up by name, in the same way. */
enum user_answer user_by_name(const char *name, struct user *out);

/* Looks a user up by uid in /etc/passwd alone. Returns false if it is not there. */
bool user_is_local(uid_t uid, struct user *out);

/* Reads one line of passwd(5), up to its newline or end. Returns false if it is none. Pure. */
bool user_parse(const char *line, struct user *out);

#endif
