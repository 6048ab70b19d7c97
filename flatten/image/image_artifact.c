#include "flatten/image/image_internal.h"

#include <string.h>

bool artifact_is_one(const struct json *manifest)
{
    static const char *const of_images[] = {"application/vnd.oci.image.config.v1+json",
                                            "application/vnd.docker.container.image.v1+json"};
    const char *type = json_text(json_path(manifest, "config", "mediaType", NULL));

    for (size_t i = 0; i < sizeof(of_images) / sizeof(*of_images); i++)
        if (!type || strcmp(type, of_images[i]) == 0)
            return false;
    return true;
}

/* True for "….tar", "….tar+gzip" and the like; Docker's types have a dot in place of the plus. */
static bool is_tar_type(const char *type)
{
    const char *tar = type ? strstr(type, ".tar") : NULL;

    return tar && (!tar[4] || tar[4] == '+' || tar[4] == '.');
}

static int check_layer(const struct json *descriptor, struct err *err)
{
    enum { SHOWN = 200 };
    const char *type = json_text(json_get(descriptor, "mediaType"));
    _cleanup_buf_ struct buf shown = BUF_INIT;

    if (is_tar_type(type))
        return 0;
    if (type)
        buf_put_printable(&shown, type, strnlen(type, SHOWN));
    return err_set(err, ERR_UNSUPPORTED, "its type %s is not that of a tar archive",
                   shown.data ? shown.data : "(none)");
}

struct image *artifact_new(const struct json *manifest, struct err *err)
{
    const struct json *layers = json_get(manifest, "layers");

    if (json_count(layers) == 0) {
        err_set(err, ERR_FORMAT, "the artefact has no layers");
        return NULL;
    }
    for (size_t i = 0; i < json_count(layers); i++)
        if (check_layer(json_at(layers, i), err) < 0) {
            err_wrap(err, "layer %zu", i + 1);
            return NULL;
        }
    return image_new_layers(json_count(layers), err);
}
