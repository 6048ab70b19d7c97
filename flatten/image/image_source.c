#include "flatten/image/image_source.h"

#include "flatten/image/image_internal.h"

static int list_places(struct source *s, size_t **places, size_t *count, struct err *err)
{
    switch (s->ref->transport) {
    case TRANSPORT_OCI:
        return image_list_layout(s->layout.store, places, count, err);
    case TRANSPORT_OCI_ARCHIVE:
    case TRANSPORT_DOCKER_ARCHIVE:
        return image_list_archive(s, places, count, err);
    case TRANSPORT_DOCKER_DAEMON:
    case TRANSPORT_STORAGE:
    case TRANSPORT_REGISTRY:
        break;
    }
    return err_set(err, ERR_USAGE, "not an archive or a layout of several images");
}

int source_places(struct source *s, size_t **places, size_t *count, struct err *err)
{
    *places = NULL;
    if (list_places(s, places, count, err) < 0)
        return s->ref->path ? err_wrap(err, "%s", s->ref->path) : -1;
    return 0;
}

static struct image *read_image(struct source *s, const char *name,
                                const struct image_choice *choice, struct err *err)
{
    switch (s->ref->transport) {
    case TRANSPORT_OCI:
        return image_read_layout(s->layout.store, name, choice, err);
    case TRANSPORT_OCI_ARCHIVE:
    case TRANSPORT_DOCKER_ARCHIVE:
        return image_read_archive(s, name, choice, err);
    case TRANSPORT_DOCKER_DAEMON:
    case TRANSPORT_STORAGE:
        return image_read_daemon(&s->daemon, choice, err);
    case TRANSPORT_REGISTRY:
        return image_read_registry(&s->registry, choice, err);
    }
    err_set(err, ERR_USAGE, "no such kind of reference");
    return NULL;
}

void image_wrap_reference(const struct reference *ref, struct err *err)
{
    if (reference_is_engine(ref) || ref->transport == TRANSPORT_REGISTRY)
        err_wrap(err, "%s%s", reference_prefix(ref->transport), ref->name);
    else
        err_wrap(err, "%s", ref->path);
}

struct image *source_image(struct source *s, const struct image_choice *choice, struct err *err)
{
    char place[24];
    const char *name = s->ref->name;

    if (choice->place) {
        snprintf(place, sizeof(place), "@%zu", *choice->place);
        name = place;
    }
    struct image *image = read_image(s, name, choice, err);
    if (!image) {
        image_wrap_reference(s->ref, err);
        return NULL;
    }
    image->from = s->ref;
    image->unpack.ratio = s->ref->max_ratio;
    return image;
}
