#include "flatten/image/image.h"

#include "base/fdio.h"
#include "flatten/image/blob_store.h"
#include "flatten/name/image_name.h"

#include <string.h>
#include <sys/utsname.h>

/*
 * OCI images (image-spec manifest.md, image-index.md) and layouts of them (image-layout.md:
 * blobs/sha256/<hex>, index.json, oci-layout), wherever their blobs lie.
 */

enum { MOST_INDEXES = 4 }; /* indexes that point to indexes */

struct layout {
    struct blob_store *store;
    const char *platform;
    struct json_doc *index; /* the last one followed; or NULL */
    uint64_t json_size;     /* of all that was parsed */
};

/* ---- blobs ---- */

void blob_path(const struct digest *digest, char out[BLOB_PATH_SIZE])
{
    snprintf(out, BLOB_PATH_SIZE, "blobs/sha256/%s", digest_hex(digest));
}

int blob_open_each(struct blob_store *s, blob_open_one *one, const struct blob_request *requests,
                   size_t count, struct blob_place *out, size_t *failed, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        if (one(s, &requests[i], &out[i], err) == 0)
            continue;
        *failed = i;
        while (i-- > 0)
            cleanup_fd(&out[i].fd);
        return -1;
    }
    return 0;
}

/* What a descriptor asks for: a digest and a size it must have. */
static int request_parse(const struct json *descriptor, enum blob_role role,
                         struct blob_request *out, struct err *err)
{
    const char *text = json_text(json_get(descriptor, "digest"));

    *out = (struct blob_request){.role = role};
    if (!text || digest_parse(text, &out->digest, err) < 0)
        return err_set(err, ERR_FORMAT, "a descriptor has no sha256 digest");
    if (!json_u64(json_get(descriptor, "size"), &out->size))
        return err_set(err, ERR_FORMAT, "the descriptor of %s has no size", out->digest.text);
    out->media_type = json_text(json_get(descriptor, "mediaType"));
    return 0;
}

static int check_size(const struct blob_request *request, const struct blob_place *place,
                      struct err *err)
{
    if (place->size == request->size)
        return 0;
    return err_set(err, ERR_DIGEST, "%s has %llu bytes, not %llu as its descriptor says",
                   request->digest.text, (unsigned long long)place->size,
                   (unsigned long long)request->size);
}

static void close_place(struct blob_place *place)
{
    cleanup_fd(&place->fd);
}

static int read_place(const struct blob_place *place, struct buf *out, struct err *err)
{
    if (place->size > IMAGE_JSON_LIMIT)
        return err_set(err, ERR_LIMIT, "has more than %d bytes", IMAGE_JSON_LIMIT);
    char *end = buf_reserve(out, (size_t)place->size);
    if (!end)
        return err_nomem(err);
    if (fd_pread_exact(place->fd, end, (size_t)place->size, place->offset, err) < 0)
        return -1;
    out->len += (size_t)place->size;
    out->data[out->len] = '\0';
    return 0;
}

static struct json_doc *read_json_blob(struct layout *l, const struct json *descriptor,
                                       enum blob_role role, struct digest *digest, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    _cleanup_(close_place) struct blob_place place = {.fd = -1};
    struct blob_request request;
    struct digest actual;
    size_t failed;

    if (request_parse(descriptor, role, &request, err) < 0 ||
        l->store->ops->open(l->store, &request, 1, &place, &failed, err) < 0)
        return NULL;
    *digest = request.digest;
    if (check_size(&request, &place, err) < 0)
        return NULL;
    if (read_place(&place, &text, err) < 0) {
        err_wrap(err, "%s", digest->text);
        return NULL;
    }
    if (sha256_digest(text.data, text.len, &actual, err) < 0)
        return NULL;
    if (!digest_equal(&actual, digest)) {
        err_set(err, ERR_DIGEST, "blob %s has content %s", digest->text, actual.text);
        return NULL;
    }
    struct json_doc *doc = json_parse(text.data, text.len, &image_json_options, err);
    if (!doc)
        err_wrap(err, "%s", digest->text);
    l->json_size += text.len;
    return doc;
}

/* ---- from index to manifest ---- */

/* By the descriptor's type, else by the document's own, else by what it has. */
static bool is_index(const struct json *descriptor, const struct json *doc)
{
    const char *type = json_text(json_get(descriptor, "mediaType"));

    if (!type)
        type = json_text(json_get(doc, "mediaType"));
    if (!type)
        return json_get(doc, "manifests") != NULL;
    return strstr(type, "image.index") || strstr(type, "manifest.list");
}

