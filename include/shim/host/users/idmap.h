/*
 * User and group ids through user namespaces (user_namespaces(7)): the tables of
 * /proc/PID/uid_map and of linux.uidMappings in config.json.
 */
#ifndef SHIM_IDMAP_H
#define SHIM_IDMAP_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ID_RANGES = 340 }; /* the kernel's limit */

struct id_range {
    uint32_t inside, outside, count;
};

struct id_map {
    size_t count;
    struct id_range ranges[ID_RANGES];
};

/* Adds a range. ERR_FORMAT if it leaves 32 bits, ERR_LIMIT if there are too many. */
int id_map_add(struct id_map *map, uint64_t inside, uint64_t outside, uint64_t count,
               struct err *err) must_check;

/* Fills the map from the text of /proc/PID/uid_map. ERR_FORMAT. Pure. */
int id_map_parse(const char *text, struct id_map *map, struct err *err) must_check;

/* Sets *outside to the id outside. Returns false if nothing maps the id. */
bool id_map_outside(const struct id_map *map, uint32_t inside, uint32_t *outside);

/* Returns the first range with the id 0 outside, root if that is the host; NULL: none. Pure. */
const struct id_range *id_map_root(const struct id_map *map);

/* Returns true for the text of a map of every id to itself: the initial user namespace. Pure. */
bool id_map_is_identity(const char *text);

/* Reads the map of this process; `kind` is "uid" or "gid". */
int id_map_self(const char *kind, struct id_map *map, struct err *err) must_check;

#endif
