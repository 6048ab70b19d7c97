#include "flatten/keeper/sink/sink_backends.h"

#include "base/fdio.h"
#include "base/files/atomic_file.h"
#include "base/files/dir_sync.h"
#include "base/files/unfinished.h"
#include "flatten/exchange/blob_store.h"
#include "flatten/exchange/image_limits.h"
#include "flatten/keeper/files/file_beneath.h"
#include "flatten/keeper/sink/digest_list.h"
#include "flatten/keeper/sink/sink_index.h"

#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

enum { MOST_ENDED = 128 }; /* each is an open file */

/* A layer that was written. */
struct ended_layer {
    struct atomic_file file;
    struct written_layer layer;
};

/*
 * An OCI image layout. A new one is made under a temporary name beside its place and then renamed;
 * if another run has made it meanwhile, its blobs are moved there. One that exists gets the new
 * blobs first, then, in one rename, an index.json that names them. A run holds the lock of the
 * directory that it writes to.
 */
struct oci_sink {
    struct sink base;
    int parent;                /* the directory in which the layout lies */
    char *name;                /* of the layout in `parent` */
    char tmp[UNFINISHED_NAME]; /* its name in `parent` until it is complete; "" if it existed */
    int dir, blobs;            /* the layout's directory, locked; and blobs/sha256 in it */
    struct atomic_file begun[1 + SINK_MOST_BESIDE];
    size_t begun_count;
    struct ended_layer ended[MOST_ENDED]; /* without a name yet: see name_layers */
    size_t ended_count;
    struct digest_list made; /* blobs that are new, to be removed after a failure */
    bool published;
};

static int make_dirs(int at, const char *name, int *out, struct err *err)
{
    if (mkdirat(at, name, 0777) < 0 && errno != EEXIST)
        return err_sys(err, "cannot make %s", name);
    *out = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return *out < 0 ? err_sys(err, "%s", name) : 0;
}

/*
 * Names a complete file by its digest. It replaces a blob of that name: the content is the same, or
 * the old one is damaged.
 */
static int keep_blob(struct oci_sink *s, struct atomic_file *file, const struct digest *digest,
                     struct err *err)
{
    bool exists = faccessat(s->blobs, digest_hex(digest), F_OK, AT_SYMLINK_NOFOLLOW) == 0;

    snprintf(file->name, sizeof(file->name), "%s", digest_hex(digest));
    if (!exists && digest_list_add(&s->made, digest, err) < 0)
        return -1;
    file->name_later = true;
    return atomic_file_commit(file, err);
}

static bool has_ended(const struct oci_sink *s, const struct written_layer *layer)
{
    for (size_t i = 0; i < s->ended_count; i++)
        if (digest_equal(&s->ended[i].layer.digest, &layer->digest))
            return s->ended[i].layer.size == layer->size;
    return false;
}

/* Compares the size alone: reading a kept layer here would take as long as copying it. */
static int has_layer(struct sink *base, size_t position, const struct written_layer *layer,
                     struct err *err)
{
    (void)position;
    const struct oci_sink *s = (const struct oci_sink *)base;
    struct stat st;

