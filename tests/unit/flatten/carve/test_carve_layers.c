/* Layers that are written at the same time: their order at the sink, their bytes, and failures. */
#include "flatten/carve/carve_layers.h"

#include "flatten/carve/spool/spool_identities.h"

#include "tests/unit/lib/merge/tree_paths.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { LAYERS = 6, LIMIT = 64 * 1024 * 1024, LARGE = 2000 * 1000 };
enum {
    SMALL = 900 * 1000,
    SMALL_FILES = 5
}; /* together more than two pieces of a thread of zstd */

/* A sink that notes what it is asked: "b" begin, "+" begin beside, "e" end. */
struct noting_sink {
    struct sink base;
    char calls[2 * LAYERS + 1];
    int fds[LAYERS];
    size_t begun, ended, broken; /* layer `broken` goes to a file that takes nothing */
};

static int begin(struct noting_sink *s, char call, int *fd, off_t *offset)
{
    bool broken = s->begun == s->broken;

    s->calls[strlen(s->calls)] = call;
    *fd = s->fds[s->begun++] =
        broken ? open("/dev/full", O_WRONLY | O_CLOEXEC) : memfd_create("layer", MFD_CLOEXEC);
    *offset = 0;
    return 0;
}

static int begin_layer(struct sink *s, bool once, int *fd, off_t *offset, struct err *err)
{
    (void)once;
    (void)err;
    return begin((struct noting_sink *)s, 'b', fd, offset);
}

static int begin_beside(struct sink *s, int *fd, off_t *offset, struct err *err)
{
    (void)err;
    return begin((struct noting_sink *)s, '+', fd, offset);
}

static int end_layer(struct sink *base, const struct written_layer *layer, struct err *err)
{
    struct noting_sink *s = (struct noting_sink *)base;
    struct stat st;

    (void)err;
    s->calls[strlen(s->calls)] = 'e';
    assert_int_equal(fstat(s->fds[s->ended++], &st), 0);
    assert_int_equal(st.st_size, layer->size);
    return 0;
}

static const struct compress_options zstd = {.kind = COMPRESSION_ZSTD, .level = 3};

struct fixture {
    int fd;
    struct spool *spool;
    uint16_t by_record[LAYERS * (1 + SMALL_FILES)], described[LAYERS + 1];
    struct carve_plan plan;
    struct squashed out;
};

/* A file that takes half of its bytes when it is compressed. */
static void put_file(struct spool *spool, unsigned number, size_t size)
{
    _cleanup_free_ unsigned char *content = malloc(size);
    struct archive_entry *header = archive_entry_new();
    struct err err = ERR_INIT;
    uint32_t state = number;
    char path[12];

    assert_non_null(content);
    for (size_t i = 0; i < size; i++)
        content[i] = (unsigned char)((state = state * 1664525 + 1013904223) >> 28);
    snprintf(path, sizeof(path), "f%u", number);
    archive_entry_set_pathname(header, path);
    archive_entry_set_mode(header, S_IFREG | 0644);
    archive_entry_set_size(header, (la_int64_t)size);
    assert_works(entry_sink_entry(&spool->base, header, &err), err);
    assert_works(entry_sink_data(&spool->base, content, size, &err), err);
    archive_entry_free(header);
}

/*
 * Fills the spool: a file in each layer, which may be packed, and some that are too small for that.
 * Writing the layers takes them out of it.
 */
static int fill(struct fixture *f, bool packed, unsigned small, struct err *err)
{
    unsigned number = 0;

    cleanup_spool(&f->spool);
    if (!(f->spool = spool_new(f->fd, 0, LIMIT, err)) ||
        (packed && spool_pack(f->spool, &zstd, err) < 0))
        return -1;
    for (; number < LAYERS * (1 + small); number++) {
        put_file(f->spool, number, number < LAYERS ? LARGE : SMALL);
        f->by_record[number] = (uint16_t)(number % LAYERS);
    }
    f->plan.spool = f->spool;
    return spool_finish(f->spool, err);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct err err = ERR_INIT;

    if (!f || (f->fd = memfd_create("spool", MFD_CLOEXEC)) < 0)
        return -1;
    f->plan = (struct carve_plan){
        .by_record = f->by_record, .layer_count = LAYERS, .described = f->described};
    *state = f;
    return fill(f, false, 0, &err);
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    squashed_clear(&f->out);
    cleanup_spool(&f->spool);
    close(f->fd);
    free(f);
    return 0;
}

static int put(struct fixture *f, struct noting_sink *s, const struct compress_options *compress,
               struct err *err)
{
    static const struct sink_ops ops = {
        .begin_layer = begin_layer, .begin_beside = begin_beside, .end_layer = end_layer};
    const struct squash_options options = {.compress = *compress, .merged.max_size = LIMIT};

    s->base.ops = &ops;
    *err = (struct err)ERR_INIT;
    squashed_clear(&f->out);
    assert_works(squashed_init(LAYERS, 0, &f->out, err), *err);
    int rc = carve_put_layers(&f->plan, &options, &s->base, &f->out, err);
    for (size_t i = 0; i < s->begun; i++)
        close(s->fds[i]);
    return rc;
}

