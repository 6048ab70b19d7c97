#include "flatten/keeper/source/source_backends.h"

#include "flatten/keeper/files/file_beneath.h"

#include <fcntl.h>

/*
 * The directory of an OCI image layout. The user named it; whoever made it named everything below.
 */
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
    int fd = file_beneath_open(dir, path, &st, err);
    if (fd < 0)
        return -1;
    *out = (struct blob_place){.fd = fd, .size = (uint64_t)st.st_size};
    return 0;
}

static int read_layout_file(struct blob_store *s, enum oci_file file, struct buf *out,
                            struct err *err)
{
    const struct layout_file_rule *rule = &layout_files[file];

    return file_beneath_read(((struct layout_store *)s)->dir, rule->name, rule->limit, out, err);
}

static void release_store(struct blob_store *base)
{
    struct layout_store *s = (struct layout_store *)base;

    cleanup_fd(&s->dir);
    free(s);
}

static struct layout_store *store_new(int dir, const struct blob_store_ops *ops, struct err *err)
{
    _cleanup_fd_ int owned = dir;
    struct layout_store *s = malloc(sizeof(*s));

    if (!s) {
        err_nomem(err);
        return NULL;
    }
    *s = (struct layout_store){{ops}, steal_fd(&owned)};
    return s;
}

struct blob_store *source_directory_store(int dir, struct err *err)
{
    static const struct blob_store_ops ops = {.open_one = open_blob, .release = release_store};
    struct layout_store *s = store_new(dir, &ops, err);

    return s ? &s->base : NULL;
}

int source_find_layout(struct source *source, struct err *err)
{
    static const struct blob_store_ops ops = {
        .open_one = open_blob, .read = read_layout_file, .release = release_store};
    int dir = open(source->ref->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (dir < 0)
        return err_sys(err, "%s", source->ref->path);
    struct layout_store *s = store_new(dir, &ops, err);
    source->layout.store = s ? &s->base : NULL;
    return s ? 0 : -1;
}
