#include "flatten/image/image_internal.h"

#include "base/fdio.h"
#include "flatten/exchange/engine_reply.h"

#include <fcntl.h>
#include <string.h>

/* An image of an engine: in its store, or as an archive that the keeper has. */

/*
 * A daemon before API 1.48 gives the platform that it has: not always the one that was asked for.
 */
static int check_platform(const struct image *image, const struct source_daemon *d, struct err *err)
{
    const struct json *config = json_root(image->config);
    const char *os = json_text(json_get(config, "os"));
    const char *architecture = json_text(json_get(config, "architecture"));

    if (os && d->os && strcmp(os, d->os) != 0)
        return err_set(err, ERR_USAGE, "the engine's image is for %s, not %s", os, d->os);
    if (architecture && d->architecture && strcmp(architecture, d->architecture) != 0)
        return err_set(err, ERR_USAGE, "the engine's image is for %s, not %s", architecture,
                       d->architecture);
    return 0;
}

/* Replaces the error by the one of the daemon, if the tail holds one. */
static void take_daemon_error(const char *tail, size_t len, struct err *err)
{
    static const char mark[] = "{\"errorDetail\"";
    struct err said = ERR_INIT;
    struct engine_reply reply = {0};
    const char *at = memmem(tail, len, mark, sizeof(mark) - 1);
    if (at && engine_reply_feed(&reply, at, len - (size_t)(at - tail), &said) < 0 &&
        said.kind == ERR_SYSTEM)
        *err = said;
    engine_reply_clear(&reply);
}

/*
 * Explains why the archive is not complete: a daemon that fails on the way ends it early and puts
 * an error behind it, as JSON.
 */
static void explain_archive(int fd, struct err *err)
{
    enum { TAIL = 8 * 1024 }; /* bytes at the end that may hold an error */
    struct err ignored = ERR_INIT;
    char tail[TAIL];
    off_t end = lseek(fd, 0, SEEK_END);

    if (end < 0)
        return;
    off_t from = end > TAIL ? end - TAIL : 0;
    size_t len = (size_t)(end - from);
    if (fd_pread_exact(fd, tail, len, from, &ignored) == 0)
        take_daemon_error(tail, len, err);
}

static struct image_tree *tree_of(const struct source_daemon *d, struct err *err)
{
    struct image_tree *tree = calloc(1, sizeof(*tree));

    if (!tree) {
        err_nomem(err);
        return NULL;
    }
    *tree = (struct image_tree){.apart = d->apart,
                                .fd = fcntl(d->fd, F_DUPFD_CLOEXEC, 3),
                                .size = d->size,
                                .still = d->still,
                                .ctx = d->still_ctx,
                                .number = d->number};
    if (tree->fd >= 0)
        return tree;
    err_sys(err, "dup");
    free(tree);
    return NULL;
}

/* An image whose tree is walked: only its configuration is here. */
static struct image *read_walked(const struct source_daemon *d, struct err *err)
{
    struct json_doc *config = json_parse(d->config.data, d->config.len, &image_json_options, err);
    _cleanup_image_ struct image *image = config ? image_new(config, err) : NULL;

    if (!image || sha256_digest(d->config.data, d->config.len, &image->config_digest, err) < 0 ||
        !(image->tree = tree_of(d, err)))
        return NULL;
    for (size_t i = 0; d->apart && i < image->layer_count; i++)
        image->layers[i].walk = image->tree;
    return steal_ptr(&image);
}

/*
 * An image in the store of containerd, which may have an index and blobs of one platform alone:
 * that image is the engine's.
 */
static struct image *read_blobs(const struct source_daemon *d, const struct image_choice *choice,
                                struct err *err)
{
    struct image_choice own = *choice;
    _cleanup_free_ char *platform =
        d->os && d->architecture ? strf("%s/%s", d->os, d->architecture) : NULL;

    if (!own.platform)
        own.platform = platform;
    struct image *image = image_read_registry(&d->blobs, &own, err);
    if (image) {
        cleanup_json_doc(&image->index);
        image->index = NULL;
    }
    return image;
}

static struct image *read_archive(const struct source_daemon *d, struct err *err)
{
    int again = fcntl(d->fd, F_DUPFD_CLOEXEC, 3);

    if (again < 0) {
        err_sys(err, "dup");
        return NULL;
    }
    _cleanup_image_ struct image *image = image_read_archive_fd(again, err);
    if (!image)
        explain_archive(d->fd, err);
    return steal_ptr(&image);
}

struct image *image_read_daemon(const struct source_daemon *d, const struct image_choice *choice,
                                struct err *err)
{
    _cleanup_image_ struct image *image = d->blobs.store  ? read_blobs(d, choice, err)
                                          : d->config.len ? read_walked(d, err)
                                                          : read_archive(d, err);

    if (!image)
        return NULL;
    if (check_platform(image, d, err) < 0)
        return NULL;
    free(image->name);
    image->name = d->name ? strdup(d->name) : NULL;
    if (d->name && !image->name) {
        err_nomem(err);
        return NULL;
    }
    return steal_ptr(&image);
}
