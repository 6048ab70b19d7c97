#include "flatten/layer/unpacker.h"

#include "base/fdio.h"
#include "flatten/layer/layer_blob.h"
#include "flatten/layer/layer_unpack.h"
#include "flatten/stream/hasher.h"
#include "flatten/stream/relay.h"

#include <string.h>
#include <unistd.h>

enum { PIECE = 256 * 1024 };

/* No layer is begun while the files hold as much: the disk may be small, or a tmpfs. */
static const uint64_t most_held = (uint64_t)2 << 30;

/* A temporary file, and the layer that is in it. All but the descriptor is guarded by the lock. */
struct unpacked {
    int fd;
    const struct layer *layer; /* NULL: none */
    uint64_t made;             /* bytes that can be read */
    bool ended;                /* nothing is added any more */
    bool lost;                 /* because the file could not be written */
    struct err end;            /* why, if the layer is wrong */
    unsigned users;            /* streams */
    bool wanted;               /* a reader has not come yet, or is there */
};

struct unpacker {
    struct image *image; /* borrowed */
    struct hub *hub;
    bool *claimed; /* by layer: it is not compressed, or was begun, by a thread or by its reader */
    unsigned next; /* the threads take layers up to this number */
    bool over;     /* no further layer is begun */
    bool given_up; /* those that are begun end, too */
    struct unpacked *files;
    size_t file_count;
    struct worker *workers[UNPACKER_MOST_THREADS];
    unsigned worker_count;
};

unsigned unpacker_threads(unsigned cpus)
{
    enum { OTHERS = 2 };
    unsigned threads = cpus / 2 > OTHERS ? cpus / 2 - OTHERS : 0;

    return threads > UNPACKER_MOST_THREADS ? UNPACKER_MOST_THREADS : threads;
}

/* ---- the threads ---- */

/* Empties the file for the next layer. Called with the lock. */
static void release_file(struct unpacker *u, struct unpacked *f)
{
    if (f->users > 0 || !f->ended || f->wanted)
        return;
    u->over = u->over || ftruncate(f->fd, 0) < 0;
    f->layer = NULL;
    pthread_cond_broadcast(&u->hub->changed);
}

static struct unpacked *find_free(const struct unpacker *u)
{
    uint64_t held = 0;
    struct unpacked *found = NULL;

    for (size_t i = 0; i < u->file_count; i++) {
        if (u->files[i].layer)
            held += u->files[i].made;
        else
            found = &u->files[i];
    }
    return held < most_held ? found : NULL;
}

static const struct layer *find_layer(const struct unpacker *u)
{
    for (unsigned number = u->next; number > 0; number--)
        if (!u->claimed[number - 1])
            return &u->image->layers[number - 1];
    return NULL;
}

/* Waits for a layer to unpack and a file for it. Returns the file, or NULL at the end. */
static struct unpacked *claim_layer(struct unpacker *u)
{
    struct unpacked *f = NULL;

    pthread_mutex_lock(&u->hub->lock);
    while (!u->over && !(find_layer(u) && (f = find_free(u))))
        pthread_cond_wait(&u->hub->changed, &u->hub->lock);
    if (u->over)
        f = NULL;
    if (f) {
        *f = (struct unpacked){.fd = f->fd, .layer = find_layer(u), .wanted = true};
        u->claimed[f->layer->number - 1] = true;
    }
    pthread_mutex_unlock(&u->hub->lock);
    return f;
}

/* Lets readers see more bytes. Returns false if nobody wants them any more. */
static bool pass_piece(struct unpacker *u, struct unpacked *f, size_t len)
{
    pthread_mutex_lock(&u->hub->lock);
    f->made += len;
    bool wanted = f->wanted && !u->given_up;
    pthread_cond_broadcast(&u->hub->changed);
    pthread_mutex_unlock(&u->hub->lock);
    return wanted;
}

static int write_piece(struct unpacked *f, const void *data, size_t len, struct err *err)
{
    if (fd_pwrite_all(f->fd, data, len, (off_t)f->made, err) == 0)
        return 0;
    f->lost = true;
    return -1;
}

static int check_size(const struct layer *layer, uint64_t size, struct err *err)
{
    if (layer->max_size && size > layer->max_size)
        return err_set(err, ERR_LIMIT, "layer %u, uncompressed: more than %llu bytes",
                       layer->number, (unsigned long long)layer->max_size);
    return 0;
}

static int check_diff_id(const struct layer *layer, struct sha256_lane *hash, struct err *err)
{
    struct digest actual;

    if (sha256_lane_finish(hash, &actual, err) < 0)
        return -1;
    if (!layer->diff_id.text[0] || digest_equal(&actual, &layer->diff_id))
        return 0;
    return err_set(err, ERR_DIGEST,
                   "layer %u, uncompressed: content is %s, not %s as the image says", layer->number,
                   actual.text, layer->diff_id.text);
}

