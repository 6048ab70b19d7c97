#include "flatten/exchange/source.h"

struct source *source_new(const struct reference *ref, struct err *err)
{
    struct source *s = calloc(1, sizeof(*s));

    if (!s) {
        err_nomem(err);
        return NULL;
    }
    s->ref = ref;
    if (reference_is_engine(ref))
        s->daemon.fd = -1;
    else if (ref->transport == TRANSPORT_OCI_ARCHIVE || ref->transport == TRANSPORT_DOCKER_ARCHIVE)
        s->archive.fd = -1;
    return s;
}

static void store_free(struct blob_store *store)
{
    if (store)
        store->ops->release(store);
}

static void registry_clear(struct source_registry *r)
{
    store_free(r->store);
    free(r->root_type);
    free(r->name);
}

static void daemon_clear(struct source_daemon *d)
{
    registry_clear(&d->blobs);
    cleanup_fd(&d->fd);
    buf_free(&d->config);
    free(d->place);
    free(d->why);
    free(d->name);
    free(d->os);
    free(d->architecture);
}

void source_free(struct source *s)
{
    switch (s->ref->transport) {
    case TRANSPORT_OCI:
        store_free(s->layout.store);
        break;
    case TRANSPORT_OCI_ARCHIVE:
    case TRANSPORT_DOCKER_ARCHIVE:
        cleanup_fd(&s->archive.fd);
        break;
    case TRANSPORT_DOCKER_DAEMON:
    case TRANSPORT_STORAGE:
        daemon_clear(&s->daemon);
        break;
    case TRANSPORT_REGISTRY:
        registry_clear(&s->registry);
        break;
    }
    free(s);
}

void source_put_why(const struct source *s, struct buf *out)
{
    const struct reference *ref = s->ref;

    if (reference_is_engine(ref) && s->daemon.why)
        buf_printf(out, "%s%s: read as %s save writes it: %s", reference_prefix(ref->transport),
                   ref->name, ref->transport == TRANSPORT_DOCKER_DAEMON ? "docker" : "podman",
                   s->daemon.why);
}

struct blob_store *source_store(const struct source *s)
{
    switch (s->ref->transport) {
    case TRANSPORT_OCI:
        return s->layout.store;
    case TRANSPORT_REGISTRY:
        return s->registry.store;
    case TRANSPORT_DOCKER_DAEMON:
    case TRANSPORT_STORAGE:
        return s->daemon.blobs.store;
    case TRANSPORT_OCI_ARCHIVE:
    case TRANSPORT_DOCKER_ARCHIVE:
        break;
    }
    return NULL;
}
