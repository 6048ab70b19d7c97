#include "flatten/keeper/source/source.h"

#include "base/fdio.h"

#include <fcntl.h>
#include <sys/stat.h>

/* The directory of an OCI image layout. */
struct layout_store {
    struct blob_store base;
    int dir;
};

static int open_blob(struct blob_store *base, const struct blob_request *request,
                     struct blob_place *out, struct err *err)
{
    int dir = ((struct layout_store *)base)->dir;
    char path[BLOB_PATH_SIZE];
    struct stat st;

    blob_path(&request->digest, path);
    _cleanup_fd_ int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_sys(err, "%s", path);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_FORMAT, "%s is not a regular file", path);
    *out = (struct blob_place){.fd = steal_fd(&fd), .size = (uint64_t)st.st_size};
    return 0;
}

static int open_blobs(struct blob_store *s, const struct blob_request *requests, size_t count,
                      struct blob_place *out, size_t *failed, struct err *err)
{
    return blob_open_each(s, open_blob, requests, count, out, failed, err);
}

static int read_file(struct blob_store *s, const char *name, size_t limit, struct buf *out,
                     struct err *err)
{
    return file_read(((struct layout_store *)s)->dir, name, limit, out, err);
}

static void release(struct blob_store *base)
{
    struct layout_store *s = (struct layout_store *)base;

    cleanup_fd(&s->dir);
    free(s);
}

int source_find_layout(struct source *source, struct err *err)
{
    static const struct blob_store_ops ops = {open_blobs, read_file, release};
    struct layout_store *s = calloc(1, sizeof(*s));

    if (!s)
        return err_nomem(err);
    s->base.ops = &ops;
    source->store = &s->base;
    s->dir = open(source->ref->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return s->dir < 0 ? err_sys(err, "%s", source->ref->path) : 0;
}

int source_list_layout(struct source *s, size_t **places, size_t *count, struct err *err)
{
    if (image_list_layout(s->store, places, count, err) < 0)
        return err_wrap(err, "%s", s->ref->path);
    return 0;
}

struct image *source_read_layout(struct source *s, const char *platform, struct err *err)
{
    struct image *image = image_open_layout(s->store, source_selector(s), platform, err);

    if (!image)
        err_wrap(err, "%s", s->ref->path);
    return image;
}
