#include "flatten/sink.h"

#include "base/json.h"
#include "flatten/media_type.h"

#include <string.h>

struct sink *sink_open(const struct reference *ref, struct err *err)
{
    switch (ref->transport) {
    case TRANSPORT_OCI:
        return sink_open_oci(ref->path, err);
    case TRANSPORT_DOCKER_ARCHIVE:
        return sink_open_archive(ref->path, err);
    case TRANSPORT_DOCKER_DAEMON:
        break;
    }
    err_set(err, ERR_UNSUPPORTED, "the Docker daemon cannot be written to from here");
    return NULL;
}

static struct json *descriptor(struct json_doc *doc, const struct sink_image *image)
{
    struct json *d = json_object(doc);

    json_set(doc, d, "mediaType", json_string(doc, MEDIA_TYPE_MANIFEST));
    json_set(doc, d, "digest", json_string(doc, image->manifest.digest.text));
    json_set(doc, d, "size", json_number(doc, image->manifest.len));
    if (image->name) {
        struct json *annotations = json_set(doc, d, "annotations", json_object(doc));
        const char *slash = strrchr(image->name, '/');
        const char *colon = strchr(slash ? slash : image->name, ':');
        /* containerd takes the full name from its own key, and the tag from the spec's. */
        if (colon)
            json_set(doc, annotations, "io.containerd.image.name", json_string(doc, image->name));
        json_set(doc, annotations, "org.opencontainers.image.ref.name",
                 json_string(doc, colon ? colon + 1 : image->name));
    }
    return d;
}

int sink_index_json(const struct sink_image *image, struct buf *out, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = json_new_object(err);

    if (!doc)
        return -1;
    struct json *root = json_root(doc);
    json_set(doc, root, "schemaVersion", json_number(doc, 2));
    json_set(doc, root, "mediaType", json_string(doc, MEDIA_TYPE_INDEX));
    struct json *manifests = json_set(doc, root, "manifests", json_array(doc));
    json_append(doc, manifests, descriptor(doc, image));
    return json_write(doc, out, err);
}