    (void)err;
    if (has_ended(s, layer))
        return 1;
    return fstatat(s->blobs, digest_hex(&layer->digest), &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(st.st_mode) && (uint64_t)st.st_size == layer->size;
}

static int begin_beside(struct sink *base, int *fd, off_t *offset, struct err *err)
{
    struct oci_sink *s = (struct oci_sink *)base;
    struct atomic_file *file = &s->begun[s->begun_count];

    *file = (struct atomic_file)ATOMIC_FILE_INIT;
    if (atomic_file_begin(file, s->blobs, "layer", 0644, err) < 0)
        return -1;
    s->begun_count++;
    *fd = file->fd;
    *offset = 0;
    return 0;
}

static void give_up_begun(struct oci_sink *s)
{
    while (s->begun_count > 0)
        atomic_file_abort(&s->begun[--s->begun_count]);
}

static int begin_layer(struct sink *base, bool once, int *fd, off_t *offset, struct err *err)
{
    (void)once;
    give_up_begun((struct oci_sink *)base);
    return begin_beside(base, fd, offset, err);
}

/*
 * Names the layers that have ended. This waits for the disk, so it comes late: the disk writes a
 * layer while the next ones are made.
 */
static int name_layers(struct oci_sink *s, struct err *err)
{
    for (size_t i = 0; i < s->ended_count; i++)
        if (keep_blob(s, &s->ended[i].file, &s->ended[i].layer.digest, err) < 0)
            return -1;
    s->ended_count = 0;
    return 0;
}

static int end_layer(struct sink *base, const struct written_layer *layer, struct err *err)
{
    struct oci_sink *s = (struct oci_sink *)base;
    struct ended_layer ended = {s->begun[0], *layer};
    bool again = has_ended(s, layer);

    s->begun_count--;
    memmove(s->begun, s->begun + 1, s->begun_count * sizeof(*s->begun));
    int rc = !again && s->ended_count == MOST_ENDED ? name_layers(s, err) : 0;
    if (again || rc < 0)
        atomic_file_abort(&ended.file);
    else
        s->ended[s->ended_count++] = ended;
    return rc;
}

static int add_file(int dir, const char *name, const char *data, size_t len, struct err *err)
{
    _cleanup_atomic_file_ struct atomic_file file = ATOMIC_FILE_INIT;

    if (atomic_file_begin(&file, dir, name, 0644, err) < 0 ||
        fd_write_all(file.fd, data, len, err) < 0)
        return -1;
    file.name_later = true;
    return atomic_file_commit(&file, err);
}

static int add_blob(struct oci_sink *s, const struct blob *blob, struct err *err)
{
    _cleanup_atomic_file_ struct atomic_file file = ATOMIC_FILE_INIT;

    if (atomic_file_begin(&file, s->blobs, "blob", 0644, err) < 0 ||
        fd_write_all(file.fd, blob->data, blob->len, err) < 0)
        return -1;
    return keep_blob(s, &file, &blob->digest, err);
}

/* Appends the old index with the new descriptors in it. */
static int merged_index(const struct oci_sink *s, const struct buf *fresh, bool named,
                        struct buf *out, struct err *err)
{
    _cleanup_buf_ struct buf old = BUF_INIT;

    return file_beneath_read(s->dir, "index.json", IMAGE_JSON_LIMIT, &old, err) < 0
               ? -1
               : sink_index_merge(&old, fresh, named, out, err);
}

static int add_image(struct oci_sink *s, const struct sink_image *image, struct err *err)
{
    if (!image->is_index && add_blob(s, &image->config, err) < 0)
        return -1;
    return add_blob(s, &image->manifest, err);
}

/* Removes the directory of a new layout, which has no blobs. */
static void remove_tmp(struct oci_sink *s)
{
    unlinkat(s->dir, "oci-layout", 0);
    unlinkat(s->dir, "index.json", 0);
    unlinkat(s->dir, "blobs/sha256", AT_REMOVEDIR);
    unlinkat(s->dir, "blobs", AT_REMOVEDIR);
    unlinkat(s->parent, s->tmp, AT_REMOVEDIR);
}

static void remove_blobs(int blobs, const struct digest_list *list)
{
    for (size_t i = 0; blobs >= 0 && i < list->count; i++)
        unlinkat(blobs, digest_hex(&list->list[i]), 0);
}

static void take_back(struct oci_sink *s)
{
    remove_blobs(s->blobs, &s->made);
    if (s->tmp[0] && s->dir >= 0)
        remove_tmp(s);
}

static void release_sink(struct sink *base)
{
    struct oci_sink *s = (struct oci_sink *)base;

    give_up_begun(s);
    for (size_t i = 0; i < s->ended_count; i++)
        atomic_file_abort(&s->ended[i].file);
    if (!s->published)
        take_back(s);
    cleanup_fd(&s->blobs);
    cleanup_fd(&s->dir);
    cleanup_fd(&s->parent);
    digest_list_clear(&s->made);
    free(s->name);
    free(s);
}

static bool is_empty(int dir)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    if (!list) {
        cleanup_fd(&fd);
        return false;
    }
    do
        entry = readdir(list);
    while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
    closedir(list);
    return !entry;
}

