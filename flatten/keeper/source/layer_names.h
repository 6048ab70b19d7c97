/* The directories of an image's layers in the store of an engine with an overlay driver. */
#ifndef FLATTEN_LAYER_NAMES_H
#define FLATTEN_LAYER_NAMES_H

#include "base/err.h"
#include "base/json/json.h"

struct layer_names {
    char *text;         /* owned: the paths, each with a NUL in the place of its colon */
    const char **names; /* owned: relative to ROOT, newest first */
    size_t count, cap;
};

/*
 * Takes the directories from GraphDriver.Data of an inspected image: each is ROOT/DRIVER/ID/diff.
 * -1 with the reason if they have another form. The caller clears *out in any case.
 */
int layer_names_list(const struct json *facts, const char *root, const char *driver,
                     struct layer_names *out, struct err *why) must_check;

/* Frees the names. */
void layer_names_clear(struct layer_names *l);

#define _cleanup_layer_names_ _cleanup_(layer_names_clear)

/*
 * Returns a text with the image's Id and the directories of its layers, for the caller to free;
 * NULL without memory.
 */
char *layer_names_place(const struct json *facts) must_check;

/* ERR_SYSTEM if a directory of that text is gone, because another program has removed it. */
int layer_names_check(const char *place, struct err *err) must_check;

#endif
