#include "tests/unit/lib/lineage.h"
#include "tests/unit/lib/unit.h"

static void run_lineage(uint64_t seed, size_t old_layers)
{
    struct model_source source = {.seed = seed * 0x9e3779b97f4a7c15u | 1};
    struct lineage l;

    assert_true(lineage_begin(&l, &source));
    l.options.layout.layers = model_pick(&source, 3) ? 3 + model_pick(&source, 20) : 0;
    l.options.layout.cap = 512u << model_pick(&source, 10);
    l.options.max_dead = model_pick(&source, 11) / 20.0;
    l.options.max_probes = 1 + model_pick(&source, 16) / 8.0;
    lineage_change(&l, model_pick(&source, 120));
    lineage_old_layers(&l, old_layers);
    for (int version = 0; version < 10; version++) {
        if (!lineage_step(&l))
            fail_msg("seed %u, version %d, lineage.h %s", (unsigned)seed, version, l.fault);
        lineage_change(&l, 1 + model_pick(&source, 16));
    }
    lineage_end(&l);
}

static void test_lineages(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++)
        run_lineage(seed, 0);
}

/* The first version follows layers that nobody carved, with whiteouts and opaque directories. */
static void test_foreign_layers(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++)
        run_lineage(seed + 1000, seed % 9);
}

UNIT_SUITE(test_layout_like)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lineages),
        cmocka_unit_test(test_foreign_layers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
