#include "flatten/stream/stream.h"

#include <stdbool.h>

/* Passes on the unpacked bytes of `inner`, and charges them to the budget of the image. */
struct unpack_stream {
    struct stream base;
    struct stream *inner;
    struct unpack_budget *budget;
    size_t counted; /* bytes of the last peek that were counted and not used */
};

int unpack_budget_spend(struct unpack_budget *b, uint64_t out, struct err *err)
{
    uint64_t made = atomic_fetch_add(&b->out, out) + out, used = atomic_load(&b->in);
    uint64_t ratio = b->ratio ? b->ratio : UNPACK_RATIO;

    if (made <= UNPACK_FREE || (made - UNPACK_FREE) / ratio <= used)
        return 0;
    return err_set(err, ERR_LIMIT,
                   "%llu bytes unpack to more than %llu times as much: if this is not a "
                   "decompression bomb, --max-ratio=N accepts N times as much",
                   (unsigned long long)used, (unsigned long long)ratio);
}

static int unpack_peek(struct stream *s, const void **data, size_t *len, struct err *err)
{
    struct unpack_stream *u = (struct unpack_stream *)s;

    if (stream_peek(u->inner, data, len, err) < 0)
        return -1;
    size_t fresh = *len > u->counted ? *len - u->counted : 0;
    u->counted += fresh;
    return unpack_budget_spend(u->budget, fresh, err);
}

static void unpack_advance(struct stream *s, size_t len)
{
    struct unpack_stream *u = (struct unpack_stream *)s;

    u->counted -= len;
    stream_advance(u->inner, len);
}

static int unpack_read(struct stream *s, void *to, size_t size, size_t *len, struct err *err)
{
    struct unpack_stream *u = (struct unpack_stream *)s;

    if (stream_read(u->inner, to, size, len, err) < 0)
        return -1;
    size_t fresh = *len > u->counted ? *len - u->counted : 0;
    u->counted -= *len - fresh;
    return unpack_budget_spend(u->budget, fresh, err);
}

static void unpack_release(struct stream *s)
{
    stream_free(((struct unpack_stream *)s)->inner);
    free(s);
}

struct stream *stream_unpack(struct stream *inner, struct unpack_budget *budget,
                             enum compression *kind, struct err *err)
{
    static const struct stream_ops ops = {unpack_peek, unpack_advance, unpack_release, unpack_read,
                                          NULL};
    struct stream *counted = budget ? stream_count(inner, &budget->in, err) : inner;
    struct stream *plain = counted ? stream_decompress(counted, kind, err) : NULL;

    if (!plain || !budget)
        return plain;
    struct unpack_stream *u = malloc(sizeof(*u));
    if (!u) {
        stream_free(plain);
        err_nomem(err);
        return NULL;
    }
    *u = (struct unpack_stream){{&ops}, plain, budget, 0};
    return &u->base;
}
