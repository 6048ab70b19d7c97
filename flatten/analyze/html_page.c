#include "flatten/analyze/html_page.h"

#include <string.h>

/* The build makes these from flatten/analyze/page/. */
extern const char page_template[], page_style[], page_script[];

void html_page_put_data(struct buf *out, const char *json, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)json[i];
        if (c == '<' || c == '>' || c == '&')
            buf_printf(out, "\\u%04x", c);
        else if (len - i >= 3 && (memcmp(json + i, "\xe2\x80\xa8", 3) == 0 ||
                                  memcmp(json + i, "\xe2\x80\xa9", 3) == 0))
            buf_printf(out, "\\u202%c", json[i += 2] == '\xa8' ? '8' : '9');
        else
            buf_putc(out, json[i]);
    }
}

static int put_images(const struct analysis *list, size_t count,
                      const struct dedup_report *together, struct buf *out, struct err *err)
{
    _cleanup_buf_ struct buf json = BUF_INIT;

    buf_puts(&json, "{\"version\":1,\"images\":[");
    for (size_t i = 0; i < count; i++) {
        buf_puts(&json, i ? "," : "");
        analysis_put_json(&list[i], together, &json);
        if (buf_check(&json, err) < 0)
            return -1;
        buf_truncate(&json, json.len - 1);
        buf_puts(&json, ",\"tree\":");
        if (html_page_put_tree(&list[i].stack, &json, err) < 0)
            return -1;
        buf_puts(&json, ",\"hidden\":");
        if (html_page_put_hidden(&list[i].stack, &json, err) < 0)
            return -1;
        buf_putc(&json, '}');
    }
    buf_putc(&json, ']');
    if (count > 1 && together) {
        buf_puts(&json, ",\"dedup\":");
        dedup_put_json(together, &json);
    }
    buf_putc(&json, '}');
    if (buf_check(&json, err) < 0)
        return -1;
    html_page_put_data(out, json.data, json.len);
    return 0;
}

int html_page_make(const struct analysis *list, size_t count, const struct dedup_report *together,
                   struct buf *out, struct err *err)
{
    const char *rest = page_template, *mark;

    while ((mark = strchr(rest, '@'))) {
        buf_append(out, rest, (size_t)(mark - rest));
        rest = mark + strcspn(mark + 1, "@") + 2;
        if (strncmp(mark, "@STYLE@", 7) == 0)
            buf_puts(out, page_style);
        else if (strncmp(mark, "@SCRIPT@", 8) == 0)
            buf_puts(out, page_script);
        else if (put_images(list, count, together, out, err) < 0)
            return -1;
    }
    buf_puts(out, rest);
    return buf_check(out, err);
}
