/*
 * Keys of ours in somebody else's TOML file, so that they can be taken out again without a trace:
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
    bool ours;               /* nobody else's: an error if the file has it */
    const char *key, *value; /* as they are written */
};

/*
 * Takes out what an edit before put in, and puts in these, those of one table next to each other.
 * ERR_FORMAT where the text is not TOML, or says it in a way that cannot be added to.
 */
int toml_edit(const struct buf *in, const struct toml_set *sets, size_t count, struct buf *out,
              struct err *err) must_check;

#endif
