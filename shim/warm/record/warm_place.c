#include "shim/warm/record/warm_place.h"

#include "shim/host/fd_path.h"
#include "shim/host/kernel.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

static const char volume_heading[] = "flatbed volume 1\n";

void warm_place_of_chain(const struct chain *chain, struct warm_place *out)
{
    *out = (struct warm_place){.paths = chain->paths, .count = chain->count, .of = chain->record};
    memcpy(out->key, chain->key, sizeof(out->key));
}

/* Returns false for file systems without a disk of this host. */
static bool is_local(int fd)
{
    static const unsigned others[] = {
        NFS_SUPER_MAGIC,
        SMB_SUPER_MAGIC,
        CIFS_SUPER_MAGIC,
        SMB2_SUPER_MAGIC,
        FUSE_SUPER_MAGIC,
        V9FS_MAGIC,
        CEPH_SUPER_MAGIC,
        AFS_SUPER_MAGIC,
        TMPFS_MAGIC,
        RAMFS_MAGIC,
        CODA_SUPER_MAGIC,
        AFS_FS_MAGIC,
        0x0bd00bd0 /* Lustre */,
        0x47504653 /* GPFS */,
        0x19830326 /* BeeGFS */,
    };
    struct statfs fs;

    if (fstatfs(fd, &fs) < 0)
        return false;
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if ((unsigned)fs.f_type == others[i])
            return false;
    return true;
}

int warm_place_of_volume(const char *path, struct arena *arena, struct warm_place *out,
                         struct err *err)
{
    _cleanup_fd_ int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    char real[PATH_MAX];
    struct timespec born;
    struct stat st;

    if (fd < 0 || fd_path(fd, real) < 0 || fstat(fd, &st) < 0 || kernel_birth(real, &born) < 0)
        return err_set(err, ERR_UNSUPPORTED, "%s: %s", path, strerror(errno));
    if (!is_local(fd) || strchr(real, '\n'))
        return err_set(err, ERR_UNSUPPORTED, "%s is not on a disk of this host", path);
    const char **paths = arena_alloc(arena, sizeof(*paths));
    *out = (struct warm_place){.paths = paths, .count = 1, .volume = true};
    out->of =
        arena_printf(arena, "%s%llu %lld.%09ld %s\n", volume_heading, (unsigned long long)st.st_ino,
                     (long long)born.tv_sec, born.tv_nsec, real);
    if (!paths || !out->of || !(*paths = arena_strndup(arena, real, strlen(real))))
        return err_nomem(err);
    chain_key(out->of, out->key);
    return 0;
}

const char *warm_place_first(const char *of, struct arena *arena)
{
    const char *line = strchr(of, '\n'), *path = line ? strstr(line, " /") : NULL;

    return arena_strndup(arena, path ? path + 1 : "", path ? strcspn(path + 1, "\n") : 0);
}

static int parse_volume(const char *of, struct arena *arena, struct warm_place *out,
                        struct err *err)
{
    const char *path = warm_place_first(of, arena);

    if (!path)
        return err_nomem(err);
    if (!*path)
        return err_set(err, ERR_FORMAT, "not the text of a volume");
    if (warm_place_of_volume(path, arena, out, err) < 0)
        return err->kind == ERR_UNSUPPORTED ? err_set(err, ERR_USAGE, "%s is gone", path) : -1;
    return strcmp(out->of, of) == 0 ? 0 : err_set(err, ERR_USAGE, "%s is another one now", path);
}

int warm_place_parse(const char *of, struct arena *arena, struct warm_place *out, struct err *err)
{
    struct err why = ERR_INIT;
    struct chain chain;
    const char *now;

    if (strncmp(of, volume_heading, sizeof(volume_heading) - 1) == 0)
        return parse_volume(of, arena, out, err);
    if (chain_parse(of, arena, &chain, err) < 0)
        return -1;
    if (chain_describe(&chain, arena, &now, &why) < 0 || strcmp(now, of) != 0)
        return err_set(err, ERR_USAGE, "its layers are gone");
    warm_place_of_chain(&chain, out);
    return 0;
}
