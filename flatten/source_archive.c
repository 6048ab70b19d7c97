#include "flatten/image.h"

#include "base/fdio.h"
#include "base/path.h"
#include "flatten/spool.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

/*
 * What `docker save` writes: a tar archive with manifest.json, which names a config and the layers
 * (moby image/spec/v1.2). Before Docker 25 layers are ID/layer.tar, one perhaps a symbolic link to
 * another's; since then they are blobs/sha256/HEX beside an OCI layout. Members are found once,
 * then read where they lie. An archive that is compressed whole, or a pipe, is spooled first.
 */
enum { MOST_MEMBERS = 100000, MOST_LINKS = 8 };

struct member {
    char *name; /* clean */
    char *link; /* where a symbolic or hard link points, as it stands; or NULL */
    bool hard;
    off_t offset;
    uint64_t size;
};

struct members {
    int fd;
    struct member *list;
    size_t count, cap;
};

static void members_clear(struct members *m)
{
    for (size_t i = 0; i < m->count; i++) {
        free(m->list[i].name);
        free(m->list[i].link);
    }
    free(m->list);
    cleanup_fd(&m->fd);
}

static char *clean_name(const char *text, struct err *err)
{
    _cleanup_buf_ struct buf clean = BUF_INIT;

    if (path_clean(text, strlen(text), &clean, err) < 0)
        return NULL;
    return buf_take(&clean, err);
}

static int add_member(struct members *m, struct archive *a, struct archive_entry *entry,
                      struct err *err)
{
    const char *name = archive_entry_pathname(entry);
    const char *hard = archive_entry_hardlink(entry), *soft = archive_entry_symlink(entry);
    const char *link = hard ? hard : soft;

    if (!name)
        return err_set(err, ERR_FORMAT, "a member has no name");
    if (m->count == MOST_MEMBERS)
        return err_set(err, ERR_LIMIT, "more than %d members", MOST_MEMBERS);
    if (m->count == m->cap) {
        size_t cap = m->cap ? m->cap * 2 : 64;
        struct member *list = realloc(m->list, cap * sizeof(*list));
        if (!list)
            return err_nomem(err);
        m->list = list;
        m->cap = cap;
    }
    struct member *member = &m->list[m->count];
    *member = (struct member){.offset = archive_filter_bytes(a, 0), .hard = hard != NULL};
    member->size = (uint64_t)archive_entry_size(entry);
    member->name = clean_name(name, err);
    if (!member->name)
        return -1;
    m->count++;
    if (link && !(member->link = strdup(link)))
        return err_nomem(err);
    return 0;
}

static int scan_entries(struct members *m, struct archive *a, struct err *err)
{
    struct archive_entry *entry;
    int rc;

    while ((rc = archive_read_next_header(a, &entry)) == ARCHIVE_OK || rc == ARCHIVE_WARN) {
        mode_t type = archive_entry_filetype(entry);
        bool linked = archive_entry_hardlink(entry) != NULL;
        if ((type == AE_IFREG || type == AE_IFLNK || linked) && add_member(m, a, entry, err) < 0)
            return -1;
    }
    if (rc != ARCHIVE_EOF)
        return err_set(err, ERR_FORMAT, "not an archive of images: %s", archive_error_string(a));
    return 0;
}

static int scan(struct members *m, struct err *err)
{
    struct archive *a = archive_read_new();

    if (!a)
        return err_nomem(err);
    int rc = -1;
    if (archive_read_support_format_tar(a) != ARCHIVE_OK ||
        archive_read_open_fd(a, m->fd, 64 * 1024) != ARCHIVE_OK)
        err_set(err, ERR_FORMAT, "not a tar archive: %s", archive_error_string(a));
    else
        rc = scan_entries(m, a, err);
    archive_read_free(a);
    return rc;
}

/* The last member of that name, as tar has it. */
static const struct member *find(const struct members *m, const char *name)
{
    for (size_t i = m->count; i-- > 0;)
        if (strcmp(m->list[i].name, name) == 0)
            return &m->list[i];
    return NULL;
}

/* The member that `name` denotes, through links; relative ones start at the link's directory. */
static const struct member *lookup(const struct members *m, const char *name, struct err *err)
{
    _cleanup_free_ char *at = clean_name(name, err);

    for (int links = 0; at && links < MOST_LINKS; links++) {
        const struct member *found = find(m, at);
        if (!found) {
            err_set(err, ERR_FORMAT, "%s is not in the archive", name);
            return NULL;
        }
        if (!found->link)
            return found;
        const char *slash = strrchr(found->name, '/');
        int dir = found->hard || !slash ? 0 : (int)(slash - found->name);
        _cleanup_free_ char *joined = strf("%.*s/%s", dir, found->name, found->link);
        free(at);
        at = joined ? clean_name(joined, err) : NULL;
    }
    if (at)
        err_set(err, ERR_FORMAT, "%s: too many links", name);
    return NULL;
}

