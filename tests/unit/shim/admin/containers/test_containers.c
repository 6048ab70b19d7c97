#include "tests/unit/lib/unit.h"

#include "shim/admin/containers/overlays.h"
#include "shim/admin/containers/sources.h"

/* Reads the history for `count` directories. */
static bool read_history(const char *text, struct container_layer *about, size_t count,
                         struct arena *arena)
{
    struct err err = ERR_INIT;
    _cleanup_json_ struct json_doc *doc = json_parse(text, strlen(text), NULL, &err);

    assert_non_null(doc);
    return image_history_read(json_root(doc), about, count, arena);
}

static void test_history(void **state)
{
    static const char text[] =
        "{\"rootfs\":{\"diff_ids\":[\"a\",\"b\"]},\"history\":[{\"created_by\":\"ADD\"},"
        "{\"created_by\":\"ENV\",\"empty_layer\":true},{\"created_by\":\"RUN\"},{}]}";
    _cleanup_arena_ struct arena arena = {0};
    struct container_layer about[4] = {0};

    (void)state;
    assert_true(read_history(text, about, 2, &arena));
    assert_string_equal(about[0].created_by, "RUN");
    assert_string_equal(about[1].created_by, "ADD");
    memset(about, 0, sizeof(about));
    assert_true(read_history(text, about, 3, &arena)); /* with Docker's own on top */
    assert_null(about[0].created_by);
    assert_string_equal(about[1].created_by, "RUN");
    assert_string_equal(about[2].created_by, "ADD");
    memset(about, 0, sizeof(about));
    assert_false(read_history(text, about, 1, &arena));
    assert_false(read_history(text, about, 4, &arena));
    assert_null(about[0].created_by);
}

static void test_odd_history(void **state)
{
    _cleanup_arena_ struct arena arena = {0};
    struct container_layer about[2] = {0};

    (void)state;
    assert_false(read_history("{}", about, 2, &arena));
    assert_false(read_history("[1]", about, 2, &arena));
    assert_false(read_history("{\"rootfs\":{\"diff_ids\":[1,2]},\"history\":1}", about, 2, &arena));
    assert_true(read_history("{\"rootfs\":{\"diff_ids\":[1,2]},\"history\":[1,{\"created_by\":2},"
                             "{\"created_by\":\"three\"}]}",
                             about, 2, &arena));
    assert_null(about[0].created_by);
    assert_null(about[1].created_by);
}

static void test_tasks(void **state)
{
    static const struct {
        const char *point, *space, *id;
    } rows[] = {
        {"/run/containerd/io.containerd.runtime.v2.task/k8s.io/abc/rootfs", "k8s.io", "abc"},
        {"/x/io.containerd.runtime.v2.task/default/c1/rootfs", "default", "c1"},
        {"/x/io.containerd.runtime.v2.task/default/c1/rootfs/sub", NULL, NULL},
        {"/x/io.containerd.runtime.v2.task/default//rootfs", NULL, NULL},
        {"/x/io.containerd.runtime.v2.task/default", NULL, NULL},
        {"/x/io.containerd.runtime.v2.task/", NULL, NULL},
        {"/", NULL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const char *space, *id;
        size_t space_len, id_len;
        bool is = overlay_task(rows[i].point, &space, &space_len, &id, &id_len);
        assert_int_equal(is, rows[i].id != NULL);
        if (!is)
            continue;
        assert_int_equal(space_len, strlen(rows[i].space));
        assert_memory_equal(space, rows[i].space, space_len);
        assert_int_equal(id_len, strlen(rows[i].id));
        assert_memory_equal(id, rows[i].id, id_len);
    }
}

UNIT_SUITE(test_containers)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_history),
        cmocka_unit_test(test_odd_history),
        cmocka_unit_test(test_tasks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
