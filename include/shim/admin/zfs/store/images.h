/* Names of images and layers in a store, from the engine's own files, at one moment. */
#ifndef SHIM_ZFS_IMAGES_H
#define SHIM_ZFS_IMAGES_H

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

enum zfs_item_kind { ZFS_IMAGE, ZFS_LAYER };

struct zfs_item {
    enum zfs_item_kind kind;
    const char *name; /* of an image, or its ID if it has none; a layer's ID (Docker: chain ID) */
    const char *id;   /* what the name means; a layer's is its name */
    uint64_t bytes;   /* of a layer, unpacked, as the engine recorded it; 0 for images */
};

/* Sorted by kind, name and ID; texts in the arena. */
struct zfs_items {
    struct zfs_item *list;
    size_t count;
};

/*
 * Reads a store of Docker (graph drivers) or of podman, buildah and CRI-O (containers/storage).
 * `root` is a directory; no link is followed in it. ERR_UNSUPPORTED if it is neither, as
 * containerd's, whose names are in a database; ERR_FORMAT if a file is malformed. Files that a
 * concurrent engine removed are left out.
 */
int zfs_items_read(int root, struct arena *arena, struct zfs_items *out,
                   struct err *err) must_check;

#endif
