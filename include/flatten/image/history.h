/* The history in an image's config (image-spec config.md, "history"). */
#ifndef FLATTEN_HISTORY_H
#define FLATTEN_HISTORY_H

#include "base/json/json.h"

/* True for an entry of a step that made no layer. */
static inline bool history_is_empty_layer(const struct json *entry)
{
    const struct json *flag = json_get(entry, "empty_layer");

    return json_is(flag, JSON_BOOL) && flag->boolean;
}

#endif
