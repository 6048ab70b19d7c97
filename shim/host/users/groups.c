#include "shim/host/users/groups.h"

#include "base/fdio.h"
#include "shim/host/process/child.h"

#include <fcntl.h>
#include <string.h>

enum { GETENT_NOT_FOUND = 2 }; /* getent(1) */
enum { FILE_BYTES = 16 * 1024 * 1024, ANSWER_BYTES = 16 * 1024, GROUP_WORD = 24 };

static char getent[] = "/usr/bin/getent", end_of_options[] = "--";

/* Names of groups whose members can become root, or read what is root's, on common systems. */
static const char privileged[][GROUP_WORD] = {
    "root",   "wheel",  "sudo", "admin",  "adm",  "docker",          "podman",   "containerd",
    "lxd",    "lxc",    "qemu", "incus",  "kvm",  "incus-admin",     "libvirt",  "libvirt-qemu",
    "disk",   "shadow", "kmem", "mem",    "tape", "systemd-journal", "ssl-cert", "vboxusers",
    "netdev", "staff",  "bin",  "daemon", "sys",  "wireshark",       "operator",
};
enum { PRIVILEGED = sizeof(privileged) / sizeof(*privileged) };

bool groups_privileged(const char *name, size_t len)
{
    for (size_t i = 0; i < PRIVILEGED; i++)
        if (strlen(privileged[i]) == len && memcmp(privileged[i], name, len) == 0)
            return true;
    return false;
}

bool groups_have(const struct groups *groups, gid_t gid)
{
    for (size_t i = 0; i < groups->count; i++)
        if (groups->list[i] == gid)
            return true;
    return false;
}

/* ---- lines of /etc/group: NAME:PASSWORD:GID:MEMBER,... ---- */

struct line {
    const char *name, *members;
    size_t name_len, members_len;
    gid_t gid;
};

/* Reads the line that begins there. Returns the beginning of the next, or NULL; *valid is false for
 * a line that is none. */
static const char *read_line(const char *text, struct line *out, bool *valid)
{
    const char *end = strchrnul(text, '\n');
    const char *password = memchr(text, ':', (size_t)(end - text));
    const char *id = password ? memchr(password + 1, ':', (size_t)(end - password - 1)) : NULL;
    char *after = NULL;

    *valid = false;
    if (id && id[1] >= '0' && id[1] <= '9') {
        errno = 0;
        unsigned long gid = strtoul(id + 1, &after, 10);
        *valid = errno == 0 && gid < 0xffffffff && *after == ':';
        out->gid = (gid_t)gid;
    }
    if (*valid) {
        out->name = text;
        out->name_len = (size_t)(password - text);
        out->members = after + 1;
        out->members_len = (size_t)(end - after - 1);
    }
    return *end ? end + 1 : NULL;
}

static bool has_member(const struct line *line, const char *user)
{
    size_t len = strlen(user);
    const char *member = line->members, *end = line->members + line->members_len;

    while (member < end) {
        const char *comma = memchr(member, ',', (size_t)(end - member));
        size_t member_len = (size_t)((comma ? comma : end) - member);
        if (member_len == len && memcmp(member, user, len) == 0)
            return true;
        member += member_len + 1;
    }
    return false;
}

static void add_group(struct groups *groups, gid_t gid)
{
    if (gid >= GROUP_LEAST && groups->count < GROUPS_MOST && !groups_have(groups, gid))
        groups->list[groups->count++] = gid;
}

static void remove_group(struct groups *groups, gid_t gid)
{
    size_t kept = 0;

    for (size_t i = 0; i < groups->count; i++)
        if (groups->list[i] != gid)
            groups->list[kept++] = groups->list[i];
    groups->count = kept;
}

void groups_parse(const char *text, const char *user, struct groups *out)
{
    struct line line;
    bool valid;

    for (const char *next = text; next && *next;) {
        next = read_line(next, &line, &valid);
        if (valid && has_member(&line, user))
            add_group(out, line.gid);
    }
}

