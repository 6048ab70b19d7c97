#include "shim/gather/bind_group.h"

#include <string.h>
#include <sys/stat.h>

/* True if the group's bits of the mode give what the process lacks. */
static bool group_may(const struct stat *st, const struct bind_source *s)
{
    mode_t read = S_ISDIR(st->st_mode) ? S_IRGRP | S_IXGRP : S_IRGRP;

    if (!s->readable)
        return (st->st_mode & read) == read;
    return !s->writable && (st->st_mode & S_IWGRP);
}

static bool has_group(const struct facts *facts, gid_t gid)
{
    for (size_t i = 0; i < facts->group_count; i++)
        if (facts->groups[i] == gid)
            return true;
    return facts->process.gid == gid;
}

static bool user_has_group(struct bind_groups *g, gid_t gid)
{
    struct user user;

    if (!g->looked_up && (user_by_uid(g->facts->process.uid, &user) != USER_FOUND ||
                          !groups_of_user(&user, &g->groups)))
        g->groups.count = 0;
    g->looked_up = true;
    return groups_have(&g->groups, gid);
}

int bind_group_find(struct bind_groups *g, int fd, struct arena *arena, struct bind_source *s,
                    struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    char name[GROUP_NAME_MAX];
    struct stat st;

    if (fd < 0 || (s->readable && s->writable) || fstat(fd, &st) < 0 || !group_may(&st, s) ||
        has_group(g->facts, st.st_gid) || !user_has_group(g, st.st_gid))
        return 0;
    buf_printf(&text, "%u", (unsigned)st.st_gid);
    if (group_name(st.st_gid, name))
        buf_printf(&text, " (%s)", name);
    s->group = text.failed ? NULL : arena_strndup(arena, text.data, text.len);
    return s->group ? 0 : err_nomem(err);
}
