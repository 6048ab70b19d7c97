#include "flatten/stream/digester.h"

enum { BLOCKS = 4, BLOCK_SIZE = 256 * 1024 };

struct digester {
    struct relay *relay;
    struct hash_lane *lane;
    struct sha256 *here; /* without a hasher */
};

static int digester_begin(struct digester *d, struct hasher *hasher, struct err *err)
{
    if (!hasher)
        return (d->here = sha256_new(err)) ? 0 : -1;
    d->relay = relay_new(hasher_hub(hasher), 1, BLOCKS, BLOCK_SIZE, err);
    return d->relay && (d->lane = hash_lane_new(hasher, d->relay, 0, err)) ? 0 : -1;
}

struct digester *digester_new(struct hasher *hasher, struct err *err)
{
    _cleanup_digester_ struct digester *d = calloc(1, sizeof(*d));

    if (!d) {
        err_nomem(err);
        return NULL;
    }
    return digester_begin(d, hasher, err) < 0 ? NULL : steal_ptr(&d);
}

void digester_free(struct digester *d)
{
    struct err given_up;

    if (d->relay) {
        err_set(&given_up, ERR_SYSTEM, "no longer wanted");
        relay_stop(d->relay, &given_up);
    }
    cleanup_hash_lane(&d->lane);
    cleanup_relay(&d->relay);
    cleanup_sha256(&d->here);
    free(d);
}

int digester_update(struct digester *d, const void *data, size_t len, struct err *err)
{
    return d->here ? sha256_update(d->here, data, len, err) : relay_write(d->relay, data, len, err);
}

int digester_finish(struct digester *d, struct digest *out, struct err *err)
{
    if (d->here)
        return sha256_finish(d->here, out, err);
    relay_end(d->relay, NULL);
    return hash_lane_finish(d->lane, out, err);
}
