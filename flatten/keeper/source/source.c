#include "flatten/keeper/source/source.h"

#include "flatten/stream/spool.h"

static int spool_here(void *ctx, struct err *err)
{
    (void)ctx;
    return spool_file(err);
}

void source_free(struct source *s)
{
    cleanup_fd(&s->fd);
    if (s->store)
        s->store->ops->release(s->store);
    free(s->selector);
    free(s->root_type);
    free(s->name);
    free(s->os);
    free(s->architecture);
    free(s);
}

static int find(struct source *s, const char *platform, struct err *err)
{
    switch (s->ref->transport) {
    case TRANSPORT_OCI:
        return source_find_layout(s, err);
    case TRANSPORT_OCI_ARCHIVE:
    case TRANSPORT_DOCKER_ARCHIVE:
        return source_find_archive(s, err);
    case TRANSPORT_DOCKER_DAEMON:
        return source_find_daemon(s, platform, err);
    case TRANSPORT_REGISTRY:
        return source_find_registry(s, err);
    }
    return err_set(err, ERR_USAGE, "no such kind of reference");
}

struct source *source_open(const struct reference *ref, const char *platform, struct err *err)
{
    _cleanup_source_ struct source *s = calloc(1, sizeof(*s));

    if (!s) {
        err_nomem(err);
        return NULL;
    }
    s->ref = ref;
    s->fd = -1;
    s->spool = spool_here;
    return find(s, platform, err) < 0 ? NULL : steal_ptr(&s);
}

int source_places(struct source *s, size_t **places, size_t *count, struct err *err)
{
    *places = NULL;
    if (s->ref->transport == TRANSPORT_OCI)
        return source_list_layout(s, places, count, err);
    return source_list_archive(s, places, count, err);
}

struct image *source_image(struct source *s, const char *platform, struct err *err)
{
    switch (s->ref->transport) {
    case TRANSPORT_OCI:
        return source_read_layout(s, platform, err);
    case TRANSPORT_OCI_ARCHIVE:
    case TRANSPORT_DOCKER_ARCHIVE:
        return source_read_archive(s, platform, err);
    case TRANSPORT_DOCKER_DAEMON:
        return source_read_daemon(s, err);
    case TRANSPORT_REGISTRY:
        return source_read_registry(s, platform, err);
    }
    err_set(err, ERR_USAGE, "no such kind of reference");
    return NULL;
}

struct image *image_open(const struct reference *ref, const char *platform, struct err *err)
{
    _cleanup_source_ struct source *s = source_open(ref, platform, err);

    return s ? source_image(s, platform, err) : NULL;
}
