#include "flatten/keeper/source/source_open.h"

#include "flatten/keeper/source/source_backends.h"

static int find_source(struct source *s, const struct source_choice *choice, struct err *err)
{
    switch (s->ref->transport) {
    case TRANSPORT_OCI:
        return source_find_layout(s, err);
    case TRANSPORT_OCI_ARCHIVE:
    case TRANSPORT_DOCKER_ARCHIVE:
        return source_find_archive(s, err);
    case TRANSPORT_DOCKER_DAEMON:
        return source_find_daemon(s, choice, err);
    case TRANSPORT_STORAGE:
        return source_find_storage(s, choice, err);
    case TRANSPORT_REGISTRY:
        return source_find_registry(s, err);
    }
    return err_set(err, ERR_USAGE, "no such kind of reference");
}

int source_diff_ids(const struct reference *ref, struct buf *out, struct err *err)
{
    return ref->transport == TRANSPORT_STORAGE ? source_diff_ids_storage(ref, out, err)
                                               : source_diff_ids_daemon(ref, out, err);
}

int source_settle(const struct source *s, struct err *err)
{
    struct blob_store *store = source_store(s);

    return store ? blob_store_settle(store, err) : 0;
}

int source_still_there(const struct source *s, struct err *err)
{
    return s->ref->transport == TRANSPORT_STORAGE ? source_still_there_storage(s, err)
                                                  : source_still_there_daemon(s, err);
}

struct source *source_open(const struct reference *ref, const struct source_choice *choice,
                           struct err *err)
{
    _cleanup_source_ struct source *s = source_new(ref, err);

    return s && find_source(s, choice, err) == 0 ? steal_ptr(&s) : NULL;
}
