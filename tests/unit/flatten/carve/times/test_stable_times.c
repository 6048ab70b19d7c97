/* Times that a new version takes: a spool beside a list of what the previous layers have. */
#include "tests/unit/lib/merge/tree_paths.h"

#include "flatten/carve/spool/spool.h"
#include "flatten/carve/spool/spool_identities.h"
#include "flatten/carve/times/stable_times.h"
#include "flatten/layer/emit.h"

#include <stdio.h>
#include <sys/mman.h>

enum { LIMIT = 1024 * 1024, MOST = 32, THEN = 1000, NOW = 2000 };

/* Two spools: of the new version, and of the previous one, whose records become one layer. */
struct fixture {
    int fds[2];
    struct spool *now, *then;
    struct layout_entry entries[MOST];
    struct identity_stamp *stamps; /* by entry */
    struct layout_previous_layer layers[3];
    struct layout_previous view;
    struct stable_times out;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct err err = ERR_INIT;

    if (!f || (f->fds[0] = memfd_create("now", MFD_CLOEXEC)) < 0 ||
        (f->fds[1] = memfd_create("then", MFD_CLOEXEC)) < 0)
        return -1;
    f->now = spool_new(f->fds[0], 0, LIMIT, &err);
    f->then = spool_new(f->fds[1], 0, LIMIT, &err);
    f->view = (struct layout_previous){
        .layers = f->layers, .layer_count = 3, .entries = f->entries, .entry_count = 0};
    *state = f;
    return f->now && f->then ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    cleanup_spool(&f->now);
    cleanup_spool(&f->then);
    free(f->stamps);
    close(f->fds[0]);
    close(f->fds[1]);
    free(f);
    return 0;
}

/* ---- images ---- */

static void put(struct spool *s, const char *path, unsigned mode, int64_t mtime,
                const void *content, size_t len)
{
    _cleanup_entry_ struct archive_entry *header = archive_entry_new();
    struct err err = ERR_INIT;

    assert_non_null(header);
    archive_entry_set_pathname(header, path);
    archive_entry_set_mode(header, mode);
    archive_entry_set_size(header, (int64_t)len);
    archive_entry_set_mtime(header, mtime, 5);
    assert_works(entry_sink_entry(&s->base, header, &err), err);
    if (len)
        assert_works(entry_sink_data(&s->base, content, len, &err), err);
}

static void put_file(struct spool *s, const char *path, int64_t mtime, const char *content)
{
    put(s, path, S_IFREG | 0644, mtime, content, strlen(content));
}

/* A .pyc of Python 3.11 that names this time of its source; of flags 0 or 1 (a hash). */
static void put_pyc(struct spool *s, const char *path, int64_t mtime, unsigned char flags,
                    uint32_t time)
{
    unsigned char pyc[20] = {0xa7, '\r', '\r', '\n', flags};

    for (int i = 0; i < 4; i++)
        pyc[8 + i] = (unsigned char)(time >> 8 * i);
    put(s, path, S_IFREG | 0644, mtime, pyc, sizeof(pyc));
}

static void put_link(struct spool *s, const char *path, const char *target)
{
    _cleanup_entry_ struct archive_entry *header = archive_entry_new();
    struct err err = ERR_INIT;

    archive_entry_set_pathname(header, path);
    archive_entry_set_hardlink(header, target);
    assert_works(entry_sink_entry(&s->base, header, &err), err);
}

static void put_symlink(struct spool *s, const char *path, const char *target)
{
    _cleanup_entry_ struct archive_entry *header = archive_entry_new();
    struct err err = ERR_INIT;

    archive_entry_set_pathname(header, path);
    archive_entry_set_mode(header, S_IFLNK | 0777);
    archive_entry_set_mtime(header, 7, 0);
    archive_entry_set_symlink(header, target);
    assert_works(entry_sink_entry(&s->base, header, &err), err);
}

static void add_entry(struct fixture *f, uint32_t node, uint16_t layer, enum layout_kind kind,
                      const struct layout_identity *identity)
{
    uint32_t index = (uint32_t)f->view.entry_count++;

    assert_true(index < MOST);
    f->entries[index] =
        (struct layout_entry){.node = node, .inode = index, .layer = layer, .kind = (uint8_t)kind};
    if (identity)
        f->entries[index].identity = *identity;
}

