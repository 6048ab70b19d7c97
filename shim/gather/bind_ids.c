#include "shim/gather/bind_ids.h"

#include "base/fdio.h"
#include "shim/host/trust.h"
#include "shim/host/users/user.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { SUBIDS_BYTES = 16 * 1024 * 1024 };

/* ---- ranges ---- */

static bool holds(uint64_t first, uint64_t count, uint64_t id)
{
    return id >= first && id - first < count;
}

bool bind_ids_share(const char *text, const struct id_range *range, uint32_t own, uid_t uid,
                    const char *name)
{
    char number[16];

    snprintf(number, sizeof(number), "%u", (unsigned)uid);
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t len = strcspn(line, ":\n");
        uint64_t first, count;
        char end;
        if (line[len] != ':' ||
            sscanf(line + len, ":%10" SCNu64 ":%10" SCNu64 "%c", &first, &count, &end) < 2 ||
            !holds(first, count, range->outside) ||
            !holds(first, count, (uint64_t)range->outside + range->count - 1))
            continue;
        if (holds(first, count, own) || (strlen(number) == len && !memcmp(line, number, len)) ||
            (name && strlen(name) == len && memcmp(line, name, len) == 0))
            return true;
    }
    return false;
}

/* ---- a map ---- */

struct owner {
    const char *file; /* /etc/subuid or /etc/subgid */
    uint32_t own;
    const gid_t *groups; /* further ones of its own */
    size_t group_count;
    uid_t uid;
};

static bool is_own(const struct owner *owner, const struct id_range *range)
{
    bool own = range->outside == owner->own;

    for (size_t i = 0; i < owner->group_count; i++)
        own = own || range->outside == owner->groups[i];
    return own && range->count == 1;
}

static bool is_shared(const struct owner *owner, const struct id_range *range)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;
    struct user user;

    if (file_read(AT_FDCWD, owner->file, SUBIDS_BYTES, &text, &ignored) < 0 || !text.data)
        return false;
    if (bind_ids_share(text.data, range, owner->own, owner->uid, NULL))
        return true;
    return user_by_uid(owner->uid, &user) == USER_FOUND &&
           bind_ids_share(text.data, range, owner->own, owner->uid, user.name);
}

/* Returns the first range that is another owner's, or NULL. */
static const struct id_range *find_other(const struct id_map *map, const struct owner *owner)
{
    for (size_t i = 0; i < map->count; i++) {
        const struct id_range *range = &map->ranges[i];
        if (range->count && !is_own(owner, range) && !is_shared(owner, range))
            return range;
    }
    return NULL;
}

int bind_ids_judge(const struct spec *spec, const struct facts *facts, struct arena *arena,
                   const char **problem, struct err *err)
{
    const struct id_pair *id = &facts->process;
    const struct owner uids = {.file = "/etc/subuid", .own = id->uid, .uid = id->uid};
    const struct owner gids = {.file = "/etc/subgid",
                               .own = id->gid,
                               .groups = facts->groups,
                               .group_count = facts->group_count,
                               .uid = id->uid};

    *problem = NULL;
    if (id->uid == 0 || trust_in_user_namespace())
        return 0;
    if (id_map_root(&spec->uid_map) || id_map_root(&spec->gid_map)) {
        *problem = "its user namespace has root of this host, which it could become";
        return 0;
    }
    const struct id_range *other = find_other(&spec->uid_map, &uids);
    const char *file = other ? uids.file : gids.file;
    if (!other)
        other = find_other(&spec->gid_map, &gids);
    if (!other)
        return 0;
    *problem = arena_printf(arena,
                            "its user namespace has %s %u to %" PRIu64
                            " of this host, which it could become: map ids of the user in %s only",
                            file == uids.file ? "uids" : "gids", other->outside,
                            (uint64_t)other->outside + other->count - 1, file);
    return *problem ? 0 : err_nomem(err);
}

/* ---- owners of directories ---- */

static bool is_closed_by(const struct stat *dir, const struct id_map *uids)
{
    bool mapped = false;

    for (size_t i = 0; i < uids->count; i++)
        mapped = mapped || holds(uids->ranges[i].outside, uids->ranges[i].count, dir->st_uid);
    return mapped && !(dir->st_mode & (S_IWGRP | S_IWOTH));
}

bool bind_ids_alone(const char *path, const char *id, const struct id_map *uids)
{
    _cleanup_free_ char *part = strdup(path);
    struct stat dir, entry;
    bool inside = false;

    if (!part || *part != '/' || !id || stat("/", &dir) < 0)
        return false;
    for (char *name = part, *slash; name; name = slash, dir = entry) {
        slash = strchr(name + 1, '/');
        if (slash)
            *slash = '\0';
        bool seen = lstat(part, &entry) == 0 && !S_ISLNK(entry.st_mode);
        bool names_id = strcmp(name + 1, id) == 0;
        if (slash)
            *slash = '/';
        if (!seen || !(trust_entry(&dir, &entry) || (inside && is_closed_by(&dir, uids))))
            return false;
        inside = inside || names_id;
    }
    return inside;
}
