/*
 * Archives as `docker save` writes them, before Docker 25 (ID/layer.tar, the same layer a symbolic
 * link) and since then (blobs by digest), and who sends them as often as a feed asks.
 */
#ifndef TESTS_FEED_UNIT_H
#define TESTS_FEED_UNIT_H

#include "flatten/image/feed.h"
#include "tests/unit/lib/tar_image.h"
#include "tests/unit/lib/unit.h"

struct part {
    char name[128];
    char link[128];
    struct buf data;
};

enum { MOST_PARTS = 64 };

struct archive_parts {
    struct part list[MOST_PARTS];
    size_t count;
};

static inline struct part *add_part(struct archive_parts *p, const char *name)
{
    assert_true(p->count < MOST_PARTS);
    struct part *part = &p->list[p->count++];
    *part = (struct part){0};
    snprintf(part->name, sizeof(part->name), "%s", name);
    return part;
}

static inline void free_parts(struct archive_parts *p)
{
    for (size_t i = 0; i < p->count; i++)
        buf_free(&p->list[i].data);
    p->count = 0;
}

static inline int by_name(const void *a, const void *b)
{
    return strcmp(((const struct part *)a)->name, ((const struct part *)b)->name);
}

static inline void layer_name(const struct digest *digest, unsigned number, bool old, char out[128])
{
    char salt[80];
    struct digest id;
    struct err err;

    if (!old) {
        snprintf(out, 128, "blobs/sha256/%s", digest_hex(digest));
        return;
    }
    snprintf(salt, sizeof(salt), "an id of layer %u", number);
    if (sha256_digest(salt, strlen(salt), &id, &err) < 0)
        abort();
    snprintf(out, 128, "%s/layer.tar", digest_hex(&id));
}

/* The archive's parts for these layers, in the order of their names; manifest.json comes last. */
static inline void save(const struct buf *tars, size_t count, bool old, struct archive_parts *out)
{
    struct buf config = BUF_INIT, manifest = BUF_INIT;
    struct digest digests[MOST_PARTS], id;
    char names[MOST_PARTS][128], path[128];
    struct err err;

    *out = (struct archive_parts){0};
    buf_puts(&config, "{\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[");
    for (size_t i = 0; i < count; i++) {
        size_t same = 0;
        if (sha256_digest(tars[i].data, tars[i].len, &digests[i], &err) < 0)
            abort();
        buf_printf(&config, "%s\"%s\"", i ? "," : "", digests[i].text);
        while (!digest_equal(&digests[same], &digests[i]))
            same++;
        layer_name(&digests[i], (unsigned)i, old, names[i]);
        if (same < i && !old)
            continue;
        struct part *part = add_part(out, names[i]);
        if (same < i)
            snprintf(part->link, sizeof(part->link), "../%.120s", names[same]);
        else
            buf_append(&part->data, tars[i].data, tars[i].len);
    }
    buf_puts(&config, "]}}");
    if (sha256_digest(config.data, config.len, &id, &err) < 0)
        abort();
    snprintf(path, sizeof(path), old ? "%s.json" : "blobs/sha256/%s", digest_hex(&id));
    buf_printf(&manifest, "[{\"Config\":\"%s\",\"RepoTags\":[\"a:1\"],\"Layers\":[", path);
    for (size_t i = 0; i < count; i++)
        buf_printf(&manifest, "%s\"%s\"", i ? "," : "", names[i]);
    buf_puts(&manifest, "]}]");
    add_part(out, path)->data = config;
    qsort(out->list, out->count, sizeof(*out->list), by_name);
    add_part(out, "manifest.json")->data = manifest;
}

static inline void write_parts(const struct archive_parts *p, struct buf *out)
{
    struct archive *a = tar_begin(out);

    for (size_t i = 0; i < p->count; i++) {
        struct archive_entry *e = archive_entry_new();
        archive_entry_set_pathname(e, p->list[i].name);
        archive_entry_set_filetype(e, p->list[i].link[0] ? AE_IFLNK : AE_IFREG);
        archive_entry_set_perm(e, 0644);
        if (p->list[i].link[0])
            archive_entry_set_symlink(e, p->list[i].link);
        else
            archive_entry_set_size(e, (la_int64_t)p->list[i].data.len);
        assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
        if (!p->list[i].link[0] && p->list[i].data.len)
            assert_true(archive_write_data(a, p->list[i].data.data, p->list[i].data.len) > 0);
        archive_entry_free(e);
    }
    archive_write_free(a);
}

static inline int file_of(const struct buf *data)
{
    int fd = memfd_create("archive", MFD_CLOEXEC);
    struct err err;

    if (fd < 0 || fd_write_all(fd, data->data, data->len, &err) < 0 || lseek(fd, 0, SEEK_SET) < 0)
        abort();
    return fd;
}

/* ---- who sends ---- */

struct sender {
    struct buf readings[2]; /* the last is sent again and again */
    size_t sent, ended;
    const char *failure; /* how the last one ends; or NULL */
};

static inline int send_it(void *ctx, struct err *err)
{
    struct sender *s = ctx;

    (void)err;
    return file_of(&s->readings[s->sent++ == 0 ? 0 : 1]);
}

static inline int end_it(void *ctx, struct err *err)
{
    struct sender *s = ctx;

    s->ended++;
    return s->failure && s->sent > 1 ? err_set(err, ERR_SYSTEM, "%s", s->failure) : 0;
}

static inline struct image *open_feed(struct sender *s, struct err *err)
{
    static const struct feed_ops ops = {send_it, end_it};
    struct image *image = feed_image(&ops, s, err);

    if (image)
        image->as_they_lie = true;
    return image;
}

static inline void sender_of(const struct archive_parts *p, struct sender *s)
{
    *s = (struct sender){0};
    write_parts(p, &s->readings[0]);
    write_parts(p, &s->readings[1]);
}

static inline void sender_free(struct sender *s)
{
    assert_int_equal(s->sent, s->ended);
    buf_free(&s->readings[0]);
    buf_free(&s->readings[1]);
}

#endif
