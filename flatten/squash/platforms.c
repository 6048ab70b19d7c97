#include "flatten/squash/platforms.h"

#include "flatten/name/media_type.h"

#include <string.h>

enum { MOST_PLATFORMS = 64 };

void platforms_clear(struct platforms *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->list[i].digest);
        free(p->list[i].text);
    }
    free(p->list);
    *p = (struct platforms){0};
}

/* Returns 0, with *out NULL if the descriptor has no platform; or -1 without memory. */
static int platform_text(const struct json *descriptor, char **out)
{
    const struct json *platform = json_get(descriptor, "platform");
    const char *os = json_text(json_get(platform, "os"));
    const char *arch = json_text(json_get(platform, "architecture"));
    const char *variant = json_text(json_get(platform, "variant"));

    if (!os || !arch)
        return 0;
    *out = strf("%s/%s%s%s", os, arch, variant ? "/" : "", variant ? variant : "");
    return *out ? 0 : -1;
}

int platform_check(const char *text, struct err *err)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t parts = 0, len = 1;

    for (const char *at = text; at; at = at[len] ? at + len + 1 : NULL, parts++) {
        len = strspn(at, plain);
        if (len == 0 || (at[len] && at[len] != '/'))
            break;
        if (!at[len] && (parts == 1 || parts == 2))
            return 0;
    }
    return text ? err_set(err, ERR_USAGE,
                          "--platform='%.100s': expected OS/ARCH or OS/ARCH/VARIANT, as in "
                          "linux/arm64",
                          text)
                : 0;
}

static const struct json *manifests_of(struct json_doc *index)
{
    return json_get(json_root(index), "manifests");
}

int platforms_list(struct json_doc *index, struct platforms *out, struct err *err)
{
    const struct json *manifests = manifests_of(index);

    *out = (struct platforms){.list = calloc(json_count(manifests) + 1, sizeof(*out->list))};
    if (!out->list)
        return err_nomem(err);
    for (size_t i = 0; i < json_count(manifests); i++) {
        const struct json *d = json_at(manifests, i);
        const char *digest = json_text(json_get(d, "digest"));
        if (!image_is_platform(d)) {
            out->dropped++;
            continue;
        }
        if (!digest)
            return err_set(err, ERR_FORMAT, "a descriptor of the index has no digest");
        if (out->count == MOST_PLATFORMS)
            return err_set(err, ERR_LIMIT, "more than %d images in an index", MOST_PLATFORMS);
        struct platform_item *item = &out->list[out->count++];
        item->digest = strdup(digest);
        if (!item->digest || platform_text(d, &item->text) < 0)
            return err_nomem(err);
    }
    return 0;
}

int platforms_image_index(struct json_doc *index, const struct sink_image *images, size_t count,
                          struct buf *out, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = json_new_object(err);
    const struct json *old = json_root(index);
    size_t next = 0;

    if (!doc)
        return -1;
    struct json *root = json_root(doc), *list = json_array(doc);
    json_set(doc, root, "schemaVersion", json_number(doc, 2));
    json_set(doc, root, "mediaType", json_string(doc, MEDIA_TYPE_INDEX));
    json_set(doc, root, "manifests", list);
    for (size_t i = 0; i < json_count(manifests_of(index)) && next < count; i++) {
        const struct json *d = json_at(manifests_of(index), i);
        if (!image_is_platform(d))
            continue;
        const struct blob *manifest = &images[next++].manifest;
        struct json *copy = json_append(doc, list, json_copy(doc, d));
        json_set(doc, copy, "mediaType", json_string(doc, MEDIA_TYPE_MANIFEST));
        json_set(doc, copy, "digest", json_string(doc, manifest->digest.text));
        json_set(doc, copy, "size", json_number(doc, manifest->len));
        json_remove(copy, "data"); /* the old manifest itself */
        json_remove(copy, "urls");
    }
    if (json_is(json_get(old, "annotations"), JSON_OBJECT))
        json_set(doc, root, "annotations", json_copy(doc, json_get(old, "annotations")));
    return json_write(doc, out, err);
}
