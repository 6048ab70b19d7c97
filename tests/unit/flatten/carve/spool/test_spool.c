/* The spooled tree of an image: what it gives back, and the identities of its files. */
#include "tests/unit/lib/merge/tree_paths.h"

#include "flatten/carve/spool/identity.h"
#include "flatten/carve/spool/packer.h"
#include "flatten/carve/spool/spool_identities.h"
#include "flatten/layer/emit.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { LIMIT = 16 * 1024 * 1024, LARGE = 3 * 1024 * 1024 + 5 };

static const struct compress_options zstd = {.kind = COMPRESSION_ZSTD, .level = 3};

struct fixture {
    int fd;
    struct spool *spool;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct err err = ERR_INIT;

    if (!f || (f->fd = memfd_create("spool", MFD_CLOEXEC)) < 0)
        return -1;
    f->spool = spool_new(f->fd, 0, LIMIT, &err);
    *state = f;
    return f->spool ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    cleanup_spool(&f->spool);
    close(f->fd);
    free(f);
    return 0;
}

/* Returns a header, which the caller frees. */
static struct archive_entry *header_of(const char *path, unsigned mode, int64_t size)
{
    struct archive_entry *header = archive_entry_new();

    assert_non_null(header);
    archive_entry_set_pathname(header, path);
    archive_entry_set_mode(header, mode);
    archive_entry_set_size(header, size);
    archive_entry_set_mtime(header, 1000, 7);
    return header;
}

static void put_header(struct fixture *f, struct archive_entry *header)
{
    struct err err = ERR_INIT;

    assert_works(entry_sink_entry(&f->spool->base, header, &err), err);
    archive_entry_free(header);
}

static void put_file(struct fixture *f, const char *path, const char *content)
{
    struct err err = ERR_INIT;

    put_header(f, header_of(path, S_IFREG | 0644, (int64_t)strlen(content)));
    if (*content)
        assert_works(entry_sink_data(&f->spool->base, content, strlen(content), &err), err);
}

static const struct spool_record *record_of(const struct fixture *f, const char *path)
{
    return spool_at(f->spool, tree_at(f->spool->tree, path));
}

static void test_what_was_put_is_read(void **state)
{
    struct fixture *f = *state;
    struct err err = ERR_INIT;
    char part[4] = "";

    put_header(f, header_of("d", S_IFDIR | 0755, 0));
    put_file(f, "d/a", "content");
    put_file(f, "d/empty", "");
    assert_works(spool_finish(f->spool, &err), err);

    const struct spool_record *a = record_of(f, "d/a");
    assert_non_null(a);
    assert_int_equal(a->size, 7);
    assert_works(spool_read(f->spool, a, 3, part, 3, &err), err);
    assert_string_equal(part, "ten");
    _cleanup_entry_ struct archive_entry *header = spool_header(f->spool, a, &err);
    assert_non_null(header);
    assert_int_equal(archive_entry_mode(header), S_IFREG | 0644);
    assert_int_equal(archive_entry_size(header), 7);
    assert_int_equal(archive_entry_mtime(header), 1000);
    assert_int_equal(archive_entry_mtime_nsec(header), 7);
    assert_int_equal(record_of(f, "d/empty")->size, 0);
    assert_null(record_of(f, "d/none"));
}

static void test_links(void **state)
{
    _cleanup_buf_ struct buf target = BUF_INIT;
    struct fixture *f = *state;
    struct err err = ERR_INIT;
    struct archive_entry *link = header_of("l", S_IFLNK | 0777, 0);
    struct archive_entry *hard = header_of("b", S_IFREG | 0644, 0);
    struct archive_entry *lost = header_of("c", S_IFREG | 0644, 0);

    put_file(f, "a", "content");
    archive_entry_set_symlink(link, "somewhere");
    put_header(f, link);
    archive_entry_set_hardlink(hard, "a");
    put_header(f, hard);
    archive_entry_set_hardlink(lost, "nothing");
    assert_fails(entry_sink_entry(&f->spool->base, lost, &err), err, ERR_FORMAT);
    archive_entry_free(lost);
    assert_works(spool_finish(f->spool, &err), err);

    assert_string_equal(spool_target(f->spool, record_of(f, "l"), &target, &err), "somewhere");
    assert_ptr_equal(record_of(f, "a"), record_of(f, "b"));
    assert_int_equal(record_of(f, "a")->names, 2);
    assert_int_equal(f->spool->name_count, 1);
}

