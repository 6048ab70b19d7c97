/* podman's records of containers: which layer a container has. */
#include "tests/unit/lib/tempdir.h"
#include "tests/unit/lib/unit.h"

#include "shim/gather/engine/engine_layer.h"

#define RECORD(id, layer)                                                                          \
    "[{\"id\":\"other\",\"layer\":\"x\"},{\"id\":\"" id "\",\"layer\":\"" layer "\"}]"

static void write_record(const struct tempdir *dir, const char *name, const char *text)
{
    int fd = openat(dir->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void test_the_layer_of_a_container(void **state)
{
    static const struct {
        const char *kept, *removed; /* containers.json and volatile-containers.json; NULL: none */
        bool recorded;
        const char *layer;
    } rows[] = {
        {NULL, NULL, false, NULL},
        {RECORD("c1", "l1"), NULL, true, "l1"},
        {NULL, RECORD("c1", "l1"), true, "l1"},
        {RECORD("c2", "l2"), RECORD("c1", "l1"), true, "l1"},
        {RECORD("c1", "l1"), RECORD("c1", "l2"), true, "l1"},
        {RECORD("c1x", "l1"), NULL, true, NULL},
        {RECORD("c1", ""), NULL, true, NULL},
        {"[{\"id\":\"c1\"},{\"layer\":\"l1\"},7]", NULL, true, NULL},
        {"{}", "[]", true, NULL},
    };
    const struct tempdir *dir = *state;
    const struct engine_directories engine = {.records = dir->path, .record_id = "c1"};

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_arena_ struct arena arena = {0};
        struct engine_layer layer;
        struct err err = ERR_INIT;
        unlinkat(dir->fd, "containers.json", 0);
        unlinkat(dir->fd, "volatile-containers.json", 0);
        if (rows[i].kept)
            write_record(dir, "containers.json", rows[i].kept);
        if (rows[i].removed)
            write_record(dir, "volatile-containers.json", rows[i].removed);
        assert_works(engine_layer_find(&engine, &arena, &layer, &err), err);
        if (layer.recorded != rows[i].recorded || !layer.id != !rows[i].layer ||
            (layer.id && strcmp(layer.id, rows[i].layer) != 0))
            fail_msg("row %zu: %d, %s", i, layer.recorded, layer.id ? layer.id : "none");
    }
}

static void test_records_that_cannot_be_read(void **state)
{
    _cleanup_arena_ struct arena arena = {0};
    const struct tempdir *dir = *state;
    struct engine_directories engine = {.records = dir->path, .record_id = "c1"};
    struct engine_layer layer;
    struct err err = ERR_INIT;

    write_record(dir, "containers.json", "[{\"id\":\"c1\",");
    assert_int_equal(engine_layer_find(&engine, &arena, &layer, &err), -1);
    assert_contains(err.msg, "/containers.json");
    unlinkat(dir->fd, "containers.json", 0);
    assert_int_equal(symlinkat("/dev/zero", dir->fd, "containers.json"), 0);
    assert_int_equal(engine_layer_find(&engine, &arena, &layer, &err), -1);
    engine.records = "/nonexistent";
    assert_int_equal(engine_layer_find(&engine, &arena, &layer, &err), -1);
}

static void test_engines_without_records(void **state)
{
    _cleanup_arena_ struct arena arena = {0};
    const struct engine_directories engine = {.records = NULL};
    struct engine_layer layer;
    struct err err = ERR_INIT;

    (void)state;
    assert_works(engine_layer_find(&engine, &arena, &layer, &err), err);
    assert_false(layer.recorded);
    assert_null(layer.id);
}

static void test_paths_of_a_layer(void **state)
{
    const struct engine_layer layer = {.recorded = true, .id = "l1"}, none = {.recorded = true};

    (void)state;
    assert_true(engine_layer_has(&layer, "/g/overlay/l1/merged"));
    assert_true(engine_layer_has(&layer, "/g/vfs/dir/l1"));
    assert_false(engine_layer_has(&layer, "/g/overlay/l12/merged"));
    assert_false(engine_layer_has(&layer, "/g/overlay/xl1/merged"));
    assert_false(engine_layer_has(&none, "/g/overlay/l1/merged"));
    assert_false(engine_layer_has(&none, "/g//merged"));
}

UNIT_SUITE(test_engine_layer)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_layer_of_a_container, tempdir_make,
                                        tempdir_remove),
        cmocka_unit_test_setup_teardown(test_records_that_cannot_be_read, tempdir_make,
                                        tempdir_remove),
        cmocka_unit_test(test_engines_without_records),
        cmocka_unit_test(test_paths_of_a_layer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
