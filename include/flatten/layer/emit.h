/*
 * Gives the entries that a merge decided on to a sink: an entry's header under its path and kind in
 * the merged tree, and its content with the holes filled.
 */
#ifndef FLATTEN_EMIT_H
#define FLATTEN_EMIT_H

#include "flatten/layer/entry_sink.h"
#include "flatten/layer/layer.h"

DEFINE_CLEANUP(entry, struct archive_entry, archive_entry_free)
#define _cleanup_entry_ _cleanup_(cleanup_entry)

/*
 * Returns the header of a directory that no entry describes: mode 0755, owned by root, with the
 * mtime of `like`, the entry that needs it. The caller frees it.
 */
struct archive_entry *emit_implied_header(struct archive_entry *like, struct err *err) must_check;

/* Emits such a directory. */
int emit_implied(struct entry_sink *to, const char *path, struct archive_entry *like,
                 struct err *err) must_check;

/*
 * Emits a whiteout of the path, or an opaque marker in the directory: an empty file, mode 0, dated
 * 1970 (image-spec layer.md, "Whiteouts").
 */
int emit_whiteout(struct entry_sink *to, const char *path, struct err *err) must_check;
int emit_opaque(struct entry_sink *to, const char *dir, struct err *err) must_check;

/*
 * Emits an entry with its content, which is read from the reader's current entry. Adds the bytes of
 * content to *payload, which may be NULL. Changes `header`.
 */
int emit_entry(struct entry_sink *to, const char *path, struct archive_entry *header,
               struct layer_reader *content, uint64_t *payload, struct err *err) must_check;

/* Emits a hard link to `target`, with the attributes of `header`. Changes `header`. */
int emit_link(struct entry_sink *to, const char *path, const char *target,
              struct archive_entry *header, struct err *err) must_check;

/*
 * Emits the file `origin` under the path of a link to it, with the link's attributes: unpackers
 * apply a link's attributes to the file. Extended attributes add up.
 */
int emit_materialised(struct entry_sink *to, const char *path, struct archive_entry *link,
                      struct archive_entry *origin, struct layer_reader *content, uint64_t *payload,
                      struct err *err) must_check;

/*
 * Adds the xattrs of `origin` to the header of a link to it, except names that the link has itself.
 * ERR_LIMIT for more than LAYER_MOST_XATTRS in all: each of many links may add some.
 */
int emit_adopt_xattrs(struct archive_entry *link, struct archive_entry *origin,
                      struct err *err) must_check;

#endif