/* Takes out the ids of groups with a privileged name: another name may have the same id. */
static void remove_privileged(const char *text, struct groups *out)
{
    struct line line;
    bool valid;

    for (const char *next = text; next && *next;) {
        next = read_line(next, &line, &valid);
        if (valid && groups_privileged(line.name, line.name_len))
            remove_group(out, line.gid);
    }
}

/* ---- other databases ---- */

static bool is_local_source(const char *word, size_t len)
{
    static const char *const local[] = {"files", "systemd", "altfiles"};

    if (*word == '[') /* an action */
        return true;
    for (size_t i = 0; i < sizeof(local) / sizeof(*local); i++)
        if (strlen(local[i]) == len && memcmp(local[i], word, len) == 0)
            return true;
    return false;
}

/* Returns the sources of a database, up to the end of its line; NULL if it has no line. */
static const char *find_database(const char *text, const char *name)
{
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        line += strspn(line, " \t");
        size_t len = strlen(name);
        if (strncmp(line, name, len) == 0 && line[len + strspn(line + len, " \t")] == ':')
            return strchr(line, ':') + 1;
    }
    return NULL;
}

/* Returns true if the sources of a database, or NULL, are not all files. */
static bool has_elsewhere(const char *sources)
{
    while (sources) {
        sources += strspn(sources, " \t");
        size_t len = *sources == '[' ? strcspn(sources, "]\n") : strcspn(sources, " \t\n#");
        if (!len)
            return false;
        if (!is_local_source(sources, len))
            return true;
        sources += len + (sources[len] == ']');
    }
    return false;
}

bool groups_elsewhere(const char *text)
{
    const char *sources = text ? find_database(text, "initgroups") : NULL;

    return has_elsewhere(sources || !text ? sources : find_database(text, "group"));
}

/* Adds what `getent initgroups USER` prints: "USER GID GID ...". */
static bool ask_groups(const char *user, struct groups *out)
{
    char database[] = "initgroups", key[GROUP_NAME_MAX], text[ANSWER_BYTES];
    char *const argv[] = {getent, end_of_options, database, key, NULL};
    struct err ignored;
    int status;

    if (strlen(user) >= sizeof(key))
        return false;
    snprintf(key, sizeof(key), "%s", user);
    if (child_output(argv, text, sizeof(text), &status, &ignored) < 0 ||
        (status != 0 && status != GETENT_NOT_FOUND))
        return false;
    for (const char *next = text + strcspn(text, " \t\n"); status == 0 && *next;) {
        char *after;
        next += strspn(next, " \t\n");
        unsigned long gid = strtoul(next, &after, 10);
        if (after == next)
            break;
        if (gid < 0xffffffff)
            add_group(out, (gid_t)gid);
        next = after;
    }
    return true;
}

/* Takes out the groups that another database gives a privileged name. */
static bool ask_privileged(struct groups *out)
{
    char database[] = "group", text[ANSWER_BYTES], names[PRIVILEGED][GROUP_WORD];
    char *argv[PRIVILEGED + 4] = {getent, end_of_options, database};
    struct err ignored;
    int status;

    memcpy(names, privileged, sizeof(names));
    for (size_t i = 0; i < PRIVILEGED; i++)
        argv[3 + i] = names[i];
    if (child_output(argv, text, sizeof(text), &status, &ignored) < 0 ||
        (status != 0 && status != GETENT_NOT_FOUND))
        return false;
    remove_privileged(text, out);
    return true;
}

static char *read_file(const char *path)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;

    if (file_read(AT_FDCWD, path, FILE_BYTES, &text, &ignored) < 0 || !text.data)
        return NULL;
    return buf_take(&text, &ignored);
}

bool groups_of_user(const struct user *user, struct groups *out)
{
    _cleanup_free_ char *local = read_file("/etc/group");
    _cleanup_free_ char *databases = read_file("/etc/nsswitch.conf");
    bool answered = true;

    *out = (struct groups){0};
    add_group(out, user->gid);
    if (local)
        groups_parse(local, user->name, out);
    if (groups_elsewhere(databases))
        answered = ask_groups(user->name, out) && ask_privileged(out);
    if (local)
        remove_privileged(local, out);
    if (!answered)
        out->count = 0;
    return answered;
}