static void test_content_that_is_not_as_said(void **state)
{
    struct fixture *f = *state;
    struct err err = ERR_INIT;
    struct archive_entry *next = header_of("b", S_IFREG | 0644, 0);

    put_header(f, header_of("a", S_IFREG | 0644, 3));
    assert_fails(entry_sink_data(&f->spool->base, "more", 4, &err), err, ERR_FORMAT);
    assert_works(entry_sink_data(&f->spool->base, "12", 2, &err), err);
    assert_fails(entry_sink_entry(&f->spool->base, next, &err), err, ERR_FORMAT);
    archive_entry_free(next);
    assert_fails(spool_finish(f->spool, &err), err, ERR_FORMAT);
}

static void test_the_limit(void **state)
{
    struct fixture *f = *state;
    struct err err = ERR_INIT;

    put_header(f, header_of("a", S_IFREG | 0644, LIMIT));
    assert_fails(entry_sink_data(&f->spool->base, NULL, LIMIT, &err), err, ERR_LIMIT);
}

/* Holes and zeros are the same content; and pieces do not matter. */
static void put_large(struct fixture *f, const char *path, bool hole)
{
    struct err err = ERR_INIT;
    char *zeros = calloc(1, LARGE);

    assert_non_null(zeros);
    put_header(f, header_of(path, S_IFREG | 0644, LARGE));
    assert_works(entry_sink_data(&f->spool->base, "x", 1, &err), err);
    assert_works(entry_sink_data(&f->spool->base, hole ? NULL : zeros, LARGE - 2, &err), err);
    assert_works(entry_sink_data(&f->spool->base, "y", 1, &err), err);
    free(zeros);
}

static void put_changed(struct fixture *f, const char *path, int64_t mtime, const char *xattr)
{
    struct archive_entry *header = header_of(path, S_IFREG | 0644, 1);
    struct err err = ERR_INIT;

    archive_entry_set_mtime(header, mtime, 7);
    if (xattr)
        archive_entry_xattr_add_entry(header, "user.x", xattr, strlen(xattr));
    put_header(f, header);
    assert_works(entry_sink_data(&f->spool->base, "1", 1, &err), err);
}

/* Fails unless the identities of two paths are the same, or differ, as said. */
static void check_pair(const struct fixture *f, const struct layout_identity *all, const char *a,
                       const char *b, bool same)
{
    const struct layout_identity *one = &all[record_of(f, a) - f->spool->records];
    const struct layout_identity *other = &all[record_of(f, b) - f->spool->records];

    if ((memcmp(one, other, sizeof(*one)) == 0) != same)
        fail_msg("%s and %s", a, b);
}

static void test_identities(void **state)
{
    struct fixture *f = *state;
    struct err err = ERR_INIT;

    put_large(f, "hole", true);
    put_large(f, "zeros", false);
    put_changed(f, "one", 1000, NULL);
    put_changed(f, "older", 999, NULL);
    put_changed(f, "marked", 1000, "y");
    put_file(f, "same", "1");
    put_file(f, "other", "2");
    put_header(f, header_of("dir", S_IFDIR | 0644, 0));
    put_file(f, "empty", "");
    assert_works(spool_finish(f->spool, &err), err);

    _cleanup_free_ struct layout_identity *all = spool_identities(f->spool, NULL, &err);
    assert_non_null(all);
    check_pair(f, all, "hole", "zeros", true);
    check_pair(f, all, "one", "same", true);
    check_pair(f, all, "one", "older", false);
    check_pair(f, all, "one", "marked", false);
    check_pair(f, all, "one", "other", false);
    check_pair(f, all, "dir", "empty", false);
}

