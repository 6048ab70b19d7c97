/*
 * A place whose files are recorded: the layers of an image, or a volume. It is recognised by a text
 * and found by a key, the text's hash: a chain of layers by its record (chain.h), a volume by the
 * path, inode and birth of its directory.
 */
#ifndef SHIM_WARM_PLACE_H
#define SHIM_WARM_PLACE_H

#include "shim/restack/cache/chain.h"

struct warm_place {
    const char *const *paths; /* directories, topmost first: a file is in the first that has it */
    size_t count;
    const char *of; /* the text */
    char key[CHAIN_KEY];
    bool volume;
};

/* Makes the place of a chain, which it borrows from. */
void warm_place_of_chain(const struct chain *chain, struct warm_place *out);

/*
 * Makes the place of a volume by its directory, an absolute path. ERR_UNSUPPORTED: it is no
 * directory, or no disk of this host holds it (a network share, FUSE, memory), so that nothing is
 * read ahead from it. The result is in the arena.
 */
int warm_place_of_volume(const char *path, struct arena *arena, struct warm_place *out,
                         struct err *err) must_check;

/*
 * Makes the place that a text describes. ERR_FORMAT: none does; ERR_USAGE: its directories are
 * gone, or others are there by now.
 */
int warm_place_parse(const char *of, struct arena *arena, struct warm_place *out,
                     struct err *err) must_check;

/* Returns the directory that the text names first, in the arena: of the topmost layer, or of the
 * volume. "" if it is no such text; NULL without memory. */
const char *warm_place_first(const char *of, struct arena *arena) must_check;

#endif
