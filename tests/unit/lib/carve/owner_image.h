/* An image in memory, for owners_find: paths in a tree, with the content of files. */
#ifndef TESTS_OWNER_IMAGE_H
#define TESTS_OWNER_IMAGE_H

#include "base/path.h"
#include "flatten/carve/owners/owners.h"

#include <stdlib.h>
#include <string.h>

struct owner_file {
    const char *text; /* content, repeated as often as `size` needs; or a link's target; borrowed */
    size_t len;
    int64_t size;
    enum { FILE_NOTHING, FILE_REGULAR, FILE_LINK, FILE_DIR } kind;
};

struct owner_image {
    struct tree *tree;
    struct owner_file *files; /* by node */
    size_t cap;
    uint64_t bytes_read;
    char *target; /* of the last link that was asked for */
};

static inline int64_t owner_image_size(void *ctx, uint32_t node)
{
    const struct owner_image *image = ctx;

    return image->files[node].kind == FILE_REGULAR ? image->files[node].size : -1;
}

static inline int owner_image_read(void *ctx, uint32_t node, uint64_t offset, void *data,
                                   size_t len, struct err *err)
{
    struct owner_image *image = ctx;
    const struct owner_file *file = &image->files[node];

    if (file->kind != FILE_REGULAR || offset + len > (uint64_t)file->size)
        return err_set(err, ERR_USAGE, "read beyond a file");
    image->bytes_read += len;
    for (size_t done = 0; done < len;) {
        size_t at = (offset + done) % file->len, part = file->len - at;
        if (part > len - done)
            part = len - done;
        memcpy((char *)data + done, file->text + at, part);
        done += part;
    }
    return 0;
}

static inline bool owner_image_is_dir(void *ctx, uint32_t node)
{
    const struct owner_image *image = ctx;

    return image->files[node].kind == FILE_DIR;
}

/* A target is gone when the next one is asked for. */
static inline const char *owner_image_link(void *ctx, uint32_t node)
{
    struct owner_image *image = ctx;

    free(image->target);
    image->target = image->files[node].kind == FILE_LINK ? strdup(image->files[node].text) : NULL;
    return image->target;
}

static inline struct owner_source owner_image_source(struct owner_image *image)
{
    return (struct owner_source){.tree = image->tree,
                                 .size = owner_image_size,
                                 .read = owner_image_read,
                                 .is_dir = owner_image_is_dir,
                                 .link = owner_image_link,
                                 .ctx = image};
}

static inline void owner_image_clear(struct owner_image *image)
{
    if (image->tree)
        tree_free(image->tree);
    free(image->files);
    free(image->target);
    *image = (struct owner_image){0};
}

static inline struct owner_file *owner_image_slot(struct owner_image *image, uint32_t node)
{
    if (node >= image->cap) {
        size_t cap = ((size_t)node + 16) * 2;
        image->files = realloc(image->files, cap * sizeof(*image->files));
        if (!image->files)
            abort();
        memset(image->files + image->cap, 0, (cap - image->cap) * sizeof(*image->files));
        image->cap = cap;
    }
    return &image->files[node];
}

/* Adds a path; directories above it are implied. Returns its node. */
static inline uint32_t owner_image_add(struct owner_image *image, const char *path, size_t len,
                                       struct owner_file file)
{
    struct err err = ERR_INIT;
    uint32_t node = TREE_ROOT;

    if (!image->tree && !(image->tree = tree_new(&err)))
        abort();
    owner_image_slot(image, node)->kind = FILE_DIR;
    for (size_t at = 0; at < len;) {
        const char *slash = memchr(path + at, '/', len - at);
        size_t name = slash ? (size_t)(slash - path) - at : len - at;
        if (path_component_valid(path + at, name)) {
            node = tree_child(image->tree, node, path + at, name, &err);
            if (node == TREE_NONE)
                abort();
            if (slash)
                owner_image_slot(image, node)->kind = FILE_DIR;
        }
        at += name + 1;
    }
    if (node != TREE_ROOT && owner_image_slot(image, node)->kind != FILE_DIR)
        *owner_image_slot(image, node) = file;
    return node;
}

static inline void owner_image_file(struct owner_image *image, const char *path, const char *text)
{
    size_t len = strlen(text);

    owner_image_add(image, path, strlen(path),
                    (struct owner_file){text, len, (int64_t)len, FILE_REGULAR});
}

/* A file whose content is repeated up to this size. */
static inline void owner_image_large(struct owner_image *image, const char *path, const char *text,
                                     int64_t size)
{
    owner_image_add(image, path, strlen(path),
                    (struct owner_file){text, strlen(text), size, FILE_REGULAR});
}

static inline void owner_image_symlink(struct owner_image *image, const char *path,
                                       const char *target)
{
    owner_image_add(image, path, strlen(path), (struct owner_file){target, 0, 0, FILE_LINK});
}

/* Adds empty files; the last path is followed by NULL. */
#define owner_image_files(image, ...)                                                              \
    do {                                                                                           \
        static const char *const paths_[] = {__VA_ARGS__, NULL};                                   \
        for (size_t i_ = 0; paths_[i_]; i_++)                                                      \
            owner_image_file(image, paths_[i_], "");                                               \
    } while (0)

/* Returns the node of a path without links; TREE_NONE if the image does not have it. */
static inline uint32_t owner_image_node(const struct owner_image *image, const char *path)
{
    uint32_t node = TREE_ROOT;

    while (*path && node != TREE_NONE) {
        size_t name = strcspn(path, "/");
        node = tree_find(image->tree, node, path, name);
        path += name + (path[name] == '/');
    }
    return node;
}

#define _cleanup_owner_image_ _cleanup_(owner_image_clear)

#endif
