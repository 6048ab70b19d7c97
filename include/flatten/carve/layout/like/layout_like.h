/*
 * The layout of a version of an image, by generations: layers of the previous version are kept,
 * byte for byte, while that pays, as a log-structured store keeps its segments. What changed goes
 * into new layers on top of them. What the kept layers show and the new version does not have is
 * whited out in the newest layer, the state layer, which is always made anew.
 *
 * A kept layer holds *dead* bytes: files that do not show any more, or not as they are in this
 * layer. Layers are rewritten (their files that still show go to new layers) where the dead bytes,
 * the layers or the lookups are too many: those that need the least bytes for it.
 *
 * A directory's header is written as it is in the newest new layer that has it; the state layer
 * describes those of which only kept layers have another header.
 *
 * Pure, and exact: the layers, applied in their order by the rules of overlayfs or of the image
 * specification, show the tree of the new version.
 */
#ifndef FLATTEN_LAYOUT_LIKE_H
#define FLATTEN_LAYOUT_LIKE_H

#include "flatten/carve/layout/layout.h"

/*
 * The first 128 bits of a SHA-256 of all that an entry shows: for a file type, mode, owner, time,
 * attributes, content or target; for a directory the same without content. Not of its path. Zero:
 * unknown, equal to nothing.
 */
struct layout_identity {
    uint64_t part[2];
};

enum layout_kind { LAYOUT_FILE, LAYOUT_DIR, LAYOUT_WHITEOUT, LAYOUT_OPAQUE };

/*
 * An entry of a previous layer. A layer has at most one entry for a path (a directory may also be
 * opaque), nothing below a file or a whiteout, and no opaque root: one that breaks this is not
 * kept, as engines disagree about it; nor is one with an entry of the root if the new version has
 * none, whose identity is zero. Directories need not have entries.
 */
struct layout_entry {
    struct layout_identity identity; /* of files and directories */
    uint64_t bytes; /* FILE: as layout_file.bytes, at its first name; 0 at further names */
    uint32_t node;
    uint32_t inode; /* FILE: the index of the entry of its first name in this layer */
    uint16_t layer; /* index into previous layers */
    uint8_t kind;   /* enum layout_kind */
};

struct layout_previous_layer {
    const char *label; /* borrowed; or NULL */
    enum owner_tier tier;
    bool state; /* the state layer of a carved image: never kept */
};

/* The previous image; paths that the new one does not have are in the tree, too. */
struct layout_previous {
    const struct layout_previous_layer *layers; /* oldest first */
    size_t layer_count;
    const struct layout_entry *entries; /* of the oldest layer first */
    size_t entry_count;
};

/* Nothing, or a directory that no entry describes. */
#define LAYOUT_NO_ENTRY UINT32_MAX

/*
 * Returns by node of the tree the index of the entry that all layers of the previous image show
 * there, or LAYOUT_NO_ENTRY. The caller frees it; NULL with an error, as from layout_like_make.
 */
uint32_t *layout_previous_shown(struct tree *tree, const struct layout_previous *previous,
                                struct err *err) must_check;

/* Dead bytes at most, of all bytes, and mean probes at most, by default. */
#define LAYOUT_MAX_DEAD   0.10
#define LAYOUT_MAX_PROBES 1.5

struct layout_like_options {
    struct layout_options layout;
    double max_dead;   /* share of the bytes of all layers, dead ones included */
    double max_probes; /* or 1.1 times those of a layout without --like, if that is more */
};

/* The reason why a previous layer is kept or not; the last two depend on options. */
enum layout_fate {
    LAYOUT_KEPT,
    LAYOUT_STATE,   /* it is the state layer, which is made anew */
    LAYOUT_UNSOUND, /* not to be shown as it is (struct layout_entry) */
    LAYOUT_UNUSED,  /* no file of it shows any more */
    LAYOUT_DEAD,    /* too many of its bytes are dead */
    LAYOUT_MANY,    /* the layers were too many */
    LAYOUT_SLOW,    /* the lookups were too many */
    LAYOUT_FATES,
};

struct layout_like {
    struct layout layout; /* the kept layers, oldest first, then new ones, then the state layer */
    size_t kept;
    uint16_t *previous;  /* by kept layer: its index among the previous layers */
    uint8_t *fates;      /* by previous layer: enum layout_fate */
    uint32_t *whiteouts; /* nodes that the state layer hides */
    size_t whiteout_count;
    uint64_t live, dead; /* bytes in kept layers */
    uint64_t transfer;   /* bytes in new layers */
};

/*
 * Makes the layout. `identities` are the new version's, by node: files under each of their names,
 * and directories. ERR_USAGE as layout_make; ERR_FORMAT if entries are not in the order of their
 * layers. The caller clears *out with layout_like_clear, also after a failure.
 */
int layout_like_make(const struct layout_input *in, const struct layout_identity *identities,
                     const struct layout_previous *previous,
                     const struct layout_like_options *options, struct layout_like *out,
                     struct err *err) must_check;

/* Frees what the layout owns, and zeroes it. */
void layout_like_clear(struct layout_like *l);

#define _cleanup_layout_like_ _cleanup_(layout_like_clear)

#endif
