/* The history in an image's config (image-spec config.md, "history"). */
#ifndef FLATTEN_HISTORY_H
#define FLATTEN_HISTORY_H

#include "base/json/json.h"

#include <stddef.h>

/* True for an entry of a step that made no layer. */
static inline bool history_is_empty_layer(const struct json *entry)
{
    const struct json *flag = json_get(entry, "empty_layer");

    return json_is(flag, JSON_BOOL) && flag->boolean;
}

/* Returns the command that made the layer, from the oldest, 0; NULL if the history lacks it. */
const char *history_created_by(const struct json *config, size_t layer);

#endif
