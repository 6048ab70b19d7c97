#include "flatten/keeper/http/http.h"

#include <string.h>

const char *http_header(const struct http_reply *reply, const char *name, size_t nth, size_t *len)
{
    size_t name_len = strlen(name);

    for (const char *at = reply->headers.data; at && *at;) {
        size_t line = strcspn(at, "\n");
        if (line > name_len && at[name_len] == ':' && strncasecmp(at, name, name_len) == 0 &&
            nth-- == 0) {
            const char *value = at + name_len + 1, *end = at + line;
            value += strspn(value, " \t");
            while (end > value && strchr(" \t", end[-1]))
                end--;
            *len = end > value ? (size_t)(end - value) : 0;
            return value;
        }
        at += line + (at[line] == '\n');
    }
    return NULL;
}

int http_header_copy(const struct http_reply *reply, const char *name, char **out, struct err *err)
{
    size_t len;
    const char *value = http_header(reply, name, 0, &len);

    *out = NULL;
    if (value && !(*out = strndup(value, len)))
        return err_nomem(err);
    return 0;
}