/* Opens and locks a layout that exists. Returns 0, 1 if there is none, or -1. */
static int open_existing(const struct oci_sink *s, int *out, struct err *err)
{
    _cleanup_fd_ int dir = openat(s->parent, s->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat st;

    if (dir < 0)
        return errno == ENOENT    ? 1
               : errno == ENOTDIR ? err_set(err, ERR_USAGE, "exists and is not a directory")
                                  : err_sys(err, "open");
    if (flock(dir, LOCK_EX) < 0)
        return err_sys(err, "cannot lock the layout");
    if (fstatat(dir, "index.json", &st, AT_SYMLINK_NOFOLLOW) < 0)
        return is_empty(dir) ? 1 : err_set(err, ERR_USAGE, "exists and is not an OCI layout");
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_USAGE, "its index.json is not a regular file");
    *out = steal_fd(&dir);
    return 0;
}

/* Opens blobs/sha256 in the layout's directory, and makes it if it is missing. */
static int open_blobs(int dir, int *out, struct err *err)
{
    _cleanup_fd_ int blobs = -1;

    return make_dirs(dir, "blobs", &blobs, err) < 0 ? -1 : make_dirs(blobs, "sha256", out, err);
}

/* Opens the layout, or starts one under a temporary name. */
static int open_dir(struct oci_sink *s, struct err *err)
{
    int rc = open_existing(s, &s->dir, err);

    if (rc > 0)
        s->dir = unfinished_dir_make(s->parent, s->tmp, err);
    return s->dir < 0 ? -1 : open_blobs(s->dir, &s->blobs, err);
}

static int open_layout(struct oci_sink *s, const char *path, struct err *err)
{
    _cleanup_free_ char *for_dir = strdup(path), *for_base = strdup(path);

    if (!for_dir || !for_base || !(s->name = strdup(basename(for_base))))
        return err_nomem(err);
    s->parent = open(dirname(for_dir), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->parent < 0)
        return err_sys(err, "the directory that it is to be in");
    unfinished_remove_beside(s->parent);
    if (open_dir(s, err) < 0)
        return -1;
    if (!s->tmp[0]) {
        unfinished_remove_inside(s->blobs);
        unfinished_remove_inside(s->dir);
    }
    return 0;
}

/* ---- publishing ---- */

/* Writes the names of blobs and files to the disk, before another name depends on them. */
static int sync_layout(const struct oci_sink *s, struct err *err)
{
    static const char *const dirs[] = {"blobs/sha256", "blobs", "."};

    for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++)
        if (dir_sync(s->dir, dirs[i], err) < 0)
            return -1;
    return 0;
}

