/* Chains of layers, the decision to build a tree, and trees that may be removed. */
#include "tests/unit/lib/plan_unit.h"
#include "tests/unit/lib/tempdir.h"

#include "shim/admin/leftovers/restack_list.h"
#include "shim/restack/build/restack_build.h"
#include "shim/restack/cache/chain.h"

#include <limits.h>
#include <sys/stat.h>

/* The working directory is a new one: paths are relative to it. */
static int enter_tempdir(void **state)
{
    if (tempdir_make(state) < 0)
        return -1;
    return fchdir(((struct tempdir *)*state)->fd);
}

static int leave_tempdir(void **state)
{
    return chdir("/") < 0 ? -1 : tempdir_remove(state);
}

/* ---- chains ---- */

static void make(const char *path)
{
    assert_int_equal(mkdir(path, 0755), 0);
}

static void chain_in(const char *const *paths, size_t count, bool users, struct arena *arena,
                     struct chain *out)
{
    struct err err = ERR_INIT;

    assert_works(chain_of_paths(paths, count, users, arena, out, &err), err);
}

static void test_keys(void **state)
{
    static const char *const two[] = {"a", "b"}, *const turned[] = {"b", "a"}, *const one[] = {"a"};
    _cleanup_arena_ struct arena arena = {0};
    struct chain first, again, other, read;
    struct err err = ERR_INIT;

    (void)state;
    make("a");
    make("b");
    chain_in(two, 2, false, &arena, &first);
    chain_in(two, 2, false, &arena, &again);
    assert_string_equal(first.key, again.key);
    assert_string_equal(first.record, again.record);
    assert_int_equal(strlen(first.key), CHAIN_KEY - 1);
    chain_in(turned, 2, false, &arena, &other);
    assert_string_not_equal(first.key, other.key);
    chain_in(one, 1, false, &arena, &other);
    assert_string_not_equal(first.key, other.key);
    chain_in(two, 2, true, &arena, &other);
    assert_string_not_equal(first.key, other.key);

    assert_works(chain_parse(first.record, &arena, &read, &err), err);
    assert_string_equal(read.key, first.key);
    assert_int_equal(read.count, 2);
    assert_string_equal(read.paths[1], first.paths[1]);

    /* Another directory of the same name is another layer, and so is one with an entry more. */
    assert_int_equal(rmdir("b"), 0);
    make("b");
    chain_in(two, 2, false, &arena, &other);
    assert_string_not_equal(first.key, other.key);
    make("b/new");
    chain_in(two, 2, false, &arena, &again);
    assert_string_not_equal(again.key, other.key);
    assert_int_equal(rmdir("b/new") + rmdir("a") + rmdir("b"), 0);
    assert_fails(chain_describe(&first, &arena, &(const char *){NULL}, &err), err, ERR_SYSTEM);
}

static void test_what_is_no_record(void **state)
{
    static const char *const rows[] = {
        "",
        "flatbed chain 1 trusted\n",
        "flatbed chain 2 trusted\n1 1.0 1.0 /a\n",
        "flatbed chain 1 trusted\n1 1.0 1.0 a\n",
        "flatbed chain 1 trusted\n1 1.0 /a\n",
        "flatbed chain 1 trusted\n1 1.0 1.0 /a",
        "flatbed chain 1 trusted\n\n\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_arena_ struct arena arena = {0};
        struct err err = ERR_INIT;
        struct chain chain;
        assert_fails(chain_parse(rows[i], &arena, &chain, &err), err, ERR_FORMAT);
    }
}

