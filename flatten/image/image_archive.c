#include "flatten/image/image_internal.h"

#include "base/human.h"
#include "flatten/exchange/image_limits.h"
#include "flatten/image/archive_members.h"
#include "flatten/name/image_name.h"

#include <fcntl.h>
#include <string.h>

/*
 * The output of `docker save`: a tar archive with manifest.json, which names a config and the
 * layers (moby image/spec/v1.2). Before Docker 25 a layer is ID/layer.tar, perhaps a symbolic link
 * to another's; since then it is blobs/sha256/HEX beside an OCI layout.
 */

enum { MOST_NAMES = 1024 };

static struct json_doc *read_json(const struct members *m, const char *name, struct digest *digest,
                                  struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (members_read(m, name, IMAGE_JSON_LIMIT, &text, err) < 0 ||
        sha256_digest(text.data, text.len, digest, err) < 0)
        return NULL;
    struct json_doc *doc = json_parse(text.data, text.len, &image_json_options, err);
    if (!doc)
        err_wrap(err, "%s", name);
    return doc;
}

/* "name" means "name:latest"; registries' default prefixes are left to the engines. */
static bool tag_matches(const char *tag, const char *wanted)
{
    size_t len = strlen(wanted);
    const char *slash = strrchr(wanted, '/');

    if (strcmp(tag, wanted) == 0)
        return true;
    return !strchr(slash ? slash : wanted, ':') && strncmp(tag, wanted, len) == 0 &&
           strcmp(tag + len, ":latest") == 0;
}

static bool is_named(const struct json *item, const char *wanted)
{
    const struct json *tags = json_get(item, "RepoTags");

    for (size_t i = 0; i < json_count(tags); i++) {
        const char *tag = json_text(json_at(tags, i));
        if (tag && tag_matches(tag, wanted))
            return true;
    }
    return false;
}

/* Lists how to name each image after "docker-archive:FILE:": by its first name, or by "@N". */
static void put_names(const struct json *list, struct buf *out)
{
    enum { SHOWN = 600 };

    for (size_t i = 0; i < json_count(list) && out->len < SHOWN; i++) {
        const char *name = json_text(json_at(json_get(json_at(list, i), "RepoTags"), 0));
        buf_puts(out, i ? ", " : "");
        if (name)
            buf_put_printable(out, name, strlen(name));
        else
            buf_printf(out, "@%zu", i);
    }
}

static const struct json *choose_item(const struct json *list, const char *path, const char *name,
                                      struct err *err)
{
    _cleanup_buf_ struct buf names = BUF_INIT;

    if (!json_is(list, JSON_ARRAY)) {
        err_set(err, ERR_FORMAT, "manifest.json is not an array");
        return NULL;
    }
    if (!name && json_count(list) == 1)
        return json_at(list, 0);
    size_t place;
    const struct json *found = name && image_name_place(name, &place) ? json_at(list, place) : NULL;
    for (size_t i = 0; name && !found && i < json_count(list); i++)
        if (is_named(json_at(list, i), name))
            found = json_at(list, i);
    if (found)
        return found;
    put_names(list, &names);
    const char *known = names.data ? names.data : "";
    if (json_count(list) == 0)
        err_set(err, ERR_USAGE, "the archive holds 0 images");
    else if (name)
        err_set(err, ERR_USAGE, "no image named %s in the archive; it has %s", name, known);
    else
        err_set(
            err, ERR_USAGE,
            "the archive holds %zu images: name one, as in docker-archive:%s:%.*s; they are %s; "
            "squash takes all of them with --all-images",
            json_count(list), path, (int)strcspn(known, ","), known, known);
    return NULL;
}

/* A config whose file name is a digest must have that digest. */
static int check_config_name(const char *path, const struct digest *digest, struct err *err)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t hex = strspn(base, "0123456789abcdef");

    if (hex != 2 * SHA256_SIZE || (base[hex] && strcmp(base + hex, ".json") != 0))
        return 0;
    if (strncmp(base, digest_hex(digest), hex) != 0)
        return err_set(err, ERR_DIGEST, "%s has content %s", path, digest->text);
    return 0;
}

static int add_layer(const struct members *m, struct layer *layer, const char *path,
                     struct err *err)
{
    const struct member *member = path ? members_lookup(m, path, err) : NULL;