static void test_layers_begin_before_others_end(void **state)
{
    static const struct {
        enum compression kind;
        unsigned cpus, beside;
        const char *calls;
    } rows[] = {
        {COMPRESSION_GZIP, 1, 7, "bebebebebebe"}, {COMPRESSION_GZIP, 8, 0, "bebebebebebe"},
        {COMPRESSION_GZIP, 3, 7, "b+++++eeeeee"}, {COMPRESSION_GZIP, 8, 7, "b+++++eeeeee"},
        {COMPRESSION_ZSTD, 3, 7, "bebebebebebe"}, {COMPRESSION_ZSTD, 8, 2, "b++e+e+e+eee"},
    };
    struct fixture *f = *state;
    struct err err = ERR_INIT;

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct noting_sink s = {.base.beside = rows[i].beside, .broken = LAYERS};
        const struct compress_options compress = {
            .kind = rows[i].kind, .level = 1, .threads = rows[i].cpus};
        assert_works(fill(f, false, 0, &err), err);
        assert_works(put(f, &s, &compress, &err), err);
        assert_string_equal(s.calls, rows[i].calls);
    }
}

/* Writes the layers with that many processors; they are the same as with one. */
static void check_same_bytes(struct fixture *f, unsigned small, unsigned beside, unsigned cpus,
                             const char *calls, struct digest alone[LAYERS])
{
    struct noting_sink s = {.base.beside = beside, .broken = LAYERS};
    const struct compress_options compress = {
        .kind = COMPRESSION_ZSTD, .level = 3, .threads = cpus};
    struct err err = ERR_INIT;

    assert_works(fill(f, small > 0, small, &err), err);
    assert_works(put(f, &s, &compress, &err), err);
    assert_string_equal(s.calls, calls);
    assert_int_equal(f->out.count, LAYERS);
    for (size_t i = 0; i < LAYERS; i++) {
        if (cpus == 1)
            alone[i] = f->out.layers[i].digest;
        assert_string_equal(f->out.layers[i].digest.text, alone[i].text);
    }
}

static void test_bytes_do_not_depend_on_processors(void **state)
{
    struct digest alone[LAYERS];

    check_same_bytes(*state, 0, SINK_MOST_BESIDE, 1, "bebebebebebe", alone);
    check_same_bytes(*state, 0, SINK_MOST_BESIDE, 4, "b+++++eeeeee", alone);
    check_same_bytes(*state, 0, SINK_MOST_BESIDE, 16, "b+++++eeeeee", alone);
}

/* Up to three layers are written at the same time. What is written takes no room. */
static void test_packed_files(void **state)
{
    static const struct {
        unsigned cpus;
        const char *calls;
    } rows[] = {{1, "bebebebebebe"}, {4, "b+++++eeeeee"}, {16, "b+++++eeeeee"}};
    struct fixture *f = *state;
    struct digest alone[LAYERS];
    struct stat st;

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        check_same_bytes(f, SMALL_FILES, SINK_MOST_BESIDE, rows[i].cpus, rows[i].calls, alone);
    assert_int_equal(fstat(f->fd, &st), 0);
    assert_true(st.st_blocks * 512 < LARGE);
}

/* Layers that come one after the other, as in an archive, have other bytes: zstd has threads. */
static void test_packed_files_one_after_the_other(void **state)
{
    static const char calls[] = "bebebebebebe";
    static const unsigned cpus[] = {1, 2, 16};
    struct digest beside[LAYERS], alone[LAYERS];
    struct fixture *f = *state;

    check_same_bytes(f, SMALL_FILES, SINK_MOST_BESIDE, 1, calls, beside);
    for (size_t i = 0; i < sizeof(cpus) / sizeof(*cpus); i++)
        check_same_bytes(f, SMALL_FILES, 0, cpus[i], calls, alone);
    for (size_t i = 0; i < LAYERS; i++)
        assert_false(digest_equal(&beside[i], &alone[i]));
}

/* They are those that spool_identities computes without writing. */
static void test_identities_of_what_is_written(void **state)
{
    static const struct {
        enum compression kind;
        int level;
        bool packed;
    } rows[] = {
        {COMPRESSION_NONE, 0, false}, {COMPRESSION_GZIP, 1, false}, {COMPRESSION_ZSTD, 3, false},
        {COMPRESSION_ZSTD, 3, true},  {COMPRESSION_NONE, 0, true},
    };
    struct fixture *f = *state;
    struct err err = ERR_INIT;

    assert_works(fill(f, false, 0, &err), err);
    _cleanup_free_ struct layout_identity *expected = spool_identities(f->spool, NULL, &err);
    assert_non_null(expected);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct noting_sink s = {.base.beside = SINK_MOST_BESIDE, .broken = LAYERS};
        struct layout_identity identities[LAYERS] = {0};
        const struct compress_options options = {
            .kind = rows[i].kind, .level = rows[i].level, .threads = 2};
        assert_works(fill(f, rows[i].packed, 0, &err), err);
        f->plan.identities = identities;
        assert_works(put(f, &s, &options, &err), err);
        assert_memory_equal(identities, expected, sizeof(identities));
    }
}

/* The layers before the one that fails are there; those after it have not ended. */
static void test_a_layer_that_fails_ends_all(void **state)
{
    const struct compress_options compress = {.kind = COMPRESSION_GZIP, .level = 1, .threads = 4};
    struct fixture *f = *state;
    struct noting_sink s = {.base.beside = SINK_MOST_BESIDE, .broken = 2};
    struct err err;

    assert_fails(put(f, &s, &compress, &err), err, ERR_SYSTEM);
    assert_int_equal(err.sys, ENOSPC);
    assert_int_equal(s.ended, 2);
    assert_int_equal(f->out.count, 2);
}

UNIT_SUITE(test_carve_layers)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_layers_begin_before_others_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bytes_do_not_depend_on_processors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_packed_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_packed_files_one_after_the_other, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_identities_of_what_is_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_layer_that_fails_ends_all, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