/* One text must not be read as an index by some and as a manifest by others. */
static int check_kind(const struct json *doc, struct err *err)
{
    uint64_t version;

    if (json_get(doc, "manifests") && (json_get(doc, "layers") || json_get(doc, "config")))
        return err_set(err, ERR_FORMAT, "it is an index and a manifest at once");
    if (json_u64(json_get(doc, "schemaVersion"), &version) && version == 1)
        return err_set(err, ERR_UNSUPPORTED,
                       "a manifest of schema 1 (before Docker 1.10): push the image again");
    return 0;
}

/* Attestations and the like sit in an index beside images; their platform is unknown/unknown. */
bool image_is_platform(const struct json *descriptor)
{
    const char *os = json_text(json_path(descriptor, "platform", "os", NULL));

    return (!os || strcmp(os, "unknown") != 0) &&
           !json_path(descriptor, "annotations", "vnd.docker.reference.type", NULL);
}

static const char *host_platform(void)
{
    static const struct {
        const char *machine, *platform;
    } known[] = {{"x86_64", "linux/amd64"},
                 {"aarch64", "linux/arm64"},
                 {"ppc64le", "linux/ppc64le"},
                 {"s390x", "linux/s390x"},
                 {"riscv64", "linux/riscv64"}};
    struct utsname u;

    if (uname(&u) == 0)
        for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
            if (strcmp(u.machine, known[i].machine) == 0)
                return known[i].platform;
    return "linux/amd64";
}

/* `has`: an object with os, architecture and perhaps variant: a descriptor's platform, a config. */
static bool platform_matches(struct json *has, const char *wanted)
{
    const char *os = json_text(json_get(has, "os"));
    const char *arch = json_text(json_get(has, "architecture"));
    const char *variant = json_text(json_get(has, "variant"));
    char text[256];

    if (!os || !arch)
        return false;
    snprintf(text, sizeof(text), "%s/%s", os, arch);
    if (strcmp(text, wanted) == 0)
        return true;
    snprintf(text, sizeof(text), "%s/%s/%s", os, arch, variant ? variant : "");
    return strcmp(text, wanted) == 0;
}

static bool is_any(const char *selector)
{
    return selector && strcmp(selector, PLATFORM_ANY) == 0;
}

static bool is_digest(const char *selector)
{
    return selector && strncmp(selector, "sha256:", 7) == 0;
}

static bool names_platform(const char *selector)
{
    return selector && !is_any(selector) && !is_digest(selector);
}

int image_check_platform(const struct image *image, const char *platform, struct err *err)
{
    struct json *config = json_root(image->config);

    if (!names_platform(platform) || !json_get(config, "os") || platform_matches(config, platform))
        return 0;
    return err_set(err, ERR_USAGE, "the image is not for %s", platform);
}

static bool is_chosen(const struct json *descriptor, const char *platform)
{
    const char *digest = json_text(json_get(descriptor, "digest"));

    return !platform || is_any(platform) || (digest && strcmp(platform, digest) == 0) ||
           platform_matches(json_get(descriptor, "platform"), platform);
}

static const char *ref_name(const struct json *descriptor)
{
    return json_text(
        json_path(descriptor, "annotations", "org.opencontainers.image.ref.name", NULL));
}

/* What could have been named: tags, or platforms. */
static void put_choices(const struct json *manifests, bool tags, struct buf *out)
{
    enum { SHOWN = 600 };

    for (size_t i = 0; i < json_count(manifests) && out->len < SHOWN; i++) {
        const struct json *d = json_at(manifests, i), *platform = json_get(d, "platform");
        const char *os = json_text(json_get(platform, "os"));
        const char *variant = json_text(json_get(platform, "variant"));
        const char *text = tags ? ref_name(d) : json_text(json_get(platform, "architecture"));
        if (!text || !image_is_platform(d))
            continue;
        buf_puts(out, out->len ? ", " : "; it has ");
        if (!tags && os)
            buf_put_printable(out, os, strlen(os)), buf_putc(out, '/');
        buf_put_printable(out, text, strlen(text));
        if (!tags && variant)
            buf_putc(out, '/'), buf_put_printable(out, variant, strlen(variant));
    }
}

static void refuse_choice(const struct json *manifests, const char *tag, const char *platform,
                          struct err *err)
{
    _cleanup_buf_ struct buf choices = BUF_INIT;