/* An overlay as each engine mounts it. */
static void test_engines(void **state)
{
    static const struct {
        const char *super, *point, *top;
        size_t count;
        bool own, based;
    } rows[] = {
        {"lowerdir=%s/l/I:%s/l/A:%s/l/B,upperdir=%s/C/diff,workdir=%s/C/work", "C/merged", "A/diff",
         2, true, false},
        {"lowerdir=l/I:l/A:l/B,upperdir=C/diff,workdir=C/work", "C/merged", "A/diff", 2, true,
         true},
        {"lowerdir=l/A:l/B,upperdir=C/diff,workdir=C/work", "C/merged", "A/diff", 2, false, true},
        {"lowerdir=A/diff:B/diff,upperdir=%s/C/diff,workdir=%s/C/work", "away/bundle/rootfs",
         "A/diff", 2, false, true},
        {"lowerdir=l/A:l/NONE,upperdir=C/diff,workdir=C/work", "C/merged", NULL, 0, false, false},
        {"lowerdir=A/diff:B/diff,upperdir=C/diff,workdir=C/work", "away/bundle/rootfs", NULL, 0,
         false, false},
    };
    static const char *const directories[] = {"A",      "A/diff",      "B", "B/diff",
                                              "C-init", "C-init/diff", "C", "C/diff",
                                              "C/work", "C/merged",    "l"};
    char here[PATH_MAX];

    (void)state;
    assert_non_null(getcwd(here, sizeof(here)));
    for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++)
        make(directories[i]);
    assert_int_equal(symlink("../A/diff", "l/A") + symlink("../B/diff", "l/B") +
                         symlink("../C-init/diff", "l/I"),
                     0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_arena_ struct arena arena = {0};
        _cleanup_buf_ struct buf super = BUF_INIT;
        _cleanup_free_ char *point = strf("%s/%s", here, rows[i].point);
        struct err err = ERR_INIT;
        struct layers layers;
        struct chain chain;
        for (const char *p = rows[i].super; *p; p++) {
            bool place = p[0] == '%' && p[1] == 's';
            if (place)
                buf_puts(&super, here);
            else
                buf_putc(&super, *p);
            p += place;
        }
        assert_works(layers_read(super.data, &arena, &layers, &err), err);
        int rc = chain_find(&layers, point, &arena, &chain, &err);
        assert_int_equal(rc == 0, rows[i].top != NULL);
        if (rc < 0) {
            assert_int_equal(err.kind, ERR_UNSUPPORTED);
            continue;
        }
        _cleanup_free_ char *top = strf("%s/%s", here, rows[i].top);
        assert_string_equal(chain.paths[0], top);
        assert_int_equal(chain.count, rows[i].count);
        assert_int_equal(chain.own != NULL, rows[i].own);
        assert_int_equal(chain.base != NULL, rows[i].based);
        if (chain.base)
            assert_string_equal(chain.base, here);
    }
}

/* ---- decisions ---- */

static void test_what_pays(void **state)
{
    (void)state;
    assert_true(restack_pays(5, 2.0));
    assert_false(restack_pays(5, 1.99));
    assert_false(restack_pays(70, 1.0));
    assert_true(restack_pays(71, 1.0));
    assert_false(restack_pays(1, 2.0));
}

static void test_what_goes(void **state)
{
    enum { DAY = 86400 };
    struct restack_item items[] = {
        {.key = "mounted", .state = "ready", .bytes = 60, .used = 99 * DAY, .mounted = true},
        {.key = "fresh", .state = "ready", .bytes = 30, .used = 98 * DAY, .current = true},
        {.key = "large", .state = "ready", .bytes = 30, .used = 97 * DAY, .current = true},
        {.key = "small", .state = "skipped", .bytes = 10, .used = 96 * DAY, .current = true},
        {.key = "gone", .state = "ready", .bytes = 1, .used = 95 * DAY},
        {.key = "old", .state = "ready", .bytes = 0, .used = 50 * DAY, .current = true},
        {.key = "building", .state = "building", .used = 10 * DAY},
    };
    static const char *const unlimited[] = {
        NULL, NULL, NULL, NULL, "its layers are gone", "it was not used for long", NULL};
    static const char *const limited[] = {NULL,
                                          NULL,
                                          "there is no room for it",
                                          NULL,
                                          "its layers are gone",
                                          "it was not used for long",
                                          NULL};
    struct restack_list list = {items, sizeof(items) / sizeof(*items)};
    struct restack_limits limits = {.bytes = UINT64_MAX, .seconds = 30 * DAY, .now = 100 * DAY};

    (void)state;
    for (int pass = 0; pass < 2; pass++) {
        const char *const *expected = pass ? limited : unlimited;
        restack_list_judge(&list, &limits);
        for (size_t i = 0; i < list.count; i++)
            if (!items[i].leaves != !expected[i] ||
                (expected[i] && strcmp(items[i].leaves, expected[i]) != 0))
                fail_msg("%s: %s", items[i].key, items[i].leaves ? items[i].leaves : "stays");
        limits.bytes = 100;
    }
}

static void test_the_plan_only_wants_it(void **state)
{
    struct fixture *f = *state;

    f->depth = 33;
    plan_for(f, "\"rootfs\":{\"max_depth\":32,\"beyond\":\"restack\",\"cache\":\"/srv/r\"}", "{}");
    assert_int_equal(f->plan.count, 1);
    assert_true(f->plan.ops[0].restack);
    assert_int_equal(f->plan.ops[0].verdict, PLAN_KEPT);
    assert_string_equal(f->policy->rootfs.cache.text, "/srv/r");
    /* The mounted root is not in config.json. */
    f->decision.list[0].verdict = PLAN_ADDED;
    assert_false(decision_changes(&f->decision));
}

UNIT_SUITE(test_restack)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_keys, enter_tempdir, leave_tempdir),
        cmocka_unit_test(test_what_is_no_record),
        cmocka_unit_test_setup_teardown(test_engines, enter_tempdir, leave_tempdir),
        cmocka_unit_test(test_what_pays),
        cmocka_unit_test(test_what_goes),
        cmocka_unit_test_setup_teardown(test_the_plan_only_wants_it, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
