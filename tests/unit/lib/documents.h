/*
 * The JSON of an image as documents that name one another: in a document "@N" stands for digest and
 * size of the Nth, one that comes later. The first is index.json or manifest.json; in a layout the
 * others are blobs, in an archive members "1", "2", …
 */
#ifndef TESTS_DOCUMENTS_H
#define TESTS_DOCUMENTS_H

#include "flatten/exchange/blob_store.h"
#include "tests/unit/lib/tar_image.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { DOCUMENTS_MOST = 8 };

struct document {
    const char *text;
    size_t len;
    struct buf data; /* with the digests filled in */
    struct digest digest;
};

static inline void put_file(int dir, const char *path, const char *data, size_t len)
{
    struct err err;
    _cleanup_fd_ int fd = openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0 || fd_write_all(fd, data, len, &err) < 0)
        abort();
}

/* From the last to the first: a document names only later ones. */
static inline void documents_fill(struct document *docs, size_t count)
{
    struct err err;

    for (size_t i = count; i-- > 0;) {
        struct document *d = &docs[i];
        buf_append(&d->data, "", 0);
        for (size_t at = 0; at < d->len; at++) {
            size_t n = at + 1 < d->len ? (size_t)(unsigned char)d->text[at + 1] - '0' : 0;
            if (d->text[at] != '@' || n <= i || n >= count) {
                buf_putc(&d->data, d->text[at]);
                continue;
            }
            buf_printf(&d->data, "\"digest\":\"%s\",\"size\":%zu", docs[n].digest.text,
                       docs[n].data.len);
            at++;
        }
        if (sha256_digest(d->data.data, d->data.len, &d->digest, &err) < 0)
            abort();
    }
}

static inline void document_path(const struct document *d, char path[96])
{
    snprintf(path, 96, "blobs/sha256/%s", digest_hex(&d->digest));
}

static inline void documents_layout(int dir, const struct document *docs, size_t count)
{
    char path[96];

    if ((mkdirat(dir, "blobs", 0700) < 0 && errno != EEXIST) ||
        (mkdirat(dir, "blobs/sha256", 0700) < 0 && errno != EEXIST))
        abort();
    put_file(dir, "oci-layout", OCI_LAYOUT_JSON, strlen(OCI_LAYOUT_JSON));
    put_file(dir, "index.json", docs[0].data.data, docs[0].data.len);
    for (size_t i = 1; i < count; i++) {
        document_path(&docs[i], path);
        put_file(dir, path, docs[i].data.data, docs[i].data.len);
    }
}

static inline void documents_remove(int dir, const struct document *docs, size_t count)
{
    char path[96];

    for (size_t i = 1; i < count; i++) {
        document_path(&docs[i], path);
        unlinkat(dir, path, 0);
    }
}

static inline void tar_member(struct archive *a, const char *name, const struct buf *data)
{
    struct archive_entry *e = archive_entry_new();

    archive_entry_set_pathname(e, name);
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_perm(e, 0644);
    archive_entry_set_size(e, (la_int64_t)data->len);
    if (archive_write_header(a, e) != ARCHIVE_OK ||
        (data->len && archive_write_data(a, data->data, data->len) < 0))
        abort();
    archive_entry_free(e);
}

static inline void documents_archive(const struct document *docs, size_t count, struct buf *tar)
{
    struct archive *a = tar_begin(tar);
    char name[24];

    for (size_t i = 1; i < count; i++) {
        snprintf(name, sizeof(name), "%zu", i);
        tar_member(a, name, &docs[i].data);
    }
    tar_member(a, "manifest.json", &docs[0].data);
    if (archive_write_free(a) != ARCHIVE_OK)
        abort();
}

#endif
