/*
 * Edits a JSON text that people maintain: only the member in question changes, and a new one is
 * written in the manner of its neighbours. (json.h edits documents for programs, and writes edited
 * parts compactly.)
 *
 * The text is one object, without comments. Members are named by a path of keys.
 */
#ifndef SHIM_JSON_TEXT_H
#define SHIM_JSON_TEXT_H

#include "base/buf.h"
#include "base/cleanup.h"

/*
 * Sets the member to a value, itself JSON; missing objects on the path are made. A value that means
 * the same already stays as it is written. ERR_FORMAT if something on the path is no object.
 */
int json_text_set(struct buf *text, const char *const *path, size_t depth, const char *value,
                  struct err *err) must_check;

/* Removes the member, if it is there. */
int json_text_remove(struct buf *text, const char *const *path, size_t depth,
                     struct err *err) must_check;

#endif
