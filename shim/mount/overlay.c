#include "shim/mount/overlay.h"

#include <string.h>

char *overlay_option(const char *key, const char *dir, const char *sub, struct arena *arena)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    buf_printf(&text, "%s=", key);
    for (const char *p = dir; *p; p++) {
        if (strchr("\\,:", *p))
            buf_putc(&text, '\\');
        buf_putc(&text, *p);
    }
    if (sub)
        buf_printf(&text, "/%s", sub);
    return text.failed ? NULL : arena_strndup(arena, text.data, text.len);
}

int overlay_options(const char *pool, const char *source, struct json_doc *doc, struct json *list,
                    struct err *err)
{
    _cleanup_arena_ struct arena arena = {0};
    const char *texts[] = {
        overlay_option("lowerdir", pool, NULL, &arena),
        overlay_option("upperdir", source, OVERLAY_UPPER, &arena),
        overlay_option("workdir", source, OVERLAY_WORK, &arena),
        "index=on",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        if (!texts[i])
            return err_nomem(err);
        json_append(doc, list, json_string(doc, texts[i]));
    }
    return 0;
}