    put_choices(manifests, tag != NULL, &choices);
    err_set(err, ERR_USAGE, "no image%s%s%s%s in the layout%s", tag ? " named " : "",
            tag ? tag : "", platform ? " for " : "", platform ? platform : "",
            choices.data ? choices.data : "");
}

/* The descriptor that the tag and the platform single out from an index. */
static struct json *choose(struct json *index, const char *tag, const char *platform,
                           struct err *err)
{
    struct json *manifests = json_get(index, "manifests"), *found = NULL;
    size_t matches = 0;

    for (size_t i = 0; i < json_count(manifests); i++) {
        struct json *d = json_at(manifests, i);
        const char *name = ref_name(d);
        if (!image_is_platform(d) || (tag && (!name || strcmp(name, tag) != 0)) ||
            !is_chosen(d, platform))
            continue;
        found = d;
        if (++matches == 1 && (is_any(platform) || is_digest(platform)))
            break;
    }
    if (matches == 1)
        return found;
    if (matches == 0)
        refuse_choice(manifests, tag, platform, err);
    else
        err_set(err, ERR_USAGE,
                "the layout holds %zu images: name one, as in oci:DIR:TAG, or "
                "give --platform",
                matches);
    return NULL;
}

static size_t images_in(struct json *index)
{
    struct json *manifests = json_get(index, "manifests");
    size_t count = 0;

    for (size_t i = 0; i < json_count(manifests); i++)
        count += image_is_platform(json_at(manifests, i));
    return count;
}

/* What an index leads to. One that holds an index alone stands for that one. */
static struct json *choose_below(struct json *index, const char *platform, struct err *err)
{
    struct json *manifests = json_get(index, "manifests");
    size_t images = images_in(index), nested = 0;

    for (size_t i = 0; i < json_count(manifests); i++)
        nested += is_index(json_at(manifests, i), NULL);
    if (images == 1 && nested == 1)
        platform = NULL;
    else if (nested && is_any(platform)) {
        err_set(err, ERR_UNSUPPORTED,
                "an index beside others in an index: choose one image with --platform");
        return NULL;
    } else if (!platform && images > 1)
        platform = host_platform();
    return choose(index, NULL, platform, err);
}

/* Follows indexes down to a manifest, whose digest it leaves in *digest. */
static struct json_doc *find_manifest(struct layout *l, const struct json *descriptor, int depth,
                                      struct digest *digest, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = read_json_blob(l, descriptor, BLOB_MANIFEST, digest, err);

    if (!doc)
        return NULL;
    if (check_kind(json_root(doc), err) < 0) {
        err_wrap(err, "%s", digest->text);
        return NULL;
    }
    if (!is_index(descriptor, json_root(doc)))
        return steal_ptr(&doc);
    if (depth == MOST_INDEXES) {
        err_set(err, ERR_LIMIT, "indexes point to indexes more than %d deep", MOST_INDEXES);
        return NULL;
    }
    cleanup_json_doc(&l->index);
    l->index = steal_ptr(&doc);
    const struct json *next = choose_below(json_root(l->index), l->platform, err);
    return next ? find_manifest(l, next, depth + 1, digest, err) : NULL;
}

static int request_layer(const struct json *descriptor, struct blob_request *out, struct err *err)
{
    if (request_parse(descriptor, BLOB_LAYER, out, err) < 0)
        return -1;
    if (out->media_type && strstr(out->media_type, "+encrypted"))
        return err_set(err, ERR_UNSUPPORTED, "it is encrypted");
    return 0;
}

static int add_layers(const struct layout *l, struct image *image, struct err *err)
{
    struct json *layers = json_get(json_root(image->manifest), "layers");
    size_t count = image->layer_count, failed = 0;

    if (json_count(layers) != count)
        return err_set(err, ERR_FORMAT, "the manifest has %zu layers, the config %zu diff_ids",
                       json_count(layers), count);
    _cleanup_free_ struct blob_request *requests = calloc(count, sizeof(*requests));
    _cleanup_free_ struct blob_place *places = calloc(count, sizeof(*places));
    if (!requests || !places)
        return err_nomem(err);
    for (size_t i = 0; i < count; i++)
        if (request_layer(json_at(layers, i), &requests[i], err) < 0)
            return err_wrap(err, "layer %zu", i + 1);
    for (size_t i = 0; i < count; i++) {
        image->layers[i].digest = requests[i].digest;
        image->layers[i].size = requests[i].size;
    }
    if (l->store->outline)
        return 0;
    if (l->store->ops->open(l->store, requests, count, places, &failed, err) < 0)
        return err_wrap(err, "layer %zu", failed + 1);
    for (size_t i = 0; i < count; i++) {
        struct layer *layer = &image->layers[i];
        layer->fd = places[i].fd;
        layer->offset = places[i].offset;
        layer->size = places[i].size;
    }
    for (size_t i = 0; i < count; i++)
        if (check_size(&requests[i], &places[i], err) < 0)
            return err_wrap(err, "layer %zu", i + 1);
    return 0;
}