bool group_name(gid_t gid, char out[GROUP_NAME_MAX])
{
    _cleanup_free_ char *local = read_file("/etc/group");
    struct line line;
    bool valid;

    for (const char *next = local; next && *next;) {
        next = read_line(next, &line, &valid);
        if (!valid || line.gid != gid || !line.name_len || line.name_len >= GROUP_NAME_MAX)
            continue;
        memcpy(out, line.name, line.name_len);
        out[line.name_len] = '\0';
        return true;
    }
    return false;
}

void group_print(gid_t gid, struct buf *out)
{
    char name[GROUP_NAME_MAX];

    buf_printf(out, "%u", (unsigned)gid);
    if (group_name(gid, name))
        buf_printf(out, " (%s)", name);
}

/* ---- the groups that a process of a user may have ---- */

const char *group_claim_problem(const struct group_claim *c)
{
    if (c->gid == 0)
        return "which is root's on this host";
    if (c->privileged)
        return "which is a powerful one of this host";
    if (c->group == USER_NONE && c->gid >= GROUP_LEAST)
        return NULL;
    if (c->group == USER_UNKNOWN || c->user == USER_UNKNOWN)
        return "and getent did not say whether it is its user's on this host";
    if ((c->user == USER_FOUND && c->primary == c->gid) || c->member)
        return NULL;
    if (c->group == USER_NONE && c->user == USER_NONE && c->gid == c->uid)
        return NULL;
    return c->group == USER_FOUND ? "which is not one of its user's on this host"
                                  : "which is reserved for the system";
}

void own_groups_clear(struct own_groups *own)
{
    free(own->local);
    free(own->databases);
    own->local = own->databases = NULL;
}

/* Notes the group, if a text in the form of /etc/group has it. */
static void note_group(const char *text, struct group_claim *claim)
{
    struct line line;
    bool valid;

    for (const char *next = text; next && *next;) {
        next = read_line(next, &line, &valid);
        if (!valid || line.gid != claim->gid)
            continue;
        if (claim->group == USER_NONE)
            claim->group = USER_FOUND;
        claim->privileged = claim->privileged || groups_privileged(line.name, line.name_len);
    }
}

static void ask_group(struct group_claim *claim)
{
    char database[] = "group", key[16], text[ANSWER_BYTES];
    char *const argv[] = {getent, end_of_options, database, key, NULL};
    struct err ignored;
    int status;

    snprintf(key, sizeof(key), "%u", (unsigned)claim->gid);
    if (child_output(argv, text, sizeof(text), &status, &ignored) < 0 ||
        (status != 0 && status != GETENT_NOT_FOUND))
        claim->group = USER_UNKNOWN;
    else if (status == 0)
        note_group(text, claim);
}

static void find_group(struct own_groups *own, struct group_claim *claim)
{
    if (!own->has_files) {
        own->local = read_file("/etc/group");
        own->databases = read_file("/etc/nsswitch.conf");
    }
    own->has_files = true;
    claim->group = own->local ? USER_NONE : USER_UNKNOWN;
    note_group(own->local, claim);
    if (own->databases && has_elsewhere(find_database(own->databases, "group")))
        ask_group(claim);
}

static void find_user(struct own_groups *own, struct group_claim *claim)
{
    if (!own->has_user) {
        own->answer = user_by_uid(own->uid, &own->user);
        if (own->answer == USER_FOUND && !groups_of_user(&own->user, &own->groups))
            own->groups.count = 0;
    }
    own->has_user = true;
    claim->user = own->answer;
    claim->primary = own->user.gid;
    claim->member = groups_have(&own->groups, claim->gid);
}

const char *own_groups_problem(struct own_groups *own, gid_t gid)
{
    struct group_claim claim = {.uid = own->uid, .gid = gid, .user = USER_UNKNOWN};

    if (gid)
        find_group(own, &claim);
    if (!gid || claim.privileged || (claim.group == USER_NONE && gid >= GROUP_LEAST))
        return group_claim_problem(&claim); /* the user does not matter */
    find_user(own, &claim);
    return group_claim_problem(&claim);
}