/* Many files, so that every thread has some: each has the identity that it has by itself. */
static void test_identities_of_many(void **state)
{
    enum { FILES = 2000 };
    _cleanup_(sha256_lane_clear) struct sha256_lane hash = {0};
    struct fixture *f = *state;
    struct err err = ERR_INIT;
    char name[16];

    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof(name), "f%d", i);
        put_file(f, name, name);
    }
    assert_works(spool_finish(f->spool, &err), err);
    _cleanup_free_ struct layout_identity *all = spool_identities(f->spool, NULL, &err);
    assert_non_null(all);
    assert_works(sha256_lane_init(&hash, &err), err);
    for (int i = 0; i < FILES; i++) {
        struct layout_identity expected;
        struct identity_stamp stamp;
        snprintf(name, sizeof(name), "f%d", i);
        _cleanup_entry_ struct archive_entry *header =
            header_of(name, S_IFREG | 0644, (int64_t)strlen(name));
        assert_works(identity_begin(&hash, header, &err), err);
        assert_works(identity_add(&hash, name, strlen(name), &err), err);
        assert_works(identity_end(&hash, header, &stamp, &err), err);
        assert_works(identity_of_stamp(&hash, &stamp, &expected, &err), err);
        assert_memory_equal(&all[record_of(f, name) - f->spool->records], &expected,
                            sizeof(expected));
    }
}

/* Bytes that zstd cannot guess, but for every second kilobyte. */
static unsigned char *content_of(size_t size)
{
    unsigned char *content = calloc(1, size);
    uint32_t state = 1;

    assert_non_null(content);
    for (size_t i = 0; i < size; i++)
        if (i & 1024)
            content[i] = (unsigned char)((state = state * 1664525 + 1013904223) >> 24);
    return content;
}

/* One byte in its middle comes as a hole. */
static void put_content(struct fixture *f, const char *path, const unsigned char *content,
                        size_t size)
{
    size_t part = 300 * 1000, from = size / 2, hole = size > 0 && content[from] == 0;
    struct err err = ERR_INIT;

    put_header(f, header_of(path, S_IFREG | 0644, (int64_t)size));
    for (size_t at = 0; at < from; at += part)
        assert_works(entry_sink_data(&f->spool->base, content + at,
                                     at + part < from ? part : from - at, &err),
                     err);
    assert_works(entry_sink_data(&f->spool->base, NULL, hole, &err), err);
    assert_works(entry_sink_data(&f->spool->base, content + from + hole, size - from - hole, &err),
                 err);
    assert_works(entry_sink_data(&f->spool->base, content, 0, &err), err);
}

static void check_content(const struct fixture *f, const char *path, const unsigned char *expected,
                          size_t size)
{
    const struct spool_record *r = record_of(f, path);
    _cleanup_free_ unsigned char *found = malloc(size);
    struct err err = ERR_INIT;

    assert_non_null(found);
    assert_int_equal(r->size, size);
    for (size_t at = 0; at < size; at += 1000 * 1000) {
        size_t len = size - at < 1000 * 1000 ? size - at : 1000 * 1000;
        assert_works(spool_read(f->spool, r, at, found + at, len, &err), err);
    }
    assert_memory_equal(found, expected, size);
}

