/* The depth of a root: overlay options as the kernel shows them, and verdicts. */
#include "tests/unit/lib/plan_unit.h"

#include "shim/gather/rootfs.h"
#include "shim/mount/mount_table.h"
#include "shim/plan/decision/describe.h"

static void test_layers(void **state)
{
    static const struct {
        const char *super;
        size_t layers;
    } rows[] = {
        {"rw,lowerdir=/a,upperdir=/u,workdir=/w", 1},
        {"rw,lowerdir=/a:/b:/c,upperdir=/u,workdir=/w", 3},
        {"rw,lowerdir=l/AAA:l/BBB:/var/lib/x/diff", 3},
        {"rw,lowerdir=/a\\134:b:/c", 2},                 /* a\:b */
        {"rw,lowerdir=/a\\134\\134:/c", 2},              /* a\\ and then a separator */
        {"rw,lowerdir=/a\\134\\134\\134:/c:/d", 2},      /* a\\\:/c */
        {"rw,lowerdir=/with\\054lowerdir=x:/b", 2},      /* a comma */
        {"rw,lowerdir=/a:/b::/data1::/data2", 2},        /* data-only layers */
        {"rw,lowerdir+=/a,lowerdir+=/b,datadir+=/d", 2}, /* Linux 6.8 */
        {"rw,upperdir=/lowerdir=/a:/b", 0},
        {"rw", 0},
        {"", 0},
        {"lowerdir=", 0},
        {"rw,context=\"a:b:c0,lowerdir=x:y\",lowerdir=/a:/b", 2}, /* a comma in quotes */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_arena_ struct arena arena = {0};
        struct err err = ERR_INIT;
        struct layers layers;
        assert_works(layers_read(rows[i].super, &arena, &layers, &err), err);
        if (layers.count != rows[i].layers)
            fail_msg("%s: %zu", rows[i].super, layers.count);
    }
}

static const char table_text[] =
    "1 0 0:30 / / rw - overlay o rw,lowerdir=/x:/y\n"
    "2 1 0:31 / /c/merged rw shared:1 - overlay overlay rw,lowerdir=/a:/b:/c\n"
    "3 1 8:1 / /c/rootfs rw - ext4 /dev/sda1 rw\n"
    "4 1 0:32 / /c/twice rw - overlay overlay rw,lowerdir=/a\n"
    "5 1 0:33 / /c/twice rw - tmpfs t rw\n"
    "6 1 0:34 / /c/blank rw - overlay a\\040b rw,lowerdir=/a:/b\n"
    "7 1 0:35 / /c/short rw - overlay";

static void test_the_overlay_at_a_root(void **state)
{
    static const struct {
        const char *point, *super;
    } rows[] = {
        {"/c/merged", "rw,lowerdir=/a:/b:/c"},
        {"/c/rootfs", NULL},     /* another type of file system */
        {"/c/merged/sub", NULL}, /* within an overlay, not its root */
        {"/c/twice", NULL},      /* hidden by a later mount */
        {"/c/blank", "rw,lowerdir=/a:/b"},
        {"/c/short", ""},
        {"/", "rw,lowerdir=/x:/y"},
    };
    _cleanup_arena_ struct arena arena = {0};
    struct mount_table table;
    struct err err = ERR_INIT;

    (void)state;
    assert_works(mount_table_parse(table_text, &arena, &table, &err), err);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct mount_entry *found = mount_table_overlay_at(&table, rows[i].point);
        assert_int_equal(found != NULL, rows[i].super != NULL);
        if (found)
            assert_string_equal(found->super, rows[i].super);
    }
}

static void test_what_is_too_deep(void **state)
{
    static const struct {
        const char *rootfs;
        size_t depth;
        int verdict; /* -1: no verdict */
    } rows[] = {
        {"\"max_depth\":32", 32, -1},
        {"\"max_depth\":32", 33, PLAN_KEPT},
        {"\"max_depth\":32,\"beyond\":\"warn\"", 33, PLAN_KEPT},
        {"\"max_depth\":32,\"beyond\":\"deny\"", 33, PLAN_DENIED},
        {"\"max_depth\":32,\"beyond\":\"deny\"", 0, -1},
        {"\"beyond\":\"deny\"", 33, -1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        void *own = NULL;
        struct err err = ERR_INIT;
        assert_int_equal(setup(&own), 0);
        struct fixture *f = own;
        _cleanup_free_ char *sections = strf("\"rootfs\":{%s}", rows[i].rootfs);
        f->depth = rows[i].depth;
        plan_for(f, sections, "{}");
        assert_int_equal(f->plan.count, rows[i].verdict >= 0);
        assert_false(decision_changes(&f->decision));
        if (rows[i].verdict >= 0)
            assert_int_equal(f->plan.ops[0].verdict, rows[i].verdict);
        if (rows[i].verdict == PLAN_DENIED) {
            assert_fails(decision_check(&f->decision, &err), err, ERR_POLICY);
            assert_contains(err.msg, "rootfs.max_depth: the container's root has 33 layers");
            assert_contains(err.msg, "'flatten IMAGE'");
            assert_contains(err.msg, "(policy.json:1)");
        }
        teardown(&own);
    }
}

static void test_in_words(void **state)
{
    struct fixture *f = *state;
    struct description d;
    struct err err = ERR_INIT;

    f->depth = 40;
    plan_for(f, "\"rootfs\":{\"max_depth\":1}", "{}");
    assert_works(describe_outcome(&f->decision.list[0], &f->arena, &d, &err), err);
    assert_string_equal(d.kind, "rootfs");
    assert_string_equal(d.verdict, "kept");
    assert_string_equal(d.subject, "rootfs.max_depth");
    assert_null(d.asked_by);
    assert_string_equal(d.policy, "policy.json:1");
}

UNIT_SUITE(test_rootfs)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers),
        cmocka_unit_test(test_the_overlay_at_a_root),
        cmocka_unit_test(test_what_is_too_deep),
        cmocka_unit_test_setup_teardown(test_in_words, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
