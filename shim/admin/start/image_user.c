#include "shim/admin/start/image_user.h"

#include "base/fdio.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/openat2.h>
#include <pwd.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

enum { NAME_BYTES = 256 };

/* Opens a regular file of the image. NULL: there is none. */
static FILE *open_in(const char *rootfs, const char *path)
{
    _cleanup_fd_ int root = open(rootfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
    _cleanup_fd_ int fd =
        root < 0 ? -1 : fd_open_within(root, path, O_RDONLY | O_NONBLOCK, RESOLVE_IN_ROOT);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return NULL;
    FILE *file = fdopen(fd, "re");
    if (file)
        steal_fd(&fd);
    return file;
}

static bool read_number(const char *text, uint32_t *out)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    *out = (uint32_t)value;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && value < UINT32_MAX;
}

/* Returns false if etc/passwd has no such name; a number needs no line. */
static bool find_user(const char *rootfs, const char *name, struct image_user *out)
{
    bool number = read_number(name, &out->uid), found = false;
    FILE *file = open_in(rootfs, "etc/passwd");

    for (const struct passwd *line; !found && file && (line = fgetpwent(file));) {
        found = number ? line->pw_uid == out->uid : strcmp(line->pw_name, name) == 0;
        if (found)
            *out = (struct image_user){line->pw_uid, line->pw_gid};
    }
    if (file)
        fclose(file);
    return found || number;
}

static bool find_group(const char *rootfs, const char *name, uint32_t *out)
{
    bool found = read_number(name, out);
    FILE *file = found ? NULL : open_in(rootfs, "etc/group");

    for (const struct group *line; !found && file && (line = fgetgrent(file));) {
        found = strcmp(line->gr_name, name) == 0;
        *out = line->gr_gid;
    }
    if (file)
        fclose(file);
    return found;
}

int image_user_find(const char *rootfs, const char *text, struct image_user *out, struct err *err)
{
    char user[NAME_BYTES];
    const char *group = strchr(text, ':');
    size_t len = group ? (size_t)(group - text) : strlen(text);

    *out = (struct image_user){0};
    if (len >= sizeof(user))
        return err_set(err, ERR_FORMAT, "the image's user has a name that is too long");
    memcpy(user, text, len);
    user[len] = '\0';
    if (len && !find_user(rootfs, user, out))
        return err_set(err, ERR_FORMAT, "the image's user '%s' is not in its etc/passwd", user);
    if (group && group[1] && !find_group(rootfs, group + 1, &out->gid))
        return err_set(err, ERR_FORMAT, "the image's group '%.100s' is not in its etc/group",
                       group + 1);
    return 0;
}