static void test_packed_files(void **state)
{
    static const struct {
        const char *path;
        size_t size, pieces;
    } rows[] = {
        {"none", 0, 0},           {"small", SPOOL_PACKED - 1, 0}, {"least", SPOOL_PACKED, 1},
        {"piece", PIECE_SIZE, 1}, {"more", PIECE_SIZE + 1, 2},    {"most", 2 * PIECE_SIZE + 5, 3},
    };
    enum { COUNT = sizeof(rows) / sizeof(*rows), MOST = 2 * PIECE_SIZE + 5 };
    _cleanup_free_ unsigned char *content = content_of(MOST);
    struct fixture *f = *state;
    struct err err = ERR_INIT;

    cleanup_spool(&f->spool);
    assert_non_null(f->spool = spool_new(f->fd, 0, 4 * LIMIT, &err));
    assert_works(spool_pack(f->spool, &zstd, &err), err);
    for (size_t i = 0; i < COUNT; i++)
        put_content(f, rows[i].path, content, rows[i].size);
    assert_works(spool_finish(f->spool, &err), err);
    for (size_t i = 0; i < COUNT; i++) {
        const struct spool_record *r = record_of(f, rows[i].path);
        check_content(f, rows[i].path, content, rows[i].size);
        assert_int_equal(spool_pieces(f->spool, r) ? spool_piece_count(r) : 0, rows[i].pieces);
    }
    assert_int_equal(f->spool->pieces.count, 7);
    for (size_t i = 0; i < 7; i++)
        assert_in_range(f->spool->pieces.list[i].size, 1,
                        f->spool->pieces.list[i].len / 5 * 4 + 20);
}

/* A packed file counts as much as its content, although its room is larger. */
static void test_the_limit_with_packed_files(void **state)
{
    enum { FITTING = LIMIT / SPOOL_PACKED - 1 };
    _cleanup_free_ unsigned char *content = content_of(SPOOL_PACKED);
    struct fixture *f = *state;
    struct err err = ERR_INIT;
    char name[16];

    assert_works(spool_pack(f->spool, &zstd, &err), err);
    for (int i = 0; i < FITTING; i++) {
        snprintf(name, sizeof(name), "f%d", i);
        put_content(f, name, content, SPOOL_PACKED);
    }
    struct archive_entry *next = header_of("more", S_IFREG | 0644, SPOOL_PACKED);
    assert_fails(entry_sink_entry(&f->spool->base, next, &err), err, ERR_LIMIT);
    assert_non_null(strstr(err.msg, " 16777216 bytes"));
    archive_entry_free(next);
}

/* A page at a time, each would unpack a piece. */
static void test_databases_of_rpm_are_not_packed(void **state)
{
    static const char path[] = "var/lib/rpm/rpmdb.sqlite";
    _cleanup_free_ unsigned char *content = content_of(LARGE);
    struct fixture *f = *state;
    struct err err = ERR_INIT;

    assert_works(spool_pack(f->spool, &zstd, &err), err);
    put_content(f, path, content, LARGE);
    put_content(f, "rpmdb.sqlite/large", content, LARGE);
    assert_works(spool_finish(f->spool, &err), err);
    assert_null(spool_pieces(f->spool, record_of(f, path)));
    check_content(f, path, content, LARGE);
    assert_non_null(spool_pieces(f->spool, record_of(f, "rpmdb.sqlite/large")));
}

static off_t blocks_of(int fd)
{
    struct stat st;

    assert_int_equal(fstat(fd, &st), 0);
    return st.st_blocks;
}

static void test_packed_files_that_are_dropped(void **state)
{
    _cleanup_free_ unsigned char *content = content_of(LARGE);
    struct fixture *f = *state;
    struct spool_gone gone = {0};
    struct err err = ERR_INIT;

    assert_works(spool_pack(f->spool, &zstd, &err), err);
    put_content(f, "kept", content, LARGE);
    put_content(f, "gone", content, LARGE);
    put_file(f, "small", "content");
    assert_works(spool_finish(f->spool, &err), err);
    off_t before = blocks_of(f->fd);
    spool_drop(f->spool, record_of(f, "gone"), &gone);
    spool_drop_rest(f->spool, &gone);
    assert_true(blocks_of(f->fd) < before / 3 * 2);
    check_content(f, "kept", content, LARGE);
    check_content(f, "small", (const unsigned char *)"content", 7);
    char part[4];
    assert_fails(spool_read(f->spool, record_of(f, "gone"), 0, part, 4, &err), err, ERR_SYSTEM);
}

