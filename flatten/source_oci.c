#include "flatten/image.h"

#include "base/fdio.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

/* OCI image layout (image-spec image-layout.md): blobs/sha256/<hex>, index.json, oci-layout. */

enum { MOST_INDEXES = 4 }; /* indexes that point to indexes */

struct layout {
    int dir;
    const char *platform;
    struct json_doc *index; /* the last one followed; or NULL */
};

static int open_blob(const struct layout *l, const struct digest *digest, uint64_t *size,
                     struct err *err)
{
    char path[sizeof("blobs/sha256/") + DIGEST_SIZE];
    struct stat st;

    snprintf(path, sizeof(path), "blobs/sha256/%s", digest_hex(digest));
    _cleanup_fd_ int fd = openat(l->dir, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return err_sys(err, "%s", path);
    if (fstat(fd, &st) < 0)
        return err_sys(err, "%s", path);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_FORMAT, "%s is not a regular file", path);
    *size = (uint64_t)st.st_size;
    return steal_fd(&fd);
}

/* A descriptor's digest and, where it gives one, its size checked against the blob's. */
static int open_descriptor(const struct layout *l, const struct json *descriptor,
                           struct digest *digest, uint64_t *size, struct err *err)
{
    const char *text = json_text(json_get(descriptor, "digest"));
    uint64_t said;

    if (!text || digest_parse(text, digest, err) < 0)
        return err_set(err, ERR_FORMAT, "a descriptor has no sha256 digest");
    _cleanup_fd_ int fd = open_blob(l, digest, size, err);
    if (fd < 0)
        return -1;
    if (!json_u64(json_get(descriptor, "size"), &said))
        return err_set(err, ERR_FORMAT, "the descriptor of %s has no size", digest->text);
    if (said != *size)
        return err_set(err, ERR_DIGEST, "%s has %llu bytes, not %llu as its descriptor says",
                       digest->text, (unsigned long long)*size, (unsigned long long)said);
    return steal_fd(&fd);
}

static struct json_doc *read_json_blob(const struct layout *l, const struct json *descriptor,
                                       struct digest *digest, struct err *err)
{
    static const struct json_options options = {.max_bytes = IMAGE_JSON_LIMIT, .unique_keys = true};
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct digest actual;
    uint64_t size;
    _cleanup_fd_ int fd = open_descriptor(l, descriptor, digest, &size, err);

    if (fd < 0)
        return NULL;
    if (fd_read_all(fd, IMAGE_JSON_LIMIT, &text, err) < 0 ||
        sha256_digest(text.data, text.len, &actual, err) < 0)
        return NULL;
    if (!digest_equal(&actual, digest)) {
        err_set(err, ERR_DIGEST, "blob %s has content %s", digest->text, actual.text);
        return NULL;
    }
    struct json_doc *doc = json_parse(text.data, text.len, &options, err);
    if (!doc)
        err_wrap(err, "%s", digest->text);
    return doc;
}