    if (!path)
        return err_set(err, ERR_FORMAT, "manifest.json: Layers must be strings");
    if (!member)
        return -1;
    layer->offset = member->offset;
    layer->size = member->size;
    layer->fd = fcntl(m->fd, F_DUPFD_CLOEXEC, 3);
    return layer->fd < 0 ? err_sys(err, "dup") : 0;
}

static int add_names(struct image *image, const struct json *tags, struct err *err)
{
    size_t count = json_count(tags);

    if (count > MOST_NAMES)
        return err_set(err, ERR_LIMIT, "an image has more than %d names", MOST_NAMES);
    if (count > 1 && !(image->others = calloc(count - 1, sizeof(*image->others))))
        return err_nomem(err);
    for (size_t i = 0; i < count; i++) {
        const char *text = json_text(json_at(tags, i));
        char *name = text ? strdup(text) : NULL;
        if (!name)
            return text ? err_nomem(err)
                        : err_set(err, ERR_FORMAT, "manifest.json: RepoTags must be strings");
        if (i == 0)
            image->name = name;
        else
            image->others[image->other_count++] = name;
    }
    return 0;
}

static struct image *open_item(const struct members *m, const struct json *item, struct err *err)
{
    const char *path = json_text(json_get(item, "Config"));
    const struct json *layers = json_get(item, "Layers");
    struct digest digest;

    if (!path) {
        err_set(err, ERR_FORMAT, "manifest.json names no Config");
        return NULL;
    }
    struct json_doc *config = read_json(m, path, &digest, err);
    _cleanup_image_ struct image *image = config ? image_new(config, err) : NULL;
    if (!image || check_config_name(path, &digest, err) < 0)
        return NULL;
    image->config_digest = digest;
    if (json_count(layers) != image->layer_count) {
        err_set(err, ERR_FORMAT, "manifest.json has %zu layer%s, the config %zu diff_id%s",
                json_count(layers), human_s(json_count(layers)), image->layer_count,
                human_s(image->layer_count));
        return NULL;
    }
    for (size_t i = 0; i < image->layer_count; i++) {
        if (add_layer(m, &image->layers[i], json_text(json_at(layers, i)), err) < 0) {
            err_wrap(err, "layer %zu", i + 1);
            return NULL;
        }
    }
    return add_names(image, json_get(item, "RepoTags"), err) < 0 ? NULL : steal_ptr(&image);
}

static struct json_doc *read_manifest(const struct members *m, struct err *err)
{
    struct digest unused;
    struct json_doc *manifest = read_json(m, "manifest.json", &unused, err);

    if (!manifest)
        err_wrap(err, "not made by docker save");
    return manifest;
}

static struct image *open_docker(const struct members *m, const char *path, const char *name,
                                 struct err *err)
{
    _cleanup_json_ struct json_doc *manifest = read_manifest(m, err);

    if (!manifest)
        return NULL;
    const struct json *item = choose_item(json_root(manifest), path, name, err);
    return item ? open_item(m, item, err) : NULL;
}

/* ---- oci-archive: a layout in a tar archive ---- */

struct archive_store {
    struct blob_store base;
    const struct members *members;
};

static int open_blob(struct blob_store *base, const struct blob_request *request,
                     struct blob_place *out, struct err *err)
{
    const struct members *m = ((struct archive_store *)base)->members;
    char path[BLOB_PATH_SIZE];

    blob_path(&request->digest, path);
    const struct member *member = members_lookup(m, path, err);
    if (!member)
        return -1;
    *out = (struct blob_place){
        .fd = fcntl(m->fd, F_DUPFD_CLOEXEC, 3), .offset = member->offset, .size = member->size};
    return out->fd < 0 ? err_sys(err, "dup") : 0;
}

static int read_layout_file(struct blob_store *s, enum oci_file file, struct buf *out,
                            struct err *err)
{
    const struct layout_file_rule *rule = &layout_files[file];

    return members_read(((struct archive_store *)s)->members, rule->name, rule->limit, out, err);
}

static const struct blob_store_ops store_ops = {.open_one = open_blob, .read = read_layout_file};

