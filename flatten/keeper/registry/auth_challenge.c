#include "flatten/keeper/registry/auth_challenge.h"

#include "base/buf.h"

#include <string.h>

void auth_challenge_clear(struct auth_challenge *c)
{
    free(c->realm);
    free(c->service);
    free(c->scope);
    *c = (struct auth_challenge){0};
}

struct cursor {
    const char *at, *end;
};

static void skip(struct cursor *c, const char *set)
{
    while (c->at < c->end && *c->at && strchr(set, *c->at))
        c->at++;
}

/* A token, or what stands in its place: anything up to a separator. */
static size_t word(struct cursor *c, const char **start)
{
    *start = c->at;
    while (c->at < c->end && *c->at && !strchr(" \t,=\"", *c->at))
        c->at++;
    return (size_t)(c->at - *start);
}

/* A quoted string (the cursor is behind its first quote) or a token. */
static int take_value(struct cursor *c, bool quoted, struct buf *out, struct err *err)
{
    const char *start;

    if (!quoted) {
        size_t len = word(c, &start);
        buf_append(out, start, len);
        return buf_check(out, err);
    }
    for (; c->at < c->end && *c->at != '"'; c->at++) {
        if (*c->at == '\\' && c->at + 1 < c->end)
            c->at++;
        buf_putc(out, *c->at);
    }
    if (c->at == c->end)
        return err_set(err, ERR_FORMAT, "WWW-Authenticate: a quoted string does not end");
    c->at++;
    return buf_check(out, err);
}

static bool is_word(const char *text, size_t len, const char *wanted)
{
    return len == strlen(wanted) && strncasecmp(text, wanted, len) == 0;
}

/* The field of the Bearer challenge that a parameter fills; NULL for others. */
static char **field(struct auth_challenge *out, const char *name, size_t len)
{
    if (is_word(name, len, "realm"))
        return &out->realm;
    if (is_word(name, len, "service"))
        return &out->service;
    if (is_word(name, len, "scope"))
        return &out->scope;
    return NULL;
}

static int take_parameter(struct cursor *c, char **to, struct err *err)
{
    _cleanup_buf_ struct buf value = BUF_INIT;

    skip(c, "= \t"); /* more than one '=': the padding of a token68 */
    bool quoted = c->at < c->end && *c->at == '"';
    c->at += quoted;
    if (take_value(c, quoted, &value, err) < 0)
        return -1;
    if (!to || *to)
        return 0;
    *to = strndup(value.data ? value.data : "", value.len);
    return *to ? 0 : err_nomem(err);
}

int auth_challenge_add(const char *text, size_t len, struct auth_challenge *out, struct err *err)
{
    struct cursor c = {text, text + len};
    bool filling = false; /* the parameters are those of the first Bearer */

    for (skip(&c, " \t,"); c.at < c.end; skip(&c, " \t,")) {
        const char *name;
        size_t name_len = word(&c, &name);
        skip(&c, " \t");
        if (c.at < c.end && *c.at == '=') {
            if (take_parameter(&c, filling ? field(out, name, name_len) : NULL, err) < 0)
                return -1;
        } else if (name_len == 0) {
            c.at++; /* nothing that the grammar has here */
        } else {
            filling = is_word(name, name_len, "Bearer") && !out->bearer;
            out->bearer = out->bearer || filling;
            out->basic = out->basic || is_word(name, name_len, "Basic");
        }
    }
    return 0;
}
