/*
 * The depth of containerd's images, from the configurations in its content store (OCI image layout,
 * blobs by digest). Names are in a database that containerd holds open.
 */
#include "shim/admin/doctor/images/image_depth.h"
#include "shim/admin/doctor/images/images.h"

#include "base/fdio.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>

enum { CONFIG_LEAST = 64, CONFIG_MOST = 1024 * 1024, MOST_BLOBS = 50000 };

/* Returns true for a blob that begins as JSON; layers are compressed, or larger. */
static bool may_be_config(int dirfd, const char *name)
{
    _cleanup_fd_ int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;
    char first;

    return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= CONFIG_LEAST &&
           st.st_size <= CONFIG_MOST && pread(fd, &first, 1, 0) == 1 && first == '{';
}

/* Counts the blob if it is the configuration of an image, which alone has diff_ids. */
static void look_at(int dirfd, const char *name, struct image_depth *d)
{
    static const struct json_options options = {.max_bytes = CONFIG_MOST};
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;

    if (!may_be_config(dirfd, name) || file_read(dirfd, name, CONFIG_MOST, &text, &ignored) < 0 ||
        !text.data || !strstr(text.data, "\"diff_ids\""))
        return;
    _cleanup_json_ struct json_doc *doc = json_parse_buf(&text, &options, &ignored);
    size_t layers = doc ? json_count(json_path(json_root(doc), "rootfs", "diff_ids", NULL)) : 0;
    if (layers)
        image_depth_add(d, NULL, name, layers);
}

void images_examine_containerd(const char *root, struct diagnoses *out)
{
    static const char below[] = "io.containerd.content.v1.content/blobs/sha256";
    _cleanup_free_ char *path = strf("%s/%s", root, below);
    struct image_depth depth = {.nameless =
                                    "'ctr --namespace NAMESPACE content ls' has its digest"};
    size_t blobs = 0;

    DIR *dir = path && diagnoses_want(out, "image-depth") ? opendir(path) : NULL;
    if (!dir)
        return;
    for (const struct dirent *e; blobs < MOST_BLOBS && (e = readdir(dir)); blobs++)
        if (e->d_name[0] != '.')
            look_at(dirfd(dir), e->d_name, &depth);
    closedir(dir);
    image_depth_judge(&depth, root, out);
}