static int read_member(const struct members *m, const char *name, struct buf *out, struct err *err)
{
    const struct member *member = lookup(m, name, err);

    if (!member)
        return -1;
    if (member->size > IMAGE_JSON_LIMIT)
        return err_set(err, ERR_LIMIT, "%s has more than %d bytes", name, IMAGE_JSON_LIMIT);
    char *end = buf_reserve(out, (size_t)member->size);
    if (!end)
        return err_nomem(err);
    if (fd_pread_exact(m->fd, end, (size_t)member->size, member->offset, err) < 0)
        return err_wrap(err, "%s", name);
    out->len += (size_t)member->size;
    out->data[out->len] = '\0';
    return 0;
}

static struct json_doc *read_json(const struct members *m, const char *name, struct digest *digest,
                                  struct err *err)
{
    static const struct json_options options = {.max_bytes = IMAGE_JSON_LIMIT, .unique_keys = true};
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (read_member(m, name, &text, err) < 0 || sha256_digest(text.data, text.len, digest, err) < 0)
        return NULL;
    struct json_doc *doc = json_parse(text.data, text.len, &options, err);
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

/* Says which names there are: the first of each image. */
static void ask_for_name(const struct json *list, struct err *err)
{
    enum { SHOWN = 600 };
    _cleanup_buf_ struct buf names = BUF_INIT;

    for (size_t i = 0; i < json_count(list) && names.len < SHOWN; i++) {
        const char *name = json_text(json_at(json_get(json_at(list, i), "RepoTags"), 0));
        buf_puts(&names, i ? ", " : "");
        buf_put_printable(&names, name ? name : "(no name)", strlen(name ? name : "(no name)"));
    }
    err_set(err, ERR_USAGE,
            "the archive holds %zu images: name one, as in docker-archive:FILE:NAME:TAG; they are "
            "%s",
            json_count(list), names.data ? names.data : "");
}

static const struct json *choose(const struct json *list, const char *name, struct err *err)
{
    if (!json_is(list, JSON_ARRAY)) {
        err_set(err, ERR_FORMAT, "manifest.json is not an array");
        return NULL;
    }
    if (!name && json_count(list) == 1)
        return json_at(list, 0);
    if (!name) {
        ask_for_name(list, err);
        return NULL;
    }
    for (size_t i = 0; i < json_count(list); i++)
        if (is_named(json_at(list, i), name))
            return json_at(list, i);
    err_set(err, ERR_USAGE, "no image named %s in the archive", name);
    return NULL;
}

/* A config that bears its digest as its name is held to it. */
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
    const struct member *member = path ? lookup(m, path, err) : NULL;

    if (!path)
        return err_set(err, ERR_FORMAT, "manifest.json: Layers must be strings");
    if (!member)
        return -1;
    layer->fd = fcntl(m->fd, F_DUPFD_CLOEXEC, 3);
    if (layer->fd < 0)
        return err_sys(err, "dup");
    layer->offset = member->offset;
    layer->size = member->size;
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
        err_set(err, ERR_FORMAT, "manifest.json has %zu layers, the config %zu diff_ids",
                json_count(layers), image->layer_count);
        return NULL;
    }
    for (size_t i = 0; i < image->layer_count; i++) {
        if (add_layer(m, &image->layers[i], json_text(json_at(layers, i)), err) < 0) {
            err_wrap(err, "layer %zu", i + 1);
            return NULL;
        }
    }
    const char *name = json_text(json_at(json_get(item, "RepoTags"), 0));
    if (name && !(image->name = strdup(name))) {
        err_nomem(err);
        return NULL;
    }
    return steal_ptr(&image);
}

/* An uncompressed archive, from which members can be read at random. */
static int open_file(const char *path, struct err *err)
{
    _cleanup_fd_ int fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                                 : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    enum compression kind;
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return err_sys(err, "open");
    if (S_ISDIR(st.st_mode))
        return err_set(err, ERR_USAGE, "is a directory; an OCI layout is oci:%s", path);
    struct stream *raw = stream_fd(fd, err);
    _cleanup_stream_ struct stream *s = raw ? stream_decompress(raw, &kind, err) : NULL;
    if (!s)
        return -1;
    return S_ISREG(st.st_mode) && kind == COMPRESSION_NONE ? steal_fd(&fd) : spool_stream(s, err);
}

static struct image *open_members(struct members *m, const char *name, struct err *err)
{
    struct digest unused;

    if (lseek(m->fd, 0, SEEK_SET) < 0) {
        err_sys(err, "seek");
        return NULL;
    }
    if (scan(m, err) < 0)
        return NULL;
    _cleanup_json_ struct json_doc *manifest = read_json(m, "manifest.json", &unused, err);
    if (!manifest) {
        err_wrap(err, "not made by docker save");
        return NULL;
    }
    const struct json *item = choose(json_root(manifest), name, err);
    return item ? open_item(m, item, err) : NULL;
}

struct image *image_open_archive_fd(int fd, const char *name, struct err *err)
{
    struct members m = {.fd = fd};
    struct image *image = open_members(&m, name, err);

    members_clear(&m);
    return image;
}

struct image *image_open_archive(const struct reference *ref, struct err *err)
{
    int fd = open_file(ref->path, err);
    struct image *image = fd < 0 ? NULL : image_open_archive_fd(fd, ref->name, err);

    if (!image)
        err_wrap(err, "%s", ref->path);
    return image;
}
