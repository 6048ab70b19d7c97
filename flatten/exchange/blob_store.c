#include "flatten/exchange/blob_store.h"

#include "base/fdio.h"
#include "flatten/exchange/image_limits.h"

const struct layout_file_rule layout_files[] = {
    [LAYOUT_OCI_LAYOUT] = {"oci-layout", 64 * 1024},
    [LAYOUT_INDEX_JSON] = {"index.json", IMAGE_JSON_LIMIT},
};

void blob_place_close(struct blob_place *place)
{
    cleanup_fd(&place->fd);
    place->fd = -1;
    cleanup_arrival(&place->arriving.all);
    place->arriving.all = NULL;
}

int blob_store_settle(struct blob_store *s, struct err *err)
{
    return s->ops->settle ? s->ops->settle(s, err) : 0;
}

void blob_places_close(struct blob_place *places, size_t count)
{
    for (size_t i = 0; i < count; i++)
        blob_place_close(&places[i]);
}

int blob_store_open(struct blob_store *s, const struct blob_request *requests, size_t count,
                    struct blob_place *out, size_t *failed, struct err *err)
{
    if (s->ops->open_all)
        return s->ops->open_all(s, requests, count, out, failed, err);
    for (size_t i = 0; i < count; i++) {
        if (s->ops->open_one(s, &requests[i], &out[i], err) == 0)
            continue;
        *failed = i;
        blob_places_close(out, i);
        return -1;
    }
    return 0;
}

void blob_path(const struct digest *digest, char out[BLOB_PATH_SIZE])
{
    snprintf(out, BLOB_PATH_SIZE, "blobs/sha256/%s", digest_hex(digest));
}