/* Moves the blobs to `blobs`. Adds those that are new there to *moved, also after a failure. */
static int move_blobs(const struct oci_sink *s, int blobs, struct digest_list *moved,
                      struct err *err)
{
    for (size_t i = 0; i < s->made.count; i++) {
        const struct digest *digest = &s->made.list[i];
        const char *hex = digest_hex(digest);
        bool exists = faccessat(blobs, hex, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
        if (!exists && digest_list_add(moved, digest, err) < 0)
            return -1;
        if (renameat(s->blobs, hex, blobs, hex) < 0)
            return err_sys(err, "cannot move a blob to the layout");
    }
    return 0;
}

/*
 * Moves the new layout into `dir`, the one that another run has made under its name; takes `dir`
 * and writes there from now on.
 */
static int join_layout(struct oci_sink *s, int dir, struct err *err)
{
    _cleanup_fd_ int owned = dir, blobs = -1;
    struct digest_list moved = {0};

    if (open_blobs(dir, &blobs, err) < 0 || move_blobs(s, blobs, &moved, err) < 0) {
        remove_blobs(blobs, &moved);
        digest_list_clear(&moved);
        return -1;
    }
    remove_tmp(s);
    s->tmp[0] = '\0';
    cleanup_fd(&s->dir);
    cleanup_fd(&s->blobs);
    digest_list_clear(&s->made);
    s->dir = steal_fd(&owned);
    s->blobs = steal_fd(&blobs);
    s->made = moved;
    return 0;
}

/*
 * Gives a new layout its name. Returns 1, or 0 if another run has made the layout meanwhile, which
 * has the blobs then; or -1.
 */
static int name_layout(struct oci_sink *s, struct err *err)
{
    int dir = -1, rc;

    do {
        if (renameat(s->parent, s->tmp, s->parent, s->name) == 0)
            return 1;
        if (errno != ENOTEMPTY && errno != EEXIST)
            return err_sys(err, "cannot rename to %s", s->name);
        rc = open_existing(s, &dir, err);
    } while (rc > 0); /* it is gone, or empty, again */
    return rc < 0 ? -1 : join_layout(s, dir, err);
}

static int publish_new(struct oci_sink *s, const struct buf *index, struct err *err)
{
    if (add_file(s->dir, "oci-layout", OCI_LAYOUT_JSON, sizeof(OCI_LAYOUT_JSON) - 1, err) < 0 ||
        add_file(s->dir, "index.json", index->data, index->len, err) < 0 || sync_layout(s, err) < 0)
        return -1;
    return name_layout(s, err);
}

/* Adds the images to the index of a layout that exists. */
static int publish_existing(struct oci_sink *s, const struct buf *index, bool named,
                            struct err *err)
{
    _cleanup_buf_ struct buf merged = BUF_INIT;

    if (merged_index(s, index, named, &merged, err) < 0 || sync_layout(s, err) < 0)
        return -1;
    return add_file(s->dir, "index.json", merged.data, merged.len, err);
}

static int publish_images(struct sink *base, const struct sink_image *images, size_t count,
                          struct err *err)
{
    struct oci_sink *s = (struct oci_sink *)base;
    _cleanup_buf_ struct buf index = BUF_INIT;
    int rc = 0;

    give_up_begun(s);
    if (name_layers(s, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (add_image(s, &images[i], err) < 0)
            return -1;
    if (sink_index_json(images, count, &index, err) < 0)
        return -1;
    if (s->tmp[0])
        rc = publish_new(s, &index, err);
    if (rc == 0)
        rc = publish_existing(s, &index, images[count - 1].named, err);
    if (rc < 0)
        return -1;
    s->published = true; /* an index names the blobs: they stay whatever follows */
    return dir_sync(s->dir, ".", err) < 0 ? -1 : dir_sync(s->parent, ".", err);
}

struct sink *sink_open_oci(const char *path, struct err *err)
{
    static const struct sink_ops ops = {.begin_layer = begin_layer,
                                        .end_layer = end_layer,
                                        .publish = publish_images,
                                        .release = release_sink,
                                        .has_layer = has_layer,
                                        .begin_beside = begin_beside};
    struct oci_sink *s = calloc(1, sizeof(*s));

    if (!s) {
        err_nomem(err);
        return NULL;
    }
    s->base = (struct sink){.ops = &ops, .beside = SINK_MOST_BESIDE};
    s->parent = s->dir = s->blobs = -1;
    if (open_layout(s, path, err) < 0) {
        err_wrap(err, "%s", path);
        release_sink(&s->base);
        return NULL;
    }
    return &s->base;
}