static int copy_layer(struct unpacker *u, struct unpacked *f, struct stream *s,
                      unsigned char *piece, struct sha256_lane *hash, struct err *err)
{
    size_t len;

    do {
        if (stream_read(s, piece, PIECE, &len, err) < 0 ||
            check_size(f->layer, f->made + len, err) < 0 ||
            sha256_lane_update(hash, piece, len, err) < 0 || write_piece(f, piece, len, err) < 0)
            return -1;
    } while (pass_piece(u, f, len) && len > 0);
    return len > 0 ? 0 : check_diff_id(f->layer, hash, err);
}

static int unpack_layer(struct unpacker *u, struct unpacked *f, struct err *err)
{
    _cleanup_free_ unsigned char *piece = malloc(PIECE);
    _cleanup_stream_ struct stream *s = piece ? layer_unpack(f->layer, err) : NULL;
    struct sha256_lane hash;

    if (!piece)
        return err_nomem(err);
    if (!s || sha256_lane_init(&hash, err) < 0)
        return -1;
    int rc = copy_layer(u, f, s, piece, &hash, err);
    sha256_lane_clear(&hash);
    return rc;
}

static void unpack_layers(void *ctx)
{
    struct unpacker *u = ctx;
    struct unpacked *f;

    while ((f = claim_layer(u))) {
        struct err err = ERR_INIT;
        int rc = unpack_layer(u, f, &err);
        pthread_mutex_lock(&u->hub->lock);
        if (rc < 0)
            f->end = err;
        u->over = u->over || f->lost;
        f->ended = true;
        release_file(u, f);
        pthread_cond_broadcast(&u->hub->changed);
        pthread_mutex_unlock(&u->hub->lock);
    }
}

/* ---- start and end ---- */

static int find_packed(struct unpacker *u, size_t first, struct err *err)
{
    u->claimed = calloc(u->image->layer_count + 1, sizeof(*u->claimed));
    if (!u->claimed)
        return err_nomem(err);
    for (size_t i = 0; i < u->image->layer_count; i++) {
        struct layer *layer = &u->image->layers[i];
        struct err ignored;
        bool packed;
        u->claimed[i] = i < first || layer_is_packed(layer, &packed, &ignored) < 0 || !packed;
        if (!u->claimed[i])
            layer->unpacker = u;
    }
    return 0;
}

static int list_files(struct unpacker *u, const struct unpacker_files *files, struct err *err)
{
    u->files = calloc(files->count + 1, sizeof(*u->files));
    if (!u->files)
        return err_nomem(err);
    while (u->file_count < files->count) {
        u->files[u->file_count].fd = files->fds[u->file_count];
        u->file_count++;
    }
    return 0;
}

struct unpacker *unpacker_new(struct image *image, size_t first, const struct unpacker_files *files,
                              unsigned threads, struct err *err)
{
    _cleanup_unpacker_ struct unpacker *u = calloc(1, sizeof(*u));

    if (!u) {
        err_nomem(err);
        return NULL;
    }
    u->image = image;
    if (list_files(u, files, err) < 0 || find_packed(u, first, err) < 0 || !(u->hub = hub_new(err)))
        return NULL;
    for (; u->worker_count < threads && u->worker_count < UNPACKER_MOST_THREADS; u->worker_count++)
        if (!(u->workers[u->worker_count] = worker_start(unpack_layers, u, err)))
            return NULL;
    return steal_ptr(&u);
}

void unpacker_free(struct unpacker *u)
{
    if (u->hub) {
        pthread_mutex_lock(&u->hub->lock);
        u->over = u->given_up = true;
        pthread_cond_broadcast(&u->hub->changed);
        pthread_mutex_unlock(&u->hub->lock);
    }
    while (u->worker_count > 0)
        worker_join(u->workers[--u->worker_count]);
    for (size_t i = 0; i < u->file_count; i++)
        (void)!ftruncate(u->files[i].fd, 0);
    for (size_t i = 0; i < u->image->layer_count; i++)
        u->image->layers[i].unpacker = NULL;
    cleanup_hub(&u->hub);
    free(u->files);
    free(u->claimed);
    free(u);
}

/* ---- streams ---- */

struct unpacked_stream {
    struct stream base;
    struct unpacker *unpacker;
    struct unpacked *file;
    const struct layer *layer;
    struct stream *again; /* after the file was lost: the layer, unpacked by this reader */
    uint64_t offset;      /* of the bytes after those in the buffer */
    size_t at, len;
    unsigned char buffer[PIECE];
};