static bool is_index(const struct json *descriptor)
{
    const char *type = json_text(json_get(descriptor, "mediaType"));

    return type && (strstr(type, "image.index") || strstr(type, "manifest.list"));
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

static bool names_platform(const char *selector)
{
    return selector && strcmp(selector, PLATFORM_ANY) != 0 && strncmp(selector, "sha256:", 7) != 0;
}

static bool is_chosen(const struct json *descriptor, const char *platform)
{
    const char *digest = json_text(json_get(descriptor, "digest"));

    return !platform || strcmp(platform, PLATFORM_ANY) == 0 ||
           (digest && strcmp(platform, digest) == 0) ||
           platform_matches(json_get(descriptor, "platform"), platform);
}

/* The descriptor that the tag and the platform single out from an index. */
static struct json *choose(struct json *index, const char *tag, const char *platform,
                           struct err *err)
{
    struct json *manifests = json_get(index, "manifests"), *found = NULL;
    size_t matches = 0;

    for (size_t i = 0; i < json_count(manifests); i++) {
        struct json *d = json_at(manifests, i);
        const char *name =
            json_text(json_path(d, "annotations", "org.opencontainers.image.ref.name", NULL));
        if (!image_is_platform(d) || (tag && (!name || strcmp(name, tag) != 0)) ||
            !is_chosen(d, platform))
            continue;
        found = d;
        if (++matches == 1 && platform && strcmp(platform, PLATFORM_ANY) == 0)
            break;
    }
    if (matches == 1)
        return found;
    if (matches == 0)
        err_set(err, ERR_USAGE, "no image%s%s%s%s in the layout", tag ? " named " : "",
                tag ? tag : "", platform ? " for " : "", platform ? platform : "");
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

/* Follows indexes down to a manifest, whose digest it leaves in *digest. */
static struct json_doc *find_manifest(struct layout *l, const struct json *descriptor, int depth,
                                      struct digest *digest, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = read_json_blob(l, descriptor, digest, err);
    const char *platform = l->platform;

    if (!doc || !is_index(descriptor))
        return steal_ptr(&doc);
    if (depth == MOST_INDEXES) {
        err_set(err, ERR_LIMIT, "indexes point to indexes more than %d deep", MOST_INDEXES);
        return NULL;
    }
    if (!platform && images_in(json_root(doc)) > 1)
        platform = host_platform();
    cleanup_json_doc(&l->index);
    l->index = steal_ptr(&doc);
    const struct json *next = choose(json_root(l->index), NULL, platform, err);
    return next ? find_manifest(l, next, depth + 1, digest, err) : NULL;
}

static int add_layers(const struct layout *l, struct image *image, struct err *err)
{
    struct json *layers = json_get(json_root(image->manifest), "layers");

    if (json_count(layers) != image->layer_count)
        return err_set(err, ERR_FORMAT, "the manifest has %zu layers, the config %zu diff_ids",
                       json_count(layers), image->layer_count);
    for (size_t i = 0; i < image->layer_count; i++) {
        struct layer *layer = &image->layers[i];
        const char *type = json_text(json_get(json_at(layers, i), "mediaType"));
        if (type && strstr(type, "+encrypted"))
            return err_set(err, ERR_UNSUPPORTED, "layer %u is encrypted", layer->number);
        layer->fd = open_descriptor(l, json_at(layers, i), &layer->digest, &layer->size, err);
        if (layer->fd < 0)
            return err_wrap(err, "layer %u", layer->number);
    }
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
    struct json_doc *config = read_json_blob(l, config_descriptor, &config_digest, err);
    _cleanup_image_ struct image *image = config ? image_new(config, err) : NULL;
    if (!image)
        return NULL;
    /* A descriptor need not say its platform, and a tag chooses without looking at it. */
    if (names_platform(l->platform) && json_get(json_root(image->config), "os") &&
        !platform_matches(json_root(image->config), l->platform)) {
        err_set(err, ERR_USAGE, "the image is not for %s", l->platform);
        return NULL;
    }
    image->manifest = steal_ptr(&manifest);
    image->digest = digest;
    image->config_digest = config_digest;
    image->index = steal_ptr(&l->index);
    return add_layers(l, image, err) < 0 ? NULL : steal_ptr(&image);
}

static int check_layout(const struct layout *l, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (file_read(l->dir, "oci-layout", 64 * 1024, &text, err) < 0)
        return err_wrap(err, "not an OCI image layout");
    _cleanup_json_ struct json_doc *doc = json_parse(text.data, text.len, NULL, err);
    const char *version = doc ? json_text(json_get(json_root(doc), "imageLayoutVersion")) : NULL;
    if (!version || strncmp(version, "1.", 2) != 0)
        return err_set(err, ERR_FORMAT, "oci-layout does not say imageLayoutVersion 1");
    return 0;
}

static struct image *open_layout(struct layout *l, const char *tag, struct err *err)
{
    static const struct json_options options = {.max_bytes = IMAGE_JSON_LIMIT, .unique_keys = true};
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (check_layout(l, err) < 0 ||
        file_read(l->dir, "index.json", IMAGE_JSON_LIMIT, &text, err) < 0)
        return NULL;
    _cleanup_json_ struct json_doc *index = json_parse(text.data, text.len, &options, err);
    if (!index) {
        err_wrap(err, "index.json");
        return NULL;
    }
    bool several = images_in(json_root(index)) > 1 && !tag;
    const char *platform = several && names_platform(l->platform) ? l->platform : NULL;
    struct json *descriptor = choose(json_root(index), tag, platform, err);
    if (!descriptor)
        return NULL;
    struct image *image = open_manifest(l, descriptor, err);
    const char *name =
        json_text(json_path(descriptor, "annotations", "org.opencontainers.image.ref.name", NULL));
    if (image && name)
        image->name = strdup(name);
    return image;
}

struct image *image_open_oci(const struct reference *ref, const char *platform, struct err *err)
{
    _cleanup_fd_ int dir = open(ref->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct layout l = {.dir = dir, .platform = platform};

    if (dir < 0) {
        err_sys(err, "%s", ref->path);
        return NULL;
    }
    struct image *image = open_layout(&l, ref->name, err);
    cleanup_json_doc(&l.index);
    if (!image)
        err_wrap(err, "%s", ref->path);
    return image;
}
