/*
 * Where an image comes from, found but not read: the half of opening an image that needs names,
 * networks and daemons. The other half, source_image, parses; it needs nothing but what is in here,
 * and is what a sandbox has to hold.
 */
#ifndef FLATTEN_SOURCE_H
#define FLATTEN_SOURCE_H

#include "flatten/image/blob_store.h"
#include "flatten/image/image.h"
#include "flatten/name/reference.h"

/* An empty temporary file without a name: a descriptor, the caller's, or -1. */
typedef int spool_new(void *ctx, struct err *err);

struct source {
    const struct reference *ref; /* borrowed */
    char *selector; /* which image of several, instead of ref->name: a name or "@N"; or NULL */

    /* docker-archive, oci-archive, docker-daemon */
    int fd;           /* owned: the archive as it lies, perhaps a pipe, perhaps compressed; or -1 */
    bool regular;     /* it is a file */
    bool plain;       /* uncompressed and seekable: known once it has been read */
    spool_new *spool; /* makes room for what must be spooled */
    void *spool_ctx;  /* borrowed */

    /* oci, docker:// */
    struct blob_store *store; /* owned; or NULL */

    /* docker:// : what the reference names */
    struct digest root;
    uint64_t root_size;
    char *root_type; /* as the server says; or NULL */

    /* docker-daemon, docker:// */
    char *name;              /* what to call the image; or NULL */
    char *os, *architecture; /* that the daemon was asked for; or NULL */
};

/*
 * Finds it. `platform` may be NULL; only the daemon is told. A daemon's image is copied into a
 * temporary file (spool.h); where that has no room the error says so.
 */
struct source *source_open(const struct reference *ref, const char *platform,
                           struct err *err) must_check;

/*
 * Where an archive or a layout has its images: their places, as "@N" names them, in order. *places
 * is the caller's.
 */
int source_places(struct source *s, size_t **places, size_t *count, struct err *err) must_check;

/* Reads an image out of it: `platform` as image_open has it. To be called as often as needed. */
struct image *source_image(struct source *s, const char *platform, struct err *err) must_check;

/*
 * What the daemon says the layers of its image are, without handing them out: appends their
 * diff_ids, each with its NUL.
 */
int source_diff_ids(const struct reference *ref, struct buf *out, struct err *err) must_check;

void source_free(struct source *s);

DEFINE_CLEANUP(source, struct source, source_free)
#define _cleanup_source_ _cleanup_(cleanup_source)

/* ---- for source_open and source_image alone ---- */

int source_list_archive(struct source *s, size_t **places, size_t *count,
                        struct err *err) must_check;
int source_list_layout(struct source *s, size_t **places, size_t *count,
                       struct err *err) must_check;

/* What chooses from several: s->selector, or the reference's own; or NULL. */
static inline const char *source_selector(const struct source *s)
{
    return s->selector ? s->selector : s->ref->name;
}

int source_find_archive(struct source *s, struct err *err) must_check;
int source_find_layout(struct source *s, struct err *err) must_check;
int source_find_daemon(struct source *s, const char *platform, struct err *err) must_check;
int source_find_registry(struct source *s, struct err *err) must_check;

struct image *source_read_archive(struct source *s, const char *platform,
                                  struct err *err) must_check;
struct image *source_read_layout(struct source *s, const char *platform,
                                 struct err *err) must_check;
struct image *source_read_daemon(struct source *s, struct err *err) must_check;
struct image *source_read_registry(struct source *s, const char *platform,
                                   struct err *err) must_check;

#endif
