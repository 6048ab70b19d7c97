#include "flatten/image/image_index.h"

#include "flatten/image/image.h"
#include "flatten/image/image_source.h"

#include <string.h>
#include <sys/utsname.h>

/* The media type of the descriptor decides, else the one in the document, else its members. */
bool index_is_index(const struct json *descriptor, const struct json *doc)
{
    const char *type = json_text(json_get(descriptor, "mediaType"));

    if (!type)
        type = json_text(json_get(doc, "mediaType"));
    if (!type)
        return json_get(doc, "manifests") != NULL;
    return strstr(type, "image.index") || strstr(type, "manifest.list");
}

/* Attestations are in an index beside images; their platform is unknown/unknown. */
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

/* `has`: an object with os, architecture and perhaps variant, as in a descriptor or a config. */
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

bool index_names_platform(const char *selector)
{
    return selector && !is_any(selector) && !is_digest(selector);
}

int image_check_platform(const struct image *image, const char *platform, struct err *err)
{
    struct json *config = json_root(image->config);

    if (!index_names_platform(platform) || !json_get(config, "os") ||
        platform_matches(config, platform))
        return 0;
    return err_set(err, ERR_USAGE, "the image is not for %s", platform);
}

static bool is_chosen(const struct json *descriptor, const char *platform)
{
    const char *digest = json_text(json_get(descriptor, "digest"));

    return !platform || is_any(platform) || (digest && strcmp(platform, digest) == 0) ||
           platform_matches(json_get(descriptor, "platform"), platform);
}

const char *index_tag(const struct json *descriptor)
{
    return json_text(
        json_path(descriptor, "annotations", "org.opencontainers.image.ref.name", NULL));
}

/* Lists the tags, or the platforms, that could have been named. */
static void put_choices(const struct json *manifests, bool tags, struct buf *out)
{
    enum { SHOWN = 600 };

    for (size_t i = 0; i < json_count(manifests) && out->len < SHOWN; i++) {
        const struct json *d = json_at(manifests, i), *platform = json_get(d, "platform");
        const char *os = json_text(json_get(platform, "os"));
        const char *variant = json_text(json_get(platform, "variant"));
        const char *text = tags ? index_tag(d) : json_text(json_get(platform, "architecture"));
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
    if (!tag && platform && choices.len == 0) {
        put_choices(manifests, true, &choices);
        err_set(err, ERR_USAGE,
                "the layout does not say which platforms its images are for: name one, as in "
                "oci:DIR:TAG%s",
                choices.data ? choices.data : "");
        return;
    }
    err_set(err, ERR_USAGE, "no image%s%s%s%s in the layout%s", tag ? " named " : "",
            tag ? tag : "", platform ? " for " : "", platform ? platform : "",
            choices.data ? choices.data : "");
}

/* Asks for a tag, or a platform, where several images could be meant. */
static void ask_for_one(const struct json *manifests, size_t matches, struct err *err)
{
    _cleanup_buf_ struct buf tags = BUF_INIT, platforms = BUF_INIT;

    put_choices(manifests, true, &tags);
    put_choices(manifests, false, &platforms);
    err_set(err, ERR_USAGE, "the layout holds %zu images: name one, as in oci:DIR:TAG%s%s", matches,
            platforms.len ? ", or give --platform" : "", tags.data ? tags.data : "");
}

struct json *index_choose(struct json *index, const char *tag, const char *platform,
                          struct err *err)
{
    struct json *manifests = json_get(index, "manifests"), *found = NULL;
    size_t matches = 0;

    for (size_t i = 0; i < json_count(manifests); i++) {
        struct json *d = json_at(manifests, i);
        const char *name = index_tag(d);
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
        ask_for_one(manifests, matches, err);
    return NULL;
}

size_t index_count_images(struct json *index)
{
    struct json *manifests = json_get(index, "manifests");
    size_t count = 0;

    for (size_t i = 0; i < json_count(manifests); i++)
        count += image_is_platform(json_at(manifests, i));
    return count;
}

struct json *index_choose_below(struct json *index, const char *platform, struct err *err)
{
    struct json *manifests = json_get(index, "manifests");
    size_t images = index_count_images(index), nested = 0;

    for (size_t i = 0; i < json_count(manifests); i++)
        nested += index_is_index(json_at(manifests, i), NULL);
    if (images == 1 && nested == 1)
        platform = NULL;
    else if (nested && is_any(platform)) {
        err_set(err, ERR_UNSUPPORTED,
                "an index beside others in an index: choose one image with --platform");
        return NULL;
    } else if (!platform && images > 1)
        platform = host_platform();
    return index_choose(index, NULL, platform, err);
}
