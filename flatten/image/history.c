#include "flatten/image/history.h"

const char *history_created_by(const struct json *config, size_t layer)
{
    const struct json *history = json_get(config, "history");

    for (size_t i = 0; i < json_count(history); i++) {
        const struct json *entry = json_at(history, i);
        if (history_is_empty_layer(entry))
            continue;
        if (layer-- == 0)
            return json_text(json_get(entry, "created_by"));
    }
    return NULL;
}
