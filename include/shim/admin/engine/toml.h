/*
 * TOML 1.0 as text: the positions of its tables and keys. Values are checked for their form, not
 * decoded: an editor of a file that people maintain must know where things are written, and leave
 * the rest alone.
 */
#ifndef SHIM_TOML_H
#define SHIM_TOML_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>

enum { TOML_DEPTH = 32, TOML_BYTES = 1024 * 1024 };

enum toml_kind { TOML_TABLE, TOML_TABLE_ARRAY, TOML_KEY };

struct toml_item {
    enum toml_kind kind;
    const char **path; /* all names from the root on, unquoted */
    size_t depth;
    size_t table_depth;            /* of the header above a key */
    size_t start, end;             /* its lines in the text, with the last newline */
    size_t value_start, value_end; /* of a key */
};

struct toml {
    const char *text;
    struct toml_item *items;
    size_t count;
};

/*
 * Finds all tables and keys. `text` is borrowed and NUL-terminated at `len`. ERR_FORMAT with the
 * line for a text that is not TOML.
 */
int toml_scan(const char *text, size_t len, struct arena *arena, struct toml *out,
              struct err *err) must_check;

/* Returns true if the item's path begins with these names. */
bool toml_starts_with(const struct toml_item *item, const char *const *path, size_t depth);

/* Returns the item with exactly this path, or NULL. */
const struct toml_item *toml_find(const struct toml *toml, const char *const *path, size_t depth);

/* Returns the line of a byte, from 1. */
size_t toml_line(const struct toml *toml, size_t offset);

#endif
