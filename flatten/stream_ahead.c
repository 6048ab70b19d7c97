#include "flatten/relay.h"
#include "flatten/stream.h"

#include <stdbool.h>
#include <string.h>

enum { BLOCKS = 8, BLOCK_SIZE = 256 * 1024 };
enum { READER, HASHER }; /* the relay's consumers */

struct ahead_stream {
    struct stream base;
    struct stream *inner; /* the thread's that reads, until it is joined */
    struct relay *relay;
    struct worker *ahead, *hasher;
    struct sha256 *hash;
    struct digest expected;
    struct err verdict; /* the hasher's, read when it is joined */
    const char *data;   /* the present block */
    size_t at, len;
    char *what;
};

static void read_ahead(void *ctx)
{
    struct ahead_stream *s = ctx;
    struct err err = ERR_INIT;
    const void *data;
    size_t len;

    do {
        if (stream_peek(s->inner, &data, &len, &err) < 0) {
            relay_end(s->relay, &err);
            return;
        }
        if (relay_write(s->relay, data, len, &err) < 0)
            return;
        stream_advance(s->inner, len);
    } while (len > 0);
    relay_end(s->relay, NULL);
}

static int hash_all(struct ahead_stream *s, struct err *err)
{
    struct digest actual;
    const void *data;
    size_t len;
    int rc;

    while ((rc = relay_take(s->relay, HASHER, &data, &len, err)) > 0) {
        if (sha256_update(s->hash, data, len, err) < 0)
            return -1;
        relay_release(s->relay, HASHER);
    }
    if (rc < 0 || sha256_finish(s->hash, &actual, err) < 0)
        return -1;
    if (!digest_equal(&actual, &s->expected))
        return err_set(err, ERR_DIGEST, "%s: content is %s, not %s as the image says", s->what,
                       actual.text, s->expected.text);
    return 0;
}

static void hash_behind(void *ctx)
{
    struct ahead_stream *s = ctx;

    if (hash_all(s, &s->verdict) < 0)
        relay_stop(s->relay, &s->verdict);
}

static int ahead_peek(struct stream *base, const void **data, size_t *len, struct err *err)
{
    struct ahead_stream *s = (struct ahead_stream *)base;
    const void *block;

    if (s->at == s->len) {
        if (s->len)
            relay_release(s->relay, READER);
        s->at = s->len = 0;
        int rc = relay_take(s->relay, READER, &block, &s->len, err);
        if (rc < 0)
            return -1;
        if (rc == 0 && s->hasher)
            worker_join(steal_ptr(&s->hasher));
        if (rc == 0 && s->verdict.kind != ERR_NONE) {
            *err = s->verdict;
            return -1;
        }
        s->data = rc ? block : "";
    }
    *data = s->data + s->at;
    *len = s->len - s->at;
    return 0;
}

static void ahead_advance(struct stream *base, size_t len)
{
    ((struct ahead_stream *)base)->at += len;
}

static void ahead_release(struct stream *base)
{
    struct ahead_stream *s = (struct ahead_stream *)base;
    struct err given_up;

    if (s->relay) {
        err_set(&given_up, ERR_SYSTEM, "no longer wanted");
        relay_stop(s->relay, &given_up);
    }
    if (s->ahead)
        worker_join(s->ahead);
    if (s->hasher)
        worker_join(s->hasher);
    stream_free(s->inner);
    cleanup_relay(&s->relay);
    cleanup_sha256(&s->hash);
    free(s->what);
    free(s);
}

struct stream *stream_verify_ahead(struct stream *inner, const struct digest *expected,
                                   const char *what, struct err *err)
{
    static const struct stream_ops ops = {ahead_peek, ahead_advance, ahead_release};
    struct ahead_stream *s = calloc(1, sizeof(*s));

    if (!s) {
        stream_free(inner);
        err_nomem(err);
        return NULL;
    }
    _cleanup_stream_ struct stream *stream = &s->base;
    s->base.ops = &ops;
    s->inner = inner;
    s->expected = *expected;
    s->what = strdup(what);
    if (!s->what) {
        err_nomem(err);
        return NULL;
    }
    if (!(s->hash = sha256_new(err)) || !(s->relay = relay_new(2, BLOCKS, BLOCK_SIZE, err)) ||
        !(s->ahead = worker_start(read_ahead, s, err)) ||
        !(s->hasher = worker_start(hash_behind, s, err)))
        return NULL;
    return steal_ptr(&stream);
}
