#include "shim/host/users/idmap.h"

#include "base/fdio.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int id_map_add(struct id_map *map, uint64_t inside, uint64_t outside, uint64_t count,
               struct err *err)
{
    if (map->count == ID_RANGES)
        return err_set(err, ERR_LIMIT, "more than %d id mappings", ID_RANGES);
    if (inside > UINT32_MAX || outside > UINT32_MAX || count > UINT32_MAX ||
        inside + count > (uint64_t)UINT32_MAX + 1 || outside + count > (uint64_t)UINT32_MAX + 1)
        return err_set(err, ERR_FORMAT, "an id mapping leaves 32 bits");
    map->ranges[map->count++] =
        (struct id_range){(uint32_t)inside, (uint32_t)outside, (uint32_t)count};
    return 0;
}

int id_map_parse(const char *text, struct id_map *map, struct err *err)
{
    map->count = 0;
    for (const char *line = text; *line;) {
        uint64_t inside, outside, count;
        const char *end = strchr(line, '\n');

        if (sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64, &inside, &outside, &count) != 3)
            return err_set(err, ERR_FORMAT, "not an id map");
        if (id_map_add(map, inside, outside, count, err) < 0)
            return -1;
        line = end ? end + 1 : line + strlen(line);
    }
    return 0;
}

bool id_map_outside(const struct id_map *map, uint32_t inside, uint32_t *outside)
{
    for (size_t i = 0; i < map->count; i++) {
        const struct id_range *r = &map->ranges[i];
        if (inside >= r->inside && inside - r->inside < r->count) {
            *outside = r->outside + (inside - r->inside);
            return true;
        }
    }
    return false;
}

const struct id_range *id_map_root(const struct id_map *map)
{
    for (size_t i = 0; i < map->count; i++)
        if (map->ranges[i].outside == 0 && map->ranges[i].count)
            return &map->ranges[i];
    return NULL;
}

bool id_map_is_identity(const char *text)
{
    uint32_t inside, outside, count;
    int end = 0;

    return sscanf(text, "%" SCNu32 " %" SCNu32 " %" SCNu32 " %n", &inside, &outside, &count,
                  &end) == 3 &&
           !text[end] && inside == 0 && outside == 0 && count == UINT32_MAX;
}

int id_map_self(const char *kind, struct id_map *map, struct err *err)
{
    enum { LARGEST = 64 * 1024 };
    _cleanup_buf_ struct buf text = BUF_INIT;
    char path[32];

    snprintf(path, sizeof(path), "/proc/self/%s_map", kind);
    if (file_read(AT_FDCWD, path, LARGEST, &text, err) < 0)
        return -1;
    return id_map_parse(text.data ? text.data : "", map, err);
}