/* Makes entries of layer 0 of what the previous spool has: its names are separate files. */
static void list_previous(struct fixture *f)
{
    struct err err = ERR_INIT;
    _cleanup_buf_ struct buf path = BUF_INIT;
    struct identity_stamp *by_record = NULL;
    assert_works(spool_finish(f->then, &err), err);
    _cleanup_free_ struct layout_identity *all = spool_identities(f->then, &by_record, &err);

    assert_non_null(all);
    f->stamps = calloc(MOST, sizeof(*f->stamps));
    for (size_t i = 0; i < f->then->record_count; i++) {
        const struct spool_record *r = &f->then->records[i];
        f->stamps[i] = by_record[i];
        add_entry(f, tree_at(f->now->tree, tree_path_in(f->then->tree, r->node, &path)), 0,
                  S_ISDIR(r->mode) ? LAYOUT_DIR : LAYOUT_FILE, &all[i]);
    }
    free(by_record);
}

static void take(struct fixture *f)
{
    struct err err = ERR_INIT;
    struct identity_stamp *stamps = NULL;
    const struct times_source previous = {&f->view, f->stamps};

    assert_works(spool_finish(f->now, &err), err);
    _cleanup_free_ struct layout_identity *all = spool_identities(f->now, &stamps, &err);
    assert_non_null(all);
    assert_works(stable_times_take(f->now, stamps, all, &previous, &f->out, &err), err);
    /* The identities are those of the spool as it is now. */
    _cleanup_free_ struct layout_identity *again = spool_identities(f->now, NULL, &err);
    assert_non_null(again);
    assert_memory_equal(all, again, f->now->record_count * sizeof(*all));
    free(stamps);
}

static int64_t time_of(const struct fixture *f, const char *path)
{
    struct err err = ERR_INIT;
    _cleanup_entry_ struct archive_entry *header =
        spool_header(f->now, spool_at(f->now, tree_at(f->now->tree, path)), &err);

    assert_non_null(header);
    return archive_entry_mtime(header);
}

/* ---- tests ---- */

static void test_what_is_equal_takes_its_time(void **state)
{
    struct fixture *f = *state;

    put(f->then, "d", S_IFDIR | 0755, THEN, NULL, 0);
    put_file(f->then, "d/same", THEN, "1");
    put_file(f->then, "d/other", THEN, "2");
    put_file(f->then, "d/mode", THEN, "3");
    put_file(f->then, "d/late", NOW, "4");
    put_file(f->then, "d/unmoved", NOW, "5");
    put(f->now, "d", S_IFDIR | 0755, NOW, NULL, 0);
    put_file(f->now, "d/same", NOW, "1");
    put_file(f->now, "d/other", NOW, "x");
    put(f->now, "d/mode", S_IFREG | 0755, NOW, "3", 1);
    put_file(f->now, "d/late", THEN, "4");
    put_file(f->now, "d/unmoved", NOW, "5");
    put_file(f->now, "d/new", NOW, "6");
    list_previous(f);
    take(f);
    assert_int_equal(time_of(f, "d"), THEN);
    assert_int_equal(time_of(f, "d/same"), THEN);
    assert_int_equal(time_of(f, "d/other"), NOW);
    assert_int_equal(time_of(f, "d/mode"), NOW);
    assert_int_equal(time_of(f, "d/late"), NOW);
    assert_int_equal(time_of(f, "d/new"), NOW);
    assert_int_equal(f->out.files, 2);
    assert_int_equal(f->out.directories, 1);
    assert_int_equal(f->out.paths, 3);
}

static void test_only_what_shows_counts(void **state)
{
    struct fixture *f = *state;

    put(f->then, "d", S_IFDIR | 0755, THEN, NULL, 0);
    put_file(f->then, "d/a", THEN, "1");
    put_file(f->then, "b", THEN, "1");
    put_file(f->then, "c", THEN, "1");
    put_file(f->now, "d/a", NOW, "1");
    put_file(f->now, "b", NOW, "1");
    put_file(f->now, "c", NOW, "1");
    list_previous(f);
    add_entry(f, tree_at(f->now->tree, "d"), 1, LAYOUT_OPAQUE, NULL);
    add_entry(f, tree_at(f->now->tree, "b"), 1, LAYOUT_WHITEOUT, NULL);
    f->stamps[f->view.entry_count] = f->stamps[3];
    add_entry(f, tree_at(f->now->tree, "c"), 1, LAYOUT_FILE, NULL); /* it has no identity */
    take(f);
    assert_int_equal(f->out.paths, 0);
    assert_int_equal(time_of(f, "d/a"), NOW);
}

