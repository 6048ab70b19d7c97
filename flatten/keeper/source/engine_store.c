#include "flatten/keeper/source/engine_store.h"

#include "base/digest/sha256.h"
#include "flatten/exchange/image_limits.h"
#include "flatten/keeper/files/file_beneath.h"
#include "flatten/keeper/source/layer_names.h"
#include "flatten/keeper/walk/walk.h"

#include <fcntl.h>

static int read_config(const struct engine_store *s, struct buf *out, struct err *why)
{
    _cleanup_fd_ int dir = open(s->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct digest actual;

    if (dir < 0)
        return err_sys(why, "%s", s->root);
    if (file_beneath_read(dir, s->config, IMAGE_JSON_LIMIT, out, why) < 0 ||
        sha256_digest(out->data ? out->data : "", out->len, &actual, why) < 0)
        return err_wrap(why, "%s", s->root);
    return digest_equal(&actual, &s->id)
               ? 0
               : err_set(why, ERR_DIGEST, "%s/%s is not the image's configuration", s->root,
                         s->config);
}

static int start_walk(const struct engine_store *s, const struct json *facts, enum walk_kind kind,
                      struct source_daemon *d, struct err *why)
{
    _cleanup_layer_names_ struct layer_names names = {0};

    if (layer_names_list(facts, s->root, s->driver, &names, why) < 0 ||
        read_config(s, &d->config, why) < 0)
        return -1;
    const struct walk_layers layers = {s->root, names.names, names.count, kind == WALK_LAYERS};
    d->fd = walk_start(&layers, why);
    return d->fd < 0 ? -1 : 0;
}

int engine_store_walk(const struct engine_store *store, const struct json *facts,
                      enum walk_kind kind, struct source_daemon *d, struct err *why)
{
    if (!(d->place = layer_names_place(facts)))
        return err_nomem(why);
    if (start_walk(store, facts, kind, d, why) == 0)
        return 0;
    buf_free(&d->config);
    return -1;
}
