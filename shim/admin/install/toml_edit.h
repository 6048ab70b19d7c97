/*
 * Adds keys to a TOML file that people maintain, so that they can be removed without a trace:
 *
 *  - a table that the file does not have goes into a block at its end, between two marked lines;
 *  - in a table that it has, our line is marked at its end;
 *  - a key that it has is commented out, with a mark, and ours follows it.
 *
 * Nothing else of the file changes. Pure.
 */
#ifndef SHIM_TOML_EDIT_H
#define SHIM_TOML_EDIT_H

#include "base/buf.h"

#include <stdbool.h>

struct toml_set {
    const char *const *table; /* names from the root on */
    size_t depth;
    bool ours;               /* an error if the file has the key */
    const char *key, *value; /* as in the file */
};

/*
 * Removes the keys of an earlier edit, and adds these; those of one table are next to each other.
 * ERR_FORMAT if the text is not TOML, or is written in a way to which nothing can be added.
 */
int toml_edit(const struct buf *in, const struct toml_set *sets, size_t count, struct buf *out,
              struct err *err) must_check;

#endif
