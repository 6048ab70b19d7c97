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

static void skip_any(struct cursor *c, const char *set)
{
    while (c->at < c->end && *c->at && strchr(set, *c->at))
        c->at++;
}

/* Takes a token, or anything in its place up to a separator. Returns its length. */
static size_t take_word(struct cursor *c, const char **start)
{
    *start = c->at;
    while (c->at < c->end && *c->at && !strchr(" \t,=\"", *c->at))
        c->at++;
    return (size_t)(c->at - *start);
}

/* Takes a quoted string, whose first quote has been taken, or a token. */
static int take_value(struct cursor *c, bool quoted, struct buf *out, struct err *err)
{
    const char *start;

    if (!quoted) {
        size_t len = take_word(c, &start);
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

/* Returns the field of the Bearer challenge that a parameter fills; NULL for other parameters. */
static char **bearer_field(struct auth_challenge *out, const char *name, size_t len)
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

    skip_any(c, "= \t"); /* several: the padding of a token68 */
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
    bool filling = false; /* parameters belong to the first Bearer */

    for (skip_any(&c, " \t,"); c.at < c.end; skip_any(&c, " \t,")) {
        const char *name;
        size_t name_len = take_word(&c, &name);
        skip_any(&c, " \t");
        if (c.at < c.end && *c.at == '=') {
            if (take_parameter(&c, filling ? bearer_field(out, name, name_len) : NULL, err) < 0)
                return -1;
        } else if (name_len == 0) {
            c.at++; /* not in the grammar */
        } else {
            filling = is_word(name, name_len, "Bearer") && !out->bearer;
            out->bearer = out->bearer || filling;
            out->basic = out->basic || is_word(name, name_len, "Basic");
        }
    }
    return 0;
}