static void test_names_of_a_file_agree(void **state)
{
    struct fixture *f = *state;

    put_file(f->then, "a", THEN, "1");
    put_file(f->then, "a2", THEN, "1");
    put_file(f->then, "b", THEN, "2");
    put_file(f->then, "b2", THEN + 1, "2");
    put_file(f->then, "c", THEN, "3");
    put_file(f->now, "a", NOW, "1");
    put_link(f->now, "a2", "a");
    put_file(f->now, "b", NOW, "2");
    put_link(f->now, "b2", "b");
    put_file(f->now, "c", NOW, "3");
    put_link(f->now, "c2", "c");
    list_previous(f);
    take(f);
    assert_int_equal(time_of(f, "a"), THEN);
    assert_int_equal(time_of(f, "b"), NOW);
    assert_int_equal(time_of(f, "c"), NOW);
    assert_int_equal(f->out.files, 1);
    assert_int_equal(f->out.paths, 2);
}

static const char source[] = "m.py", compiled[] = "__pycache__/m.cpython-311.pyc",
                  optimised[] = "__pycache__/m.cpython-311.opt-1.pyc";

static void test_a_pyc_and_its_source_take_both_or_neither(void **state)
{
    struct fixture *f = *state;

    /* The .pyc is used in the new version: with the previous time it would not be. */
    put_file(f->then, source, THEN, "1");
    put_pyc(f->then, compiled, THEN, 0, NOW);
    put_file(f->now, source, NOW, "1");
    put_pyc(f->now, compiled, NOW, 0, NOW);
    /* It is of both versions' source. */
    put_file(f->then, "same.py", THEN, "1");
    put_pyc(f->then, "__pycache__/same.cpython-311.pyc", THEN, 0, NOW);
    put_file(f->now, "same.py", THEN, "1");
    put_pyc(f->now, "__pycache__/same.cpython-311.pyc", NOW, 0, NOW);
    /* It is used in neither version, or in the previous one alone. */
    put_file(f->then, "old.py", THEN, "1");
    put_pyc(f->then, "__pycache__/old.cpython-311.pyc", THEN, 0, THEN);
    put_file(f->now, "old.py", NOW, "1");
    put_pyc(f->now, "__pycache__/old.cpython-311.pyc", NOW, 0, THEN);
    list_previous(f);
    take(f);
    assert_int_equal(time_of(f, source), NOW);
    assert_int_equal(time_of(f, compiled), NOW);
    assert_int_equal(time_of(f, "__pycache__/same.cpython-311.pyc"), THEN);
    assert_int_equal(time_of(f, "old.py"), THEN);
    assert_int_equal(time_of(f, "__pycache__/old.cpython-311.pyc"), THEN);
}

static void test_one_other_pyc_keeps_all_of_a_source(void **state)
{
    struct fixture *f = *state;

    put_file(f->then, source, THEN, "1");
    put_pyc(f->then, compiled, THEN, 0, 7);
    put_pyc(f->then, optimised, THEN, 0, THEN);
    put_file(f->now, source, NOW, "1");
    put_pyc(f->now, compiled, NOW, 0, 7);
    put_pyc(f->now, optimised, NOW, 0, NOW);
    /* This one is other code, and used in neither version. */
    put_file(f->then, "o.py", THEN, "1");
    put_pyc(f->then, "__pycache__/o.cpython-311.pyc", THEN, 0, 7);
    put_file(f->now, "o.py", NOW, "1");
    put_pyc(f->now, "__pycache__/o.cpython-311.pyc", NOW, 0, 8);
    /* A source that changed keeps its .pyc as it is. */
    put_file(f->then, "n.py", THEN, "1");
    put_pyc(f->then, "__pycache__/n.cpython-311.pyc", THEN, 0, THEN);
    put_file(f->now, "n.py", NOW, "2");
    put_pyc(f->now, "__pycache__/n.cpython-311.pyc", NOW, 0, THEN);
    list_previous(f);
    take(f);
    assert_int_equal(f->out.paths, 0);
}

static void test_a_pyc_of_a_hash_is_free(void **state)
{
    struct fixture *f = *state;

    put_file(f->then, source, THEN, "1");
    put_pyc(f->then, compiled, THEN, 1, 1);
    put_file(f->now, source, NOW, "1");
    put_pyc(f->now, compiled, NOW, 1, 2); /* another hash */
    /* Nor does one without a source depend on any. */
    put_pyc(f->then, "__pycache__/gone.cpython-311.pyc", THEN, 0, NOW);
    put_pyc(f->now, "__pycache__/gone.cpython-311.pyc", NOW, 0, NOW);
    list_previous(f);
    take(f);
    assert_int_equal(time_of(f, source), THEN);
    assert_int_equal(time_of(f, compiled), NOW);
    assert_int_equal(time_of(f, "__pycache__/gone.cpython-311.pyc"), THEN);
}