/* Waits for `least` bytes from the offset on, or the end. Returns how many there are, up to `most`.
 */
static uint64_t await_bytes(struct unpacked_stream *s, uint64_t least, uint64_t most)
{
    struct hub *hub = s->unpacker->hub;

    pthread_mutex_lock(&hub->lock);
    while (s->file->made - s->offset < least && !s->file->ended)
        pthread_cond_wait(&hub->changed, &hub->lock);
    uint64_t there = s->file->made - s->offset;
    pthread_mutex_unlock(&hub->lock);
    return there < most ? there : most;
}

/* Unpacks the layer once more, up to the byte that is read next. */
static int unpack_again(struct unpacked_stream *s, struct err *err)
{
    const void *data;
    size_t len;

    if (!(s->again = layer_unpack_ahead(s->layer, err)))
        return -1;
    for (uint64_t left = s->offset; left > 0; left -= len) {
        if (stream_peek(s->again, &data, &len, err) < 0)
            return -1;
        if (len == 0)
            return err_set(err, ERR_FORMAT, "layer %u changed while it was read", s->layer->number);
        len = len < left ? len : (size_t)left;
        stream_advance(s->again, len);
    }
    return 0;
}

/* Fills the empty buffer; leaves it empty at the end. */
static int read_piece(struct unpacked_stream *s, struct err *err)
{
    size_t there = (size_t)await_bytes(s, 1, PIECE);

    s->at = s->len = 0;
    if (there > 0) {
        if (fd_pread_exact(s->file->fd, s->buffer, there, (off_t)s->offset, err) < 0)
            return err_wrap(err, "temporary file");
        s->offset += there;
        s->len = there;
        return 0;
    }
    if (s->file->lost)
        return unpack_again(s, err);
    if (s->file->end.kind == ERR_NONE)
        return 0;
    *err = s->file->end;
    return -1;
}

static int unpacked_peek(struct stream *base, const void **data, size_t *len, struct err *err)
{
    struct unpacked_stream *s = (struct unpacked_stream *)base;

    if (!s->again && s->at == s->len && read_piece(s, err) < 0)
        return -1;
    if (s->again)
        return stream_peek(s->again, data, len, err);
    *data = s->buffer + s->at;
    *len = s->len - s->at;
    return 0;
}

static void unpacked_advance(struct stream *base, size_t len)
{
    struct unpacked_stream *s = (struct unpacked_stream *)base;

    if (s->again)
        stream_advance(s->again, len);
    else
        s->at += len;
}

static uint64_t unpacked_skip(struct stream *base, uint64_t len)
{
    struct unpacked_stream *s = (struct unpacked_stream *)base;

    if (s->again || s->at != s->len)
        return 0;
    uint64_t there = await_bytes(s, len, len);
    s->offset += there;
    return there;
}

static void unpacked_release(struct stream *base)
{
    struct unpacked_stream *s = (struct unpacked_stream *)base;
    struct hub *hub = s->unpacker->hub;

    cleanup_stream(&s->again);
    pthread_mutex_lock(&hub->lock);
    s->file->wanted = --s->file->users > 0;
    release_file(s->unpacker, s->file);
    pthread_mutex_unlock(&hub->lock);
    free(s);
}

/* Returns the file with the layer, for one more user; or NULL, and no thread begins the layer. */
static struct unpacked *use_file(struct unpacker *u, const struct layer *layer)
{
    struct unpacked *found = NULL;

    pthread_mutex_lock(&u->hub->lock);
    u->claimed[layer->number - 1] = true;
    u->next = layer->number - 1;
    for (size_t i = 0; i < u->file_count; i++)
        if (u->files[i].layer == layer && u->files[i].wanted)
            found = &u->files[i];
    if (found)
        found->users++;
    pthread_cond_broadcast(&u->hub->changed);
    pthread_mutex_unlock(&u->hub->lock);
    return found;
}

int unpacker_open(struct unpacker *u, const struct layer *layer, struct stream **out,
                  struct err *err)
{
    static const struct stream_ops ops = {unpacked_peek, unpacked_advance, unpacked_release, NULL,
                                          unpacked_skip};
    struct unpacked_stream *s = malloc(sizeof(*s));

    *out = NULL;
    if (!s)
        return err_nomem(err);
    struct unpacked *file = use_file(u, layer);
    if (!file) {
        free(s);
        return 0;
    }
    s->base.ops = &ops;
    s->unpacker = u;
    s->file = file;
    s->layer = layer;
    s->again = NULL;
    s->offset = 0;
    s->at = s->len = 0;
    *out = &s->base;
    return 0;
}
