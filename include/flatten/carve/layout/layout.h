/*
 * The layout of an image in new layers, as a pure function: files with owners and sizes become
 * layers.
 *
 * A file is an inode with all its names: it is never cut. Files of one owner stay together; owners
 * lie in tiers by how often they change, the least often at the bottom. An owner above a quarter of
 * the cap has a layer of its own, one above the cap is cut by directories, the others share layers
 * by rendezvous hashing of their names. So an owner's layer depends on its name, and not on what
 * else is in the image: versions of an image have equal layers. What no package owns is cut by
 * directories from the start.
 *
 * The last (newest) layer is the state layer: files that change with every version, and the headers
 * of all directories that lie in several layers, of those without files, and of the directories
 * above these. It is always there. A directory's header is to be written as it is in the newest
 * layer that has the directory (described), and neutral, with the same owner and mode but no time,
 * in all older ones.
 *
 * Each layer that has a directory costs lookups in it. Where they exceed LAYOUT_PROBES or those of
 * the source, and it helps, the newest layers describe split directories of which no newer layer
 * has a file: as few layers as suffice, because such a layer is another one when the time of the
 * directory changes. Where that is not quite enough for those of the source, up to a quarter fewer
 * layers are made.
 */
#ifndef FLATTEN_LAYOUT_H
#define FLATTEN_LAYOUT_H

#include "flatten/carve/owners/owners.h"

enum {
    LAYOUT_LAYERS = 60,       /* at most, by default */
    LAYOUT_MOST_LAYERS = 127, /* Docker takes no image with more */
};

/* Mean probes at most, if the places of headers can bring that about. */
#define LAYOUT_PROBES 1.3

/* By default, unpacked bytes of a layer at most. */
#define LAYOUT_CAP ((uint64_t)512 * 1000 * 1000)

enum { LAYOUT_NOT_DESCRIBED = UINT16_MAX };

/* A file that is to be placed: an inode that is no directory, with all its names. */
struct layout_file {
    uint32_t node;  /* its first name */
    uint32_t owner; /* index into owners */
    uint64_t bytes; /* it takes in an uncompressed layer, headers of all names included */
};

/* Further names of files: hard links. */
struct layout_name {
    uint32_t node, file;
};

struct layout_input {
    struct tree *tree; /* borrowed, as all of it */
    const struct layout_file *files;
    size_t file_count;
    const struct layout_name *names;
    size_t name_count;
    const uint8_t *is_dir; /* by node: 1 for directories that exist */
    const struct owners *owners;
};

struct layout_options {
    uint64_t cap;  /* unpacked bytes of a layer; 0: LAYOUT_CAP, or by `layers` if that is set */
    size_t layers; /* at most; 0: LAYOUT_LAYERS */
    double source_probes; /* mean probes of the source, which are not to be exceeded; 0: any */
};

struct layout_layer {
    enum owner_tier tier;
    uint64_t bytes; /* of its files */
    size_t files;
    char *label; /* for people: "CUDA 11.8 libraries (libcublas11, libcufft10 and 4 more)" */
};

struct layout {
    struct layout_layer *layers; /* oldest (bottom) first */
    size_t count;
    uint16_t *by_file;   /* index into layers */
    uint16_t *described; /* by node: the layer with the directory's header, which is the newest that
                            has it; or LAYOUT_NOT_DESCRIBED */
    uint64_t split_dirs; /* directories that more than one layer has, the state layer included */
    double probes;       /* mean layers searched for an existing path, as flatten analyze counts */
    size_t in_place;     /* the oldest so many layers are those of the previous version, in order */
};

/*
 * Makes the layout. The same files with the same owners give the same layers, whatever the order of
 * nodes, files and owners. No layer exceeds the cap unless one file does, or unless the layers are
 * too few: then the cap is doubled until they suffice. ERR_USAGE for more than LAYOUT_MOST_LAYERS,
 * ERR_SYSTEM without memory. It takes about 40 bytes a path, and n log n time. The caller clears
 * *out with layout_clear, also after a failure.
 */
int layout_make(const struct layout_input *in, const struct layout_options *options,
                struct layout *out, struct err *err) must_check;

/* Frees what the layout owns, and zeroes it. */
void layout_clear(struct layout *l);

#define _cleanup_layout_ _cleanup_(layout_clear)

#endif
