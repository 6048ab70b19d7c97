/*
 * From decisions to tar entries: copies an entry's header under the path and kind that the merge
 * gave it, and its content with the holes filled.
 */
#ifndef FLATTEN_EMIT_H
#define FLATTEN_EMIT_H

#include "flatten/layer/entry_sink.h"
#include "flatten/layer/layer.h"

DEFINE_CLEANUP(entry, struct archive_entry, archive_entry_free)
#define _cleanup_entry_ _cleanup_(cleanup_entry)

/* A directory that no layer describes: 0755, root's, dated as the entry that needs it. */
struct archive_entry *emit_implied_header(struct archive_entry *like, struct err *err) must_check;
int emit_implied(struct entry_sink *to, const char *path, struct archive_entry *like,
                 struct err *err) must_check;

/* What hides NAME, or all that is older in a directory: an empty file with nothing to say. */
int emit_whiteout(struct entry_sink *to, const char *path, struct err *err) must_check;
int emit_opaque(struct entry_sink *to, const char *dir, struct err *err) must_check;

/* An entry with its content, from the reader that stands on it. *payload, if not NULL, grows. */
int emit_entry(struct entry_sink *to, const char *path, struct archive_entry *header,
               struct layer_reader *content, uint64_t *payload, struct err *err) must_check;

/* A hard link to `target`, with the attributes of `header`. */
int emit_link(struct entry_sink *to, const char *path, const char *target,
              struct archive_entry *header, struct err *err) must_check;

/*
 * The content of the entry `origin`, under a link's path: unpackers apply a link's attributes to
 * what it links to, so the link's own count; extended attributes add up.
 */
int emit_materialised(struct entry_sink *to, const char *path, struct archive_entry *link,
                      struct archive_entry *origin, struct layer_reader *content, uint64_t *payload,
                      struct err *err) must_check;

/*
 * Adds to a link's header the xattrs of what it links to, where it has none of that name. More than
 * LAYER_MOST_XATTRS in all are ERR_LIMIT: each of many links may bring some.
 */
int emit_adopt(struct archive_entry *link, struct archive_entry *origin,
               struct err *err) must_check;

#endif
