/*
 * Values of a scanned TOML text, decoded: texts, lists of texts, true. Texts over several lines,
 * and escapes other than \" \\ \t \n, are not decoded. Results live as long as the arena.
 */
#ifndef SHIM_TOML_VALUE_H
#define SHIM_TOML_VALUE_H

#include "shim/admin/engine/toml.h"

struct toml_texts {
    const char **items;
    size_t count;
};

/* Returns the text of a key; NULL for no item, another value, or without memory. */
const char *toml_text(const struct toml *toml, const struct toml_item *item, struct arena *arena);

/*
 * Reads a list of texts. Returns false for no item, another value, or without memory; *out is
 * empty then.
 */
bool toml_texts(const struct toml *toml, const struct toml_item *item, struct arena *arena,
                struct toml_texts *out);

/* Returns true for a key with the value true. */
bool toml_true(const struct toml *toml, const struct toml_item *item);

#endif
