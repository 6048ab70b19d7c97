#include "flatten/analyze/analysis.h"
#include "tests/unit/lib/tar_image.h"
#include "tests/unit/lib/unit.h"

static void analyse(const char *layers, struct analysis *out)
{
    static struct stack stack;
    struct err err = ERR_INIT;

    stack_parse(&stack, layers);
    struct image *image = image_of_stack(&stack);
    image->config = json_new_object(&err);
    assert_works(analysis_make(image, layers, &lookup_default_costs, out, &err), err);
}

/* Sums of probes, as means are awkward: existing over all paths, depth over all directories. */
static void test_counts(void **state)
{
    static const struct {
        const char *layers;
        unsigned paths, existing, directories, depth;
    } rows[] = {
        {"a", 1, 1, 1, 1},
        {"a | b | c", 3, 6, 1, 3},                   /* c in 1, b in 2, a in 3 */
        {"d/ d/a | d/ d/b", 3, 2 + 1 + 2, 2, 4},     /* d itself: both */
        {"d/ d/a | e/ e/b", 4, 2 + 2 + 1 + 1, 3, 4}, /* d and e have one layer each */
        {"d/ d/a | d/ *d d/b", 2, 1 + 1, 2, 3},      /* opaque: nothing below counts */
        {"d/ d/a | -d | d/ d/b", 2, 2 + 1, 2, 4},    /* the search stops at the whiteout */
        {"d | d/ d/b", 2, 2 + 1, 2, 3},              /* and at the file */
        {"d/ d/a | d/ d/b | d/ -d/a", 2, 3 + 2, 2, 6},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct analysis a;
        analyse(rows[i].layers, &a);
        const struct lookup_report *l = &a.lookups;
        unsigned existing = (unsigned)(l->existing.mean * (double)l->paths + 0.5);
        unsigned depth = (unsigned)(l->depth.mean * (double)l->directories + 0.5);
        if (l->paths != rows[i].paths || existing != rows[i].existing ||
            l->directories != rows[i].directories || depth != rows[i].depth)
            fail_msg("%s: %u paths, %u probes, %u directories, %u layers", rows[i].layers,
                     (unsigned)l->paths, existing, (unsigned)l->directories, depth);
        assert_true(a.flat.existing.mean == 1 && a.flat.depth.most == 1);
        analysis_clear(&a);
    }
}

/* With the layers above `kept` merged into one. */
static void test_kept(void **state)
{
    struct lookup_report l;
    struct err err = ERR_INIT;
    struct analysis a;

    (void)state;
    analyse("d/ d/a | d/ d/b | d/ d/c | d/ d/e", &a);
    assert_works(lookups_count(&a.stack, 1, &l, &err), err);
    assert_int_equal(l.depth.most, 2);
    assert_true(l.existing.mean > 1.39 && l.existing.mean < 1.41); /* d and a: 2, the rest 1 */
    lookup_report_clear(&l);
    analysis_clear(&a);
}

static void test_worst(void **state)
{
    struct analysis a;
    struct buf path = BUF_INIT;

    (void)state;
    analyse("d/ d/a d/b d/c e/ e/a | e/ | d/ | e/", &a);
    assert_string_equal(layer_stack_path(&a.stack, a.lookups.worst[0].node, &path),
                        ""); /* 2 in 4 */
    assert_string_equal(layer_stack_path(&a.stack, a.lookups.worst[1].node, &path), "d");
    assert_int_equal(a.lookups.worst[1].layers, 2);
    assert_int_equal(a.lookups.worst[1].entries, 3);
    assert_string_equal(layer_stack_path(&a.stack, a.lookups.worst[2].node, &path), "e");
    buf_free(&path);
    analysis_clear(&a);
}

/* The standard library and site-packages: an import searches the first, then the second. */
static void test_import(void **state)
{
    struct analysis a;

    (void)state;
    analyse("lib/python3.11/os.py lib/python3.11/x lib/python3.11/site-packages/m/__init__.py | "
            "lib/python3.11/site-packages/n.py lib/python3.11/site-packages/data/x | "
            "lib/python3.11/y",
            &a);
    const struct lookup_import *i = &a.lookups.import, *flat = &a.flat.import;
    assert_int_equal(i->site_count, 2);
    assert_int_equal(i->modules, 3);
    assert_int_equal(i->sites[0].layers, 3);
    assert_int_equal(i->sites[1].layers, 2);
    assert_int_equal(i->absent, 2);
    assert_int_equal(i->absent_probes, 6);
    assert_int_equal(i->found, 4); /* os.py, m, m/__init__.py, n.py */
    assert_int_equal(i->found_probes, 3 + 2 + 1 + 1);
    assert_int_equal(flat->found_probes, 4);
    assert_int_equal(flat->absent_probes, 2);
    analysis_clear(&a);
}

UNIT_SUITE(test_lookups)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_worst),
        cmocka_unit_test(test_import),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
