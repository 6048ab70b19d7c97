#include "shim/admin/zfs/dataset.h"

#include "shim/admin/zfs/names.h"
#include "shim/admin/zfs/program.h"
#include "shim/admin/zfs/rows.h"
#include "shim/mount/source_wait.h"

#include <stdbool.h>
#include <string.h>
#include <sys/vfs.h>

enum { MAGIC_ZFS = 0x2fc12fc1, MAGIC_FUSE = 0x65735546, WAIT_MS = 5000 };

/*
 * Asks for the type of the file system. Shortens the path to what exists. A name is looked up in it
 * first: the kernel may know the directory itself without asking its server.
 */
static int type_of(char *path, struct statfs *out, struct err *err)
{
    _cleanup_free_ char *name = strf("%s/.flatbed-zfs", path);
    struct err ignored;

    if (!name)
        return err_nomem(err);
    if (source_wait(name, NULL, WAIT_MS, &ignored) > 0)
        return err_set(err, ERR_SYSTEM, "%s does not answer within %d s", path, WAIT_MS / 1000);
    while (statfs(path, out) < 0) {
        char *slash = strrchr(path, '/');
        if ((errno != ENOENT && errno != ENOTDIR) || path[1] == '\0')
            return err_sys(err, "%s", path);
        slash[slash == path] = '\0';
    }
    return 0;
}

int zfs_dataset_of(const char *path, struct arena *arena, const char **name, struct err *err)
{
    char *existing = arena_strndup(arena, path, strlen(path));
    const char *const words[] = {"zfs", "list", "-H", "-o", "name", "--", existing, NULL};
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct statfs type;

    *name = NULL;
    if (!existing)
        return err_nomem(err);
    if (path[0] != '/')
        return err_set(err, ERR_USAGE, "%s: expected an absolute path", path);
    if (type_of(existing, &type, err) < 0)
        return -1;
    bool fuse = (uint32_t)type.f_type == MAGIC_FUSE;
    if ((uint32_t)type.f_type != MAGIC_ZFS && !fuse)
        return 0;
    if (zfs_program(words, &text, err) < 0)
        return fuse ? 0 : err_wrap(err, "%s", existing);
    if (fuse && text.len == 0)
        return 0;
    char *found = arena_strndup(arena, text.data ? text.data : "", text.len);
    if (!found)
        return err_nomem(err);
    found[strcspn(found, "\n")] = '\0';
    if (!zfs_dataset_valid(found))
        return err_set(err, ERR_FORMAT, "%s: zfs names no dataset", existing);
    *name = found;
    return 0;
}

/* Reads properties, a list with commas. Fails if this version of ZFS does not have one of them. */
static int get(const char *properties, const char *name, struct arena *arena, struct zfs_rows *out,
               struct err *err)
{
    const char *const words[] = {"zfs",      "get", "-Hp", "-o", "name,property,value",
                                 properties, name,  NULL};
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (!zfs_dataset_valid(name))
        return err_set(err, ERR_FORMAT, "'%s' is no name of a dataset", name);
    return zfs_program(words, &text, err) < 0
               ? -1
               : zfs_rows_parse(text.data, text.len, arena, out, err);
}

/* Returns a property that older versions do not have, or NULL. */
static const char *get_newer(const char *property, const char *name, struct arena *arena)
{
    struct zfs_rows rows;
    struct err ignored;

    return get(property, name, arena, &rows, &ignored) < 0 ? NULL
                                                           : zfs_rows_value(&rows, name, property);
}

static uint64_t read_dedup_entries(const char *name)
{
    char pool[ZFS_NAME_MOST + 1];
    const char *const words[] = {"zpool", "status", "-D", pool, NULL};
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;

    snprintf(pool, sizeof(pool), "%.*s", (int)strcspn(name, "/"), name);
    return zfs_program(words, &text, &ignored) == 0 && text.data ? zfs_dedup_entries(text.data) : 0;
}

int zfs_dataset_read(const char *name, struct arena *arena, struct zfs_dataset *out,
                     struct err *err)
{
    struct zfs_rows rows;

    if (get("mountpoint,compression,atime,xattr,dedup,recordsize,used", name, arena, &rows, err) <
        0)
        return -1;
    *out = (struct zfs_dataset){
        .name = name,
        .mountpoint = zfs_rows_value(&rows, name, "mountpoint"),
        .compression = zfs_rows_value(&rows, name, "compression"),
        .atime = zfs_rows_value(&rows, name, "atime"),
        .relatime = get_newer("relatime", name, arena),
        .xattr = zfs_rows_value(&rows, name, "xattr"),
        .dedup = zfs_rows_value(&rows, name, "dedup"),
        .dnodesize = get_newer("dnodesize", name, arena),
        .recordsize = zfs_number(zfs_rows_value(&rows, name, "recordsize")),
        .used = zfs_number(zfs_rows_value(&rows, name, "used")),
    };
    if (out->dedup && strcmp(out->dedup, "off") != 0)
        out->dedup_entries = read_dedup_entries(name);
    return 0;
}
