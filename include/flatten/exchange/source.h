/*
 * A source of images, found but not read. The keeper finds it, with names, networks and daemons
 * (source_open.h); the reader gets a copy over the wire (reader.h) and parses it (image_source.h).
 */
#ifndef FLATTEN_SOURCE_H
#define FLATTEN_SOURCE_H

#include "flatten/exchange/blob_store.h"
#include "flatten/name/reference.h"

#include <stdbool.h>

/* Makes an empty temporary file without a name. Returns a descriptor, the caller's, or -1. */
typedef int spool_new(void *ctx, struct err *err);

/* Returns 0 if the daemon has image `number` where it was when it was found; else -1. */
typedef int source_still(void *ctx, size_t number, struct err *err);

/* docker-archive, oci-archive */
struct source_archive {
    int fd;       /* owned: the archive as it lies, perhaps a pipe, perhaps compressed */
    bool regular; /* fd is a regular file */
    /* For the reader, which needs an archive that is uncompressed and seekable: */
    bool plain;       /* fd is one; set by the first reading */
    spool_new *spool; /* makes the file for a copy that is one */
    void *spool_ctx;  /* borrowed */
};

/* oci */
struct source_layout {
    struct blob_store *store; /* owned */
};

/* docker://, and an image in the store of containerd */
struct source_registry {
    struct blob_store *store; /* owned */
    struct digest root;       /* of the manifest or index that the reference names */
    uint64_t root_size;       /* bytes */
    char *root_type;          /* media type, as the registry says; or NULL */
    char *name;               /* of the image, "HOST/NAME:TAG"; NULL for a digest */
};

/* docker-daemon, containers-storage */
struct source_daemon {
    struct source_registry blobs; /* of an image in the store of containerd; else without a store,
                                     and there is: */
    int fd;                  /* owned: an archive in a regular file, as the engine saves it; or the
                                socket of a walk (walk.h), if there is a config */
    struct buf config;       /* of an image whose tree is walked; else empty */
    bool apart;              /* of a walk: for the reader: of each layer by itself */
    uint64_t size;           /* of the files in all of its layers, bytes; 0: not known */
    char *place;             /* for the keeper: where the engine has the layers of a walk */
    char *why;               /* the reason why the tree is not walked; or NULL */
    source_still *still;     /* for the reader: checks that the engine has the image, still */
    void *still_ctx;         /* borrowed */
    size_t number;           /* of the source: for `still` */
    char *name;              /* of the image, "NAME:TAG"; or NULL */
    char *os, *architecture; /* that the engine was asked for; or NULL */
};

struct source {
    const struct reference *ref; /* borrowed; its transport tells which of these there is: */
    union {
        struct source_archive archive;
        struct source_layout layout;
        struct source_registry registry;
        struct source_daemon daemon;
    };
};

/* Returns a source that holds nothing but `ref`, or NULL without memory. */
struct source *source_new(const struct reference *ref, struct err *err) must_check;

/* Frees the source with its file or store. */
void source_free(struct source *s);

DEFINE_CLEANUP(source, struct source, source_free)
#define _cleanup_source_ _cleanup_(cleanup_source)

/*
 * Appends a sentence that says why an engine's image is not read in its store. Nothing for any
 * other source.
 */
void source_put_why(const struct source *s, struct buf *out);

/* Returns the store of a layout, a registry or containerd; NULL for the others. */
struct blob_store *source_store(const struct source *s);

#endif
