/*
 * The kinds of sources, for source_open: each is in the source of its name. Each fills its part of
 * a fresh struct source, which is freed by the caller also after a failure.
 */
#ifndef FLATTEN_SOURCE_BACKENDS_H
#define FLATTEN_SOURCE_BACKENDS_H

#include "flatten/exchange/source.h"
#include "flatten/keeper/source/source_open.h"

/* Opens the file; no byte of it is read. "-" is standard input. */
int source_find_archive(struct source *s, struct err *err) must_check;

/* Opens the directory. */
int source_find_layout(struct source *s, struct err *err) must_check;

/* A store of the blobs in a directory, without the files of a layout. Takes `dir`, in any case. */
struct blob_store *source_directory_store(int dir, struct err *err) must_check;

/* Walks the image, or downloads it into a temporary file. */
int source_find_daemon(struct source *s, const struct source_choice *choice,
                       struct err *err) must_check;

/* Walks the image, or has podman save it into a temporary file. */
int source_find_storage(struct source *s, const struct source_choice *choice,
                        struct err *err) must_check;

/* As source_diff_ids, of an image of the daemon. */
int source_diff_ids_daemon(const struct reference *ref, struct buf *out,
                           struct err *err) must_check;

/* As source_diff_ids, of an image of podman. */
int source_diff_ids_storage(const struct reference *ref, struct buf *out,
                            struct err *err) must_check;

/* As source_still_there, of an image of the daemon. */
int source_still_there_daemon(const struct source *s, struct err *err) must_check;

/* As source_still_there, of an image of podman. */
int source_still_there_storage(const struct source *s, struct err *err) must_check;

/* Fetches the manifest or index that the reference names, and opens a store for the rest. */
int source_find_registry(struct source *s, struct err *err) must_check;

#endif