/* Python compares the time of the file that a link leads to. */
static void test_a_source_behind_links(void **state)
{
    struct fixture *f = *state;
    struct spool *const both[] = {f->then, f->now};

    for (int i = 0; i < 2; i++) {
        int64_t time = i ? NOW : THEN;
        put_file(both[i], "share/m.py", time, "1");
        put_file(both[i], "share/n.py", time, "1");
        put_symlink(both[i], "to", "share");
        put_symlink(both[i], source, "to/m.py");
        put_pyc(both[i], compiled, time, 0, NOW);
        /* This one is used in no version, so both take their times. */
        put_symlink(both[i], "n.py", "/to/n.py");
        put_pyc(both[i], "__pycache__/n.cpython-311.pyc", time, 0, 7);
        put_symlink(both[i], "gone.py", "share/gone");
        put_pyc(both[i], "__pycache__/gone.cpython-311.pyc", time, 0, 7);
    }
    list_previous(f);
    take(f);
    assert_int_equal(time_of(f, "share/m.py"), NOW);
    assert_int_equal(time_of(f, compiled), NOW);
    assert_int_equal(time_of(f, "share/n.py"), THEN);
    assert_int_equal(time_of(f, "__pycache__/n.cpython-311.pyc"), THEN);
    assert_int_equal(time_of(f, "__pycache__/gone.cpython-311.pyc"), NOW);
}

/* A .pyc is the file that its name leads to. One that leads to none may be in a volume. */
static void test_a_pyc_behind_links(void **state)
{
    struct fixture *f = *state;
    struct spool *const both[] = {f->then, f->now};

    for (int i = 0; i < 2; i++) {
        int64_t time = i ? NOW : THEN;
        put_file(both[i], source, time, "1");
        put_pyc(both[i], "store/1", time, 0, NOW);
        put_symlink(both[i], compiled, "../store/1");
        /* This one is used in no version, so both take their times. */
        put_file(both[i], "n.py", time, "1");
        put_pyc(both[i], "store/2", time, 0, 7);
        put_symlink(both[i], "__pycache__/n.cpython-311.pyc", "/store/2");
        put_file(both[i], "gone.py", time, "1");
        put_symlink(both[i], "__pycache__/gone.cpython-311.pyc", "/store/3");
    }
    list_previous(f);
    take(f);
    assert_int_equal(time_of(f, source), NOW);
    assert_int_equal(time_of(f, "store/1"), NOW);
    assert_int_equal(time_of(f, "n.py"), THEN);
    assert_int_equal(time_of(f, "store/2"), THEN);
    assert_int_equal(time_of(f, "gone.py"), NOW);
}

/* The cache is not searched: all sources beside it keep their times. */
static void test_a_cache_behind_a_link(void **state)
{
    struct fixture *f = *state;
    struct spool *const both[] = {f->then, f->now};

    for (int i = 0; i < 2; i++) {
        int64_t time = i ? NOW : THEN;
        put_file(both[i], "p/m.py", time, "1");
        put_pyc(both[i], "store/m.cpython-311.pyc", time, 0, NOW);
        put_symlink(both[i], "p/__pycache__", "../store");
        put_file(both[i], "share/n.py", time, "1");
        put_symlink(both[i], "p/n.py", "../share/n.py");
        put_file(both[i], "p/q/o.py", time, "1");
        put_file(both[i], "p/text", time, "1");
        put_file(both[i], "o.py", time, "1");
    }
    list_previous(f);
    take(f);
    assert_int_equal(time_of(f, "p/m.py"), NOW);
    assert_int_equal(time_of(f, "share/n.py"), NOW);
    assert_int_equal(time_of(f, "p/q/o.py"), THEN);
    assert_int_equal(time_of(f, "p/text"), THEN);
    assert_int_equal(time_of(f, "o.py"), THEN);
}

#define TIMES_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

UNIT_SUITE(test_stable_times)
{
    const struct CMUnitTest tests[] = {
        TIMES_TEST(test_what_is_equal_takes_its_time),
        TIMES_TEST(test_only_what_shows_counts),
        TIMES_TEST(test_names_of_a_file_agree),
        TIMES_TEST(test_a_pyc_and_its_source_take_both_or_neither),
        TIMES_TEST(test_one_other_pyc_keeps_all_of_a_source),
        TIMES_TEST(test_a_pyc_of_a_hash_is_free),
        TIMES_TEST(test_a_source_behind_links),
        TIMES_TEST(test_a_pyc_behind_links),
        TIMES_TEST(test_a_cache_behind_a_link),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
