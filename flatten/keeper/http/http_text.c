#include "flatten/keeper/http/http.h"

int http_text_begin(void *ctx, const struct http_reply *reply, struct err *err)
{
    (void)reply, (void)err;
    buf_truncate(&((struct http_text *)ctx)->text, 0);
    return 0;
}

int http_text_take(void *ctx, const char *data, size_t len, struct err *err)
{
    struct http_text *t = ctx;

    if (len > t->limit - t->text.len)
        return err_set(err, ERR_LIMIT, "the reply has more than %zu bytes", t->limit);
    buf_append(&t->text, data, len);
    return buf_check(&t->text, err);
}
