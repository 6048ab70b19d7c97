#include "flatten/stream/hasher.h"
#include "flatten/stream/stream.h"

#include <stdbool.h>
#include <string.h>

enum { BLOCKS = 8, BLOCK_SIZE = 1024 * 1024 };
enum { READER, HASHER }; /* the relay's consumers */

struct ahead_stream {
    struct stream base;
    struct stream *inner; /* used by the reading thread alone, until that is joined */
    struct relay *relay;
    struct worker *ahead;
    struct hasher *own; /* if the caller lent none */
    struct hash_lane *lane;
    struct digest expected;
    uint64_t max_size; /* bytes */
    bool right;        /* the digest was right */
    const char *data;  /* the current block */
    size_t at, len;
    char *what;
};

static int fill_relay(struct ahead_stream *s, struct err *err)
{
    uint64_t total = 0;
    size_t len, room;
    void *to;

    do {
        if (relay_reserve(s->relay, &to, &room, err) < 0 ||
            stream_read(s->inner, to, room, &len, err) < 0)
            return -1;
        total += len;
        if (s->max_size && total > s->max_size)
            return err_set(err, ERR_LIMIT, "%s: more than %llu bytes", s->what,
                           (unsigned long long)s->max_size);
        relay_commit(s->relay, len);
    } while (len > 0);
    return 0;
}

static void read_ahead(void *ctx)
{
    struct ahead_stream *s = ctx;
    struct err err = ERR_INIT;

    relay_end(s->relay, fill_relay(s, &err) < 0 ? &err : NULL);
}

static int check_digest(struct ahead_stream *s, struct err *err)
{
    struct digest actual;

    if (s->right)
        return 0;
    if (hash_lane_finish(s->lane, &actual, err) < 0)
        return -1;
    s->right = !s->expected.text[0] || digest_equal(&actual, &s->expected);
    if (!s->right)
        return err_set(err, ERR_DIGEST, "%s: content is %s, not %s as the image says", s->what,
                       actual.text, s->expected.text);
    return 0;
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
        if (rc < 0 || (rc == 0 && check_digest(s, err) < 0))
            return -1;
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
    cleanup_hash_lane(&s->lane);
    cleanup_relay(&s->relay);
    cleanup_hasher(&s->own);
    stream_free(s->inner);
    free(s->what);
    free(s);
}

struct stream *stream_verify_ahead(struct stream *inner, const struct ahead_options *options,
                                   struct err *err)
{
    static const struct stream_ops ops = {ahead_peek, ahead_advance, ahead_release, NULL, NULL};
    struct ahead_stream *s = calloc(1, sizeof(*s));
    struct hasher *hasher = options->hasher;

    if (!s) {
        stream_free(inner);
        err_nomem(err);
        return NULL;
    }
    _cleanup_stream_ struct stream *stream = &s->base;
    s->base.ops = &ops;
    s->inner = inner;
    s->expected = options->expected;
    s->max_size = options->max_size;
    s->what = strdup(options->what);
    if (!s->what) {
        err_nomem(err);
        return NULL;
    }
    if (!hasher)
        hasher = s->own = hasher_new(err);
    if (!hasher || !(s->relay = relay_new(hasher_hub(hasher), 2, BLOCKS, BLOCK_SIZE, err)) ||
        !(s->lane = hash_lane_new(hasher, s->relay, HASHER, err)) ||
        !(s->ahead = worker_start(read_ahead, s, err)))
        return NULL;
    return steal_ptr(&stream);
}
