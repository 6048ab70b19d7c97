/* Makes images at destinations, and lists what is there. */
#ifndef TESTS_SINKS_H
#define TESTS_SINKS_H

#include "base/fdio.h"
#include "base/json/json.h"
#include "flatten/exchange/blob_store.h"
#include "flatten/keeper/sink/sink_open.h"
#include "tests/unit/lib/tempdir.h"
#include "tests/unit/lib/unit.h"

#include <dirent.h>
#include <sys/stat.h>

#define REF_NAME "org.opencontainers.image.ref.name"

static inline struct digest digest_of(const char *text)
{
    struct digest digest;
    struct err err = ERR_INIT;

    assert_works(sha256_digest(text, strlen(text), &digest, &err), err);
    return digest;
}

static inline int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All paths below, sorted, one a line: "d blobs", "f index.json 123". */
static inline void list_dir(int at, const char *path, struct buf *out)
{
    char *names[64];
    size_t count = 0;
    int fd = openat(at, *path ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fdopendir(fd);
    struct stat st;

    assert_non_null(dir);
    for (const struct dirent *e; (e = readdir(dir));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            names[count++] = strf("%s%s%s", path, *path ? "/" : "", e->d_name);
    closedir(dir);
    qsort(names, count, sizeof(*names), by_text);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(fstatat(at, names[i], &st, AT_SYMLINK_NOFOLLOW), 0);
        buf_printf(out, "%c %s\n", S_ISDIR(st.st_mode) ? 'd' : 'f', names[i]);
        if (S_ISDIR(st.st_mode))
            list_dir(at, names[i], out);
        free(names[i]);
    }
}

static inline void read_text(const struct tempdir *dir, const char *path, struct buf *out)
{
    struct err err = ERR_INIT;

    assert_works(file_read(dir->fd, path, 1 << 20, out, &err), err);
}

static inline struct sink *open_sink(const struct tempdir *dir, enum transport transport,
                                     const char *name, struct err *err)
{
    char path[160];
    struct reference ref = {.transport = transport, .path = path};

    *err = (struct err)ERR_INIT;
    snprintf(path, sizeof(path), "%s/%s", dir->path, name);
    return sink_open(&ref, err);
}

static inline struct written_layer put_layer(struct sink *sink, const char *content)
{
    struct written_layer layer = {.size = strlen(content)};
    struct err err = ERR_INIT;
    off_t offset;
    int fd;

    assert_works(sink_begin_layer(sink, false, &fd, &offset, &err), err);
    assert_int_equal(pwrite(fd, content, strlen(content), offset), strlen(content));
    layer.digest = layer.diff_id = digest_of(content);
    assert_works(sink_end_layer(sink, &layer, &err), err);
    return layer;
}

static inline int publish(struct sink *sink, const struct written_layer *layer, const char *name,
                          struct err *err)
{
    static const char config[] = "{\"the\":\"config\"}";
    _cleanup_free_ char *manifest = strf("{\"of\":\"%s\"}", layer->digest.text);
    struct sink_image image = {
        .config = {digest_of(config), config, strlen(config)},
        .manifest = {digest_of(manifest), manifest, strlen(manifest)},
        .layers = layer,
        .layer_count = 1,
        .name = name,
        .named = true,
    };

    return sink_publish(sink, &image, 1, err);
}

static inline void make_image(const struct tempdir *dir, enum transport transport, const char *path,
                              const char *content, const char *name)
{
    struct err err;
    _cleanup_sink_ struct sink *sink = open_sink(dir, transport, path, &err);

    if (!sink)
        fail_msg("%s", err.msg);
    struct written_layer layer = put_layer(sink, content);
    assert_works(publish(sink, &layer, name, &err), err);
}

static inline bool has_blob(const struct tempdir *dir, const char *layout, const char *content)
{
    struct digest digest = digest_of(content);
    _cleanup_free_ char *path = strf("%s/blobs/sha256/%s", layout, digest_hex(&digest));

    return faccessat(dir->fd, path, R_OK, 0) == 0;
}

/* Returns the names in index.json in order, each followed by a space. */
static inline void tags(const struct tempdir *dir, const char *layout, struct buf *out)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    _cleanup_free_ char *path = strf("%s/index.json", layout);
    struct err err = ERR_INIT;

    read_text(dir, path, &text);
    _cleanup_json_ struct json_doc *doc = json_parse(text.data, text.len, NULL, &err);
    assert_non_null(doc);
    const struct json *list = json_get(json_root(doc), "manifests");
    buf_append(out, "", 0);
    for (size_t i = 0; i < json_count(list); i++) {
        const char *name = json_text(json_path(json_at(list, i), "annotations", REF_NAME, NULL));
        buf_printf(out, "%s ", name ? name : "-");
    }
}

#define UNIT(test) cmocka_unit_test_setup_teardown(test, tempdir_make, tempdir_remove)

#endif