static struct image *open_oci(const struct members *m, const char *tag,
                              const struct image_choice *of, struct err *err)
{
    struct archive_store store = {{.ops = &store_ops}, m};
    const struct image_choice choice = {.platform = of->platform, .artifact = of->artifact};

    return image_read_layout(&store.base, tag, &choice, err);
}

/* ---- either ---- */

/*
 * True if the archive is to be read as a layout. One that is both is read as Docker's, unless its
 * reference says otherwise.
 */
static bool is_oci(const struct reference *ref, const struct members *m)
{
    return ref->transport == TRANSPORT_OCI_ARCHIVE ||
           (ref->sniffed && !members_find(m, "manifest.json") && members_find(m, "index.json"));
}

/*
 * Rejects an archive of the other kind than the reference says, with the reference that would be
 * right.
 */
static int check_kind(const struct reference *ref, const struct members *m, struct err *err)
{
    bool docker = members_find(m, "manifest.json"), layout = members_find(m, "oci-layout");

    if (ref->sniffed || docker == layout)
        return 0;
    if (ref->transport == TRANSPORT_OCI_ARCHIVE && docker)
        return err_set(err, ERR_FORMAT,
                       "not an OCI image layout, but what docker save writes: docker-archive:%s",
                       ref->path);
    if (ref->transport == TRANSPORT_DOCKER_ARCHIVE && layout)
        return err_set(err, ERR_FORMAT,
                       "not made by docker save, but an OCI image layout: oci-archive:%s",
                       ref->path);
    return 0;
}

/*
 * Makes the archive readable at any place: a pipe can be read only once, and several images may be
 * read from one archive.
 */
static int make_plain(struct source *s, struct err *err)
{
    struct source_archive *a = &s->archive;
    int plain =
        a->plain ? 0
                 : members_plain(a->fd, a->regular, s->ref->max_ratio, a->spool, a->spool_ctx, err);

    if (plain <= 0)
        return plain;
    cleanup_fd(&a->fd);
    a->fd = plain;
    a->plain = true;
    return 0;
}

/* Lists the members of the archive and checks its kind. */
static int scan_source(struct source *s, struct members *m, struct err *err)
{
    if (make_plain(s, err) < 0)
        return -1;
    m->fd = fcntl(s->archive.fd, F_DUPFD_CLOEXEC, 3);
    if (m->fd < 0)
        return err_sys(err, "dup");
    return members_scan(m, err) < 0 ? -1 : check_kind(s->ref, m, err);
}

struct image *image_read_archive(struct source *s, const char *name,
                                 const struct image_choice *choice, struct err *err)
{
    _cleanup_members_ struct members m = {.fd = -1};

    if (scan_source(s, &m, err) < 0)
        return NULL;
    if (is_oci(s->ref, &m))
        return open_oci(&m, name, choice, err);
    _cleanup_image_ struct image *image = open_docker(&m, s->ref->path, name, err);
    return image && image_check_platform(image, choice->platform, err) == 0 ? steal_ptr(&image)
                                                                            : NULL;
}

struct image *image_read_archive_fd(int fd, struct err *err)
{
    _cleanup_members_ struct members m = {.fd = fd};

    if (members_scan(&m, err) < 0)
        return NULL;
    if (!members_find(&m, "manifest.json") && members_find(&m, "index.json"))
        return open_oci(&m, NULL, &(struct image_choice){0}, err);
    return open_docker(&m, "FILE", NULL, err);
}

static int list_docker(const struct members *m, size_t **places, size_t *count, struct err *err)
{
    _cleanup_json_ struct json_doc *manifest = read_manifest(m, err);

    if (!manifest)
        return -1;
    *count = json_count(json_root(manifest));
    if (!(*places = calloc(*count + 1, sizeof(**places))))
        return err_nomem(err);
    for (size_t i = 0; i < *count; i++)
        (*places)[i] = i;
    return 0;
}

int image_list_archive(struct source *s, size_t **places, size_t *count, struct err *err)
{
    _cleanup_members_ struct members m = {.fd = -1};
    struct archive_store store = {{.ops = &store_ops}, &m};

    if (scan_source(s, &m, err) < 0)
        return -1;
    return is_oci(s->ref, &m) ? image_list_layout(&store.base, places, count, err)
                              : list_docker(&m, places, count, err);
}
