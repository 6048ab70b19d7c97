#include "flatten/keeper/sink/sink.h"

#include "base/json/json.h"
#include "flatten/name/image_name.h"
#include "flatten/name/media_type.h"
#include "flatten/name/registry_ref.h"

#include <string.h>

/* A bare word may have been meant for a directory or a file. */
static struct sink *open_daemon(const struct reference *ref, struct err *err)
{
    struct sink *sink = sink_open_daemon(ref->name, err);

    if (!sink && ref->sniffed)
        err_wrap(err, "docker-daemon:%s (a layout is oci:%s, an archive docker-archive:%s)",
                 ref->name, ref->name, ref->name);
    return sink;
}

struct sink *sink_open(const struct reference *ref, struct err *err)
{
    switch (ref->transport) {
    case TRANSPORT_OCI:
        return sink_open_oci(ref->path, err);
    case TRANSPORT_OCI_ARCHIVE:
    case TRANSPORT_DOCKER_ARCHIVE:
        return sink_open_archive(ref, err);
    case TRANSPORT_DOCKER_DAEMON:
        return open_daemon(ref, err);
    case TRANSPORT_REGISTRY:
        return sink_open_registry(ref, err);
    }
    err_set(err, ERR_USAGE, "no such kind of reference");
    return NULL;
}

bool sink_holds_several(const struct reference *ref)
{
    return ref->transport != TRANSPORT_REGISTRY;
}

bool sink_holds_index(const struct reference *ref)
{
    return ref->transport == TRANSPORT_OCI || ref->transport == TRANSPORT_OCI_ARCHIVE ||
           ref->transport == TRANSPORT_REGISTRY;
}

struct sink *sink_open_beside(const struct reference *ref, const struct reference *from,
                              struct err *err)
{
    struct reference here = *ref;
    _cleanup_registry_ref_ struct registry_ref a = {0}, b = {0};

    if (ref->transport != TRANSPORT_REGISTRY || from->transport != TRANSPORT_REGISTRY)
        return sink_open(ref, err);
    if (registry_ref_parse(ref->name, &a, err) < 0 || registry_ref_parse(from->name, &b, err) < 0)
        return NULL;
    if (strcmp(a.host, b.host) == 0 && strcmp(a.repository, b.repository) != 0)
        here.registry.mount_from = b.repository;
    return sink_open(&here, err);
}

int sink_image_name(const struct reference *to, const char *source_name, char **out,
                    struct err *err)
{
    const char *name = to->name ? to->name : source_name;

    *out = NULL;
    if (!name)
        return 0;
    if (to->transport == TRANSPORT_OCI || to->transport == TRANSPORT_OCI_ARCHIVE)
        *out = strdup(name);
    else if (to->name || image_name_tag(name))
        return (*out = image_name_tagged(name, err)) ? 0 : -1;
    else
        return 0;
    return *out ? 0 : err_nomem(err);
}

/* Appends it to the list. */
static int add_descriptor(struct json_doc *doc, struct json *list, const struct sink_image *image,
                          struct err *err)
{
    _cleanup_free_ char *full_name = image->name ? image_name_full(image->name, err) : NULL;

    if (image->name && !full_name)
        return -1;
    struct json *d = json_append(doc, list, json_object(doc));
    json_set(doc, d, "mediaType",
             json_string(doc, image->is_index ? MEDIA_TYPE_INDEX : MEDIA_TYPE_MANIFEST));
    json_set(doc, d, "digest", json_string(doc, image->manifest.digest.text));
    json_set(doc, d, "size", json_number(doc, image->manifest.len));
    if (image->name) {
        struct json *annotations = json_set(doc, d, "annotations", json_object(doc));
        const char *tag = image_name_tag(image->name);
        const char *ref = tag && !image->whole_name ? tag : image->name;
        /* containerd takes the full name from its own key, and the tag from the spec's. */
        if (tag)
            json_set(doc, annotations, "io.containerd.image.name", json_string(doc, full_name));
        json_set(doc, annotations, "org.opencontainers.image.ref.name", json_string(doc, ref));
    }
    return 0;
}

int sink_index_json(const struct sink_image *images, size_t count, struct buf *out, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = json_new_object(err);

    if (!doc)
        return -1;
    struct json *root = json_root(doc);
    json_set(doc, root, "schemaVersion", json_number(doc, 2));
    json_set(doc, root, "mediaType", json_string(doc, MEDIA_TYPE_INDEX));
    struct json *manifests = json_set(doc, root, "manifests", json_array(doc));
    for (size_t i = 0; i < count; i++)
        if (!images[i].inner && add_descriptor(doc, manifests, &images[i], err) < 0)
            return -1;
    return json_write(doc, out, err);
}
