/*
 * Edits of a JSON text for people: only the member at hand changes, and a new one is written in the
 * manner of its neighbours. (json.h edits documents for programs: what it touches becomes compact.)
 *
 * The text is one object, without comments. Members are named by a path of keys.
 */
#ifndef SHIM_JSON_TEXT_H
#define SHIM_JSON_TEXT_H

#include "base/buf.h"
#include "base/cleanup.h"

/*
 * Gives the member that value, itself JSON; what is missing on the way is made. A value that says
 * the same already stays as it is written. ERR_FORMAT where something on the way is no object.
 */
int json_text_set(struct buf *text, const char *const *path, size_t depth, const char *value,
                  struct err *err) must_check;

/* Takes the member out, if it is there. */
int json_text_remove(struct buf *text, const char *const *path, size_t depth,
                     struct err *err) must_check;

#endif
