/*
 * The inventory of a carved image: what each layer below the state layer has, as a text for an
 * annotation of the manifest. With it, a later `flatten carve --like` chooses the layers to keep
 * without reading any.
 *
 * The text is base64 of a zstd frame (RFC 8878) of these bytes, where numbers are LEB128:
 *
 *   version   the byte 2
 *   layers    their number; then for each its diff_id, 32 bytes
 *   sizes     the numbers of entries, and of bytes of facts, paths and digests
 *   facts     for each layer the number of its entries; for each entry a byte
 * (inventory_internal.h), then for a file its bytes in blocks of 512, or for a further name of a
 * file how many entries before it that file is paths     for each entry the number of bytes that it
 * shares with the path before it, then the rest with a NUL digests   of 16 bytes each
 *
 * Large files have identities of their own. The others share: the digest is that of the identities
 * of all that share it, in their order. So a group of small files is known to be the same only as a
 * whole; what is no longer shown has no identity.
 *
 * A text from elsewhere is hostile: it is bounded, and one that breaks a rule is not used. But it
 * is believed, as the layers are not there to compare: who takes an image's inventory trusts those
 * who published that image.
 */
#ifndef FLATTEN_INVENTORY_H
#define FLATTEN_INVENTORY_H

#include "base/digest/sha256.h"
#include "flatten/carve/layout/like/layout_like.h"

enum {
    INVENTORY_MOST_TEXT = 2 << 20,    /* bytes: registries take manifests of up to 4 MiB */
    INVENTORY_MOST_BYTES = 64 << 20,  /* when decompressed */
    INVENTORY_MOST_ENTRIES = 1 << 22, /* in all layers */
    INVENTORY_LARGE = 128 << 10,      /* bytes of a file with an identity of its own */
};

struct inventory {
    struct digest *diff_ids; /* of the layers, oldest first */
    size_t layer_count;
    struct layout_entry *entries; /* of the oldest layer first */
    size_t entry_count, entry_cap;
    /* By entry, for inventory_write: neighbours of one layer with the same number may share. */
    uint64_t *groups;
    size_t group_cap;
};

/*
 * Appends the text. Entries of kind LAYOUT_FILE name the first of their names as struct
 * layout_entry says. ERR_LIMIT if the text or its content were too large for inventory_read.
 */
int inventory_write(const struct inventory *in, struct tree *tree, struct buf *out,
                    struct err *err) must_check;

/* Identities of a new version, by node: what an entry of the inventory may equal. Borrowed. */
struct inventory_known {
    const struct layout_identity *list;
    uint32_t count;
};

/*
 * Reads a text, and adds its paths to the tree. An entry has an identity if it has one of its own,
 * or if all that share with it are the same in the new version. ERR_FORMAT and ERR_LIMIT for a text
 * that is not used. The caller clears *out with inventory_clear, also after a failure.
 */
int inventory_read(const char *text, struct tree *tree, const struct inventory_known *known,
                   struct inventory *out, struct err *err) must_check;

/* Frees what it owns, and zeroes it. */
void inventory_clear(struct inventory *i);

#define _cleanup_inventory_ _cleanup_(inventory_clear)

#endif
