#include "flatten/layer/layer_limits.h"

#include "flatten/layer/layer.h"

#include <limits.h>
#include <string.h>

static const char whiteout_prefix[] = ".wh.";
static const uint64_t most_sparse = (uint64_t)64 << 30; /* bytes of a file with holes */

struct layer_map layer_map_of(struct archive_entry *header)
{
    struct layer_map map = {.sparse = archive_entry_sparse_count(header) > 0};
    la_int64_t at, len;

    if (!map.sparse) {
        map.data = (uint64_t)archive_entry_size(header);
        return map;
    }
    /* Only behind the count, which frees a map without holes. */
    archive_entry_sparse_reset(header);
    while (archive_entry_sparse_next(header, &at, &len) == ARCHIVE_OK)
        map.data += (uint64_t)len;
    return map;
}

static bool is_owner(int64_t id)
{
    return id >= 0 && id <= UINT32_MAX;
}

static int check_path(const struct buf *path, struct err *err)
{
    const char *name = path->data;
    size_t longest = 0, prefix = 0;

    for (size_t len; *name; name += len + (name[len] == '/')) {
        len = strcspn(name, "/");
        /* No engine creates a whiteout under its own name, so the hidden name may have full length.
         */
        prefix = strncmp(name, whiteout_prefix, sizeof(whiteout_prefix) - 1) == 0
                     ? sizeof(whiteout_prefix) - 1
                     : 0;
        if (len - prefix > longest)
            longest = len - prefix;
    }
    if (path->len - prefix >= PATH_MAX)
        return err_set(err, ERR_LIMIT, "a path of %zu bytes", path->len);
    return longest > NAME_MAX ? err_set(err, ERR_LIMIT, "a name of %zu bytes", longest) : 0;
}

int layer_limits_check(const struct buf *path, struct archive_entry *header,
                       const struct layer_map *map, struct unpack_budget *unpack, struct err *err)
{
    bool sparse = map && map->sparse;

    if (check_path(path, err) < 0)
        return -1;
    if (archive_entry_symlink(header) && strlen(archive_entry_symlink(header)) >= PATH_MAX)
        return err_set(err, ERR_LIMIT, "a symbolic link to a path of %zu bytes",
                       strlen(archive_entry_symlink(header)));
    if (!is_owner(archive_entry_uid(header)) || !is_owner(archive_entry_gid(header)))
        return err_set(err, ERR_LIMIT, "the owner %lld:%lld, which is not two numbers of 32 bits",
                       (long long)archive_entry_uid(header), (long long)archive_entry_gid(header));
    if (archive_entry_xattr_count(header) > LAYER_MOST_XATTRS)
        return err_set(err, ERR_LIMIT, "more than %d extended attributes", LAYER_MOST_XATTRS);
    if (sparse && (uint64_t)archive_entry_size(header) > most_sparse)
        return err_set(err, ERR_LIMIT, "a sparse file of more than %llu GiB",
                       (unsigned long long)(most_sparse >> 30));
    return sparse && unpack ? unpack_budget_spend(unpack, (uint64_t)archive_entry_size(header), err)
                            : 0;
}
