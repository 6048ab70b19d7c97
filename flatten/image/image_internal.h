/* The readers of the room's transports, for source_image (image_source.h) and for one another. */
#ifndef FLATTEN_IMAGE_INTERNAL_H
#define FLATTEN_IMAGE_INTERNAL_H

#include "flatten/exchange/source.h"
#include "flatten/image/image.h"
#include "flatten/image/image_source.h"

/* For documents of images. */
extern const struct json_options image_json_options;

/* Puts the source's reference before the error. */
void image_wrap_reference(const struct reference *ref, struct err *err);

/* ---- image.c ---- */

/* Makes an image of so many layers, which have numbers and nothing else. */
struct image *image_new_layers(size_t count, struct err *err) must_check;

/* ---- image_artifact.c ---- */

/*
 * True for a manifest of an artefact that is no image: its config has another media type
 * (image-spec manifest.md, "Guidelines for Artifact Usage").
 */
bool artifact_is_one(const struct json *manifest);

/* Makes an image of the layers of an artefact. ERR_UNSUPPORTED for one that is no tar archive. */
struct image *artifact_new(const struct json *manifest, struct err *err) must_check;

/* ---- image_oci.c ---- */

/* The image that a descriptor leads to, through indexes. */
struct image *image_read_descriptor(struct blob_store *store, struct json *descriptor,
                                    const struct image_choice *choice, struct err *err) must_check;

/* ---- image_layout.c; `name` is a tag or "@N", or NULL ---- */

/* The places of a layout's images in its index.json; the caller frees *places. */
int image_list_layout(struct blob_store *store, size_t **places, size_t *count,
                      struct err *err) must_check;

/* The image of a layout that `name` and choice->platform single out. */
struct image *image_read_layout(struct blob_store *store, const char *name,
                                const struct image_choice *choice, struct err *err) must_check;

/* ---- image_archive.c; `name` is a name, a tag or "@N", or NULL ---- */

/* The same for an archive. */
int image_list_archive(struct source *s, size_t **places, size_t *count,
                       struct err *err) must_check;
struct image *image_read_archive(struct source *s, const char *name,
                                 const struct image_choice *choice, struct err *err) must_check;

/* The only image of an uncompressed archive of either kind in a regular file. Takes fd, in any
 * case. */
struct image *image_read_archive_fd(int fd, struct err *err) must_check;

/* ---- image_daemon.c, image_registry.c ---- */

struct image *image_read_daemon(const struct source_daemon *d, const struct image_choice *choice,
                                struct err *err) must_check;
struct image *image_read_registry(const struct source_registry *r,
                                  const struct image_choice *choice, struct err *err) must_check;

#endif
