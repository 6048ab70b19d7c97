/* The depth of Docker's images, from the configurations in its store (image/overlay2). */
#include "shim/admin/doctor/images/image_depth.h"
#include "shim/admin/doctor/images/images.h"

#include "base/fdio.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>

enum { IMAGE_BYTES = 4 * 1024 * 1024, MOST_IMAGES = 20000, NAMES_BYTES = 16 * 1024 * 1024 };

struct deepest {
    size_t images, layers;
    char id[NAME_MAX + 1]; /* of the deepest */
};

static struct json_doc *read_json(int dirfd, const char *name, size_t most)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    const struct json_options options = {.max_bytes = most};
    struct err ignored;

    if (file_read(dirfd, name, most, &text, &ignored) < 0)
        return NULL;
    return json_parse_buf(&text, &options, &ignored);
}

static void look_at(int dirfd, const char *id, struct deepest *d)
{
    _cleanup_json_ struct json_doc *doc = read_json(dirfd, id, IMAGE_BYTES);
    size_t layers = doc ? json_count(json_path(json_root(doc), "rootfs", "diff_ids", NULL)) : 0;

    d->images++;
    if (layers <= d->layers)
        return;
    d->layers = layers;
    snprintf(d->id, sizeof(d->id), "%s", id);
}

static bool find_deepest(const char *directory, struct deepest *d)
{
    DIR *dir = opendir(directory);

    if (!dir)
        return false;
    for (const struct dirent *entry; d->images < MOST_IMAGES && (entry = readdir(dir));)
        if (strlen(entry->d_name) == 64)
            look_at(dirfd(dir), entry->d_name, d);
    closedir(dir);
    return d->images > 0;
}

/* Returns the name of `names`, an object of names and digests, that the image has; or NULL. */
static const char *find_name(const struct json *names, const char *id)
{
    for (size_t i = 0; names && json_is(names, JSON_OBJECT) && i < names->len; i++) {
        const char *digest = json_text(names->members[i].value);
        if (digest && strncmp(digest, "sha256:", 7) == 0 && strcmp(digest + 7, id) == 0)
            return names->members[i].key;
    }
    return NULL;
}

/* Returns a name of the image, kept in the arena, or NULL. */
static const char *name_of(const char *file, const char *id, struct arena *arena)
{
    _cleanup_json_ struct json_doc *doc = read_json(AT_FDCWD, file, NAMES_BYTES);
    const struct json *all = doc ? json_get(json_root(doc), "Repositories") : NULL;

    for (size_t i = 0; all && json_is(all, JSON_OBJECT) && i < all->len; i++) {
        const char *name = find_name(all->members[i].value, id);
        if (name)
            return arena_strndup(arena, name, strlen(name));
    }
    return NULL;
}

void images_examine_docker(const char *root, struct diagnoses *out)
{
    _cleanup_arena_ struct arena arena = {0};
    const char *directory = arena_printf(&arena, "%s/image/overlay2/imagedb/content/sha256", root);
    const char *names = arena_printf(&arena, "%s/image/overlay2/repositories.json", root);
    struct deepest d = {0};
    struct image_depth depth = {0};

    if (!directory || !names || !diagnoses_want(out, "image-depth") || !find_deepest(directory, &d))
        return;
    image_depth_add(&depth, name_of(names, d.id, &arena), d.id, d.layers);
    depth.images = d.images;
    image_depth_judge(&depth, root, out);
}