/* Small files that lie beside each other make one part; what lies between others stays. */
static void test_small_files_that_are_dropped(void **state)
{
    enum { MANY = 100, SIZE = 5000 };
    _cleanup_free_ unsigned char *content = content_of(SIZE);
    struct fixture *f = *state;
    struct spool_gone gone = {0};
    struct err err = ERR_INIT;
    char path[16];

    for (int i = 0; i < MANY; i++) {
        snprintf(path, sizeof(path), "f%d", i);
        put_content(f, path, content, SIZE);
    }
    assert_works(spool_finish(f->spool, &err), err);
    off_t before = blocks_of(f->fd);
    for (int i = 0; i < MANY; i++) {
        snprintf(path, sizeof(path), "f%d", i);
        if (i != MANY / 2)
            spool_drop(f->spool, record_of(f, path), &gone);
    }
    assert_true(blocks_of(f->fd) > before / 3); /* the rest is pending */
    spool_drop_rest(f->spool, &gone);
    assert_true(blocks_of(f->fd) < before / 10);
    snprintf(path, sizeof(path), "f%d", MANY / 2);
    check_content(f, path, content, SIZE);
}

/* The threads' failure reaches the caller, who may be far ahead. */
static void test_packed_files_on_a_full_disk(void **state)
{
    enum { MANY = 40 };
    _cleanup_free_ unsigned char *content = content_of(PIECE_SIZE);
    _cleanup_fd_ int full = open("/dev/full", O_RDWR | O_CLOEXEC);
    struct fixture *f = *state;
    struct err err = ERR_INIT;
    int rc = 0;

    assert_true(full >= 0);
    assert_works(spool_pack(f->spool, &zstd, &err), err);
    f->spool->packer = (packer_free(f->spool->packer), NULL);
    assert_non_null(f->spool->packer = packer_new(full, &zstd, &f->spool->pieces, &err));
    f->spool->limit = UINT64_MAX / 2;
    put_header(f, header_of("a", S_IFREG | 0644, (int64_t)MANY * PIECE_SIZE));
    for (int i = 0; rc == 0 && i < MANY; i++)
        rc = entry_sink_data(&f->spool->base, content, PIECE_SIZE, &err);
    assert_fails(rc, err, ERR_SYSTEM);
    assert_non_null(strstr(err.msg, "set TMPDIR"));
}

static void test_a_file_that_was_cut(void **state)
{
    struct fixture *f = *state;
    struct err err = ERR_INIT;

    put_file(f, "a", "content");
    assert_works(spool_finish(f->spool, &err), err);
    assert_int_equal(ftruncate(f->fd, 4), 0);
    assert_null(spool_identities(f->spool, NULL, &err));
    assert_true(err.msg[0] != '\0');
}

#define SPOOL_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

UNIT_SUITE(test_spool)
{
    const struct CMUnitTest tests[] = {
        SPOOL_TEST(test_what_was_put_is_read),
        SPOOL_TEST(test_links),
        SPOOL_TEST(test_content_that_is_not_as_said),
        SPOOL_TEST(test_the_limit),
        SPOOL_TEST(test_identities),
        SPOOL_TEST(test_identities_of_many),
        SPOOL_TEST(test_packed_files),
        SPOOL_TEST(test_the_limit_with_packed_files),
        SPOOL_TEST(test_databases_of_rpm_are_not_packed),
        SPOOL_TEST(test_packed_files_that_are_dropped),
        SPOOL_TEST(test_small_files_that_are_dropped),
        SPOOL_TEST(test_packed_files_on_a_full_disk),
        SPOOL_TEST(test_a_file_that_was_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