static struct image *open_manifest(struct layout *l, struct json *descriptor, struct err *err)
{
    struct digest digest, config_digest;
    _cleanup_json_ struct json_doc *manifest = find_manifest(l, descriptor, 0, &digest, err);

    if (!manifest)
        return NULL;
    struct json *config_descriptor = json_get(json_root(manifest), "config");
    if (!config_descriptor) {
        err_set(err, ERR_FORMAT, "the manifest has no config");
        return NULL;
    }
    struct json_doc *config =
        read_json_blob(l, config_descriptor, BLOB_CONFIG, &config_digest, err);
    _cleanup_image_ struct image *image = config ? image_new(config, err) : NULL;
    if (!image)
        return NULL;
    /* A descriptor need not say its platform, and a tag chooses without looking at it. */
    if (image_check_platform(image, l->platform, err) < 0)
        return NULL;
    image->manifest = steal_ptr(&manifest);
    image->digest = digest;
    image->config_digest = config_digest;
    image->index = steal_ptr(&l->index);
    image->json_size = l->json_size;
    return add_layers(l, image, err) < 0 ? NULL : steal_ptr(&image);
}

struct image *image_open_descriptor(struct blob_store *store, struct json *descriptor,
                                    const char *platform, struct err *err)
{
    struct layout l = {.store = store, .platform = platform};
    struct image *image = open_manifest(&l, descriptor, err);

    cleanup_json_doc(&l.index);
    return image;
}

/* ---- a layout ---- */

static int check_layout(struct blob_store *store, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (store->ops->read(store, "oci-layout", 64 * 1024, &text, err) < 0)
        return err_wrap(err, "not an OCI image layout");
    _cleanup_json_ struct json_doc *doc = json_parse(text.data, text.len, NULL, err);
    const char *version = doc ? json_text(json_get(json_root(doc), "imageLayoutVersion")) : NULL;
    if (!version || strncmp(version, "1.", 2) != 0)
        return err_set(err, ERR_FORMAT, "oci-layout does not say imageLayoutVersion 1");
    return 0;
}

static struct json_doc *read_index(struct blob_store *store, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (check_layout(store, err) < 0 ||
        store->ops->read(store, "index.json", IMAGE_JSON_LIMIT, &text, err) < 0)
        return NULL;
    struct json_doc *index = json_parse(text.data, text.len, &image_json_options, err);
    if (!index)
        err_wrap(err, "index.json");
    return index;
}

int image_list_layout(struct blob_store *store, size_t **places, size_t *count, struct err *err)
{
    _cleanup_json_ struct json_doc *index = read_index(store, err);

    if (!index)
        return -1;
    const struct json *manifests = json_get(json_root(index), "manifests");
    *count = 0;
    if (!(*places = calloc(json_count(manifests) + 1, sizeof(**places))))
        return err_nomem(err);
    for (size_t i = 0; i < json_count(manifests); i++)
        if (image_is_platform(json_at(manifests, i)))
            (*places)[(*count)++] = i;
    return 0;
}

/* By its place, its tag, or for being the only one; where there are several, by platform. */
static struct json *choose_top(struct json *index, const char *tag, const char *platform,
                               struct err *err)
{
    bool several = images_in(index) > 1 && !tag;
    size_t place;

    if (tag && image_name_place(tag, &place)) {
        struct json *found = json_at(json_get(index, "manifests"), place);
        if (!found)
            err_set(err, ERR_USAGE, "no image %s in the layout: the first is @0", tag);
        return found;
    }
    return choose(index, tag, several && names_platform(platform) ? platform : NULL, err);
}

struct image *image_open_layout(struct blob_store *store, const char *tag, const char *platform,
                                struct err *err)
{
    _cleanup_json_ struct json_doc *index = read_index(store, err);
    struct json *descriptor = index ? choose_top(json_root(index), tag, platform, err) : NULL;

    if (!descriptor)
        return NULL;
    struct image *image = image_open_descriptor(store, descriptor, platform, err);
    const char *name = ref_name(descriptor);
    if (image && name)
        image->name = strdup(name);
    return image;
}
