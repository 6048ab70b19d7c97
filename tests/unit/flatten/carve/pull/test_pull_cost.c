#include "flatten/carve/pull/pull_cost.h"
#include "tests/unit/lib/unit.h"

static const struct pull_rates rates = {.stream = 10, .unpack = 100};

static void test_one_layer_is_downloaded_then_unpacked(void **state)
{
    const struct pull_layer layer = {.packed = 100, .unpacked = 300};

    (void)state;
    assert_float_equal(pull_seconds(&layer, 1, 1, &rates), 13, 1e-9);
    assert_float_equal(pull_seconds(&layer, 1, 10, &rates), 13, 1e-9);
    assert_int_equal(pull_bytes(&layer, 1), 100);
}

static void test_streams_download_side_by_side(void **state)
{
    const struct pull_layer layers[] = {{100, 0}, {100, 0}, {100, 0}, {100, 0}};

    (void)state;
    assert_float_equal(pull_seconds(layers, 4, 1, &rates), 40, 1e-9);
    assert_float_equal(pull_seconds(layers, 4, 3, &rates), 20, 1e-9);
    assert_float_equal(pull_seconds(layers, 4, 10, &rates), 10, 1e-9);
    assert_int_equal(pull_bytes(layers, 4), 400);
}

/* The second layer is there first, and waits for the first one. */
static void test_layers_are_unpacked_in_order(void **state)
{
    const struct pull_layer layers[] = {{200, 100}, {10, 500}};

    (void)state;
    assert_float_equal(pull_seconds(layers, 2, 2, &rates), 26, 1e-9);
    assert_float_equal(pull_seconds(layers, 2, 1, &rates), 26, 1e-9);
}

/* Download and unpacking overlap: the slower of them decides. */
static void test_unpacking_may_be_the_limit(void **state)
{
    const struct pull_layer layers[] = {{10, 1000}, {10, 1000}, {10, 1000}};

    (void)state;
    assert_float_equal(pull_seconds(layers, 3, 1, &rates), 31, 1e-9);
    assert_float_equal(pull_seconds(layers, 3, 3, &rates), 31, 1e-9);
}

static void test_the_number_of_streams_is_bounded(void **state)
{
    const struct pull_layer layers[] = {{100, 0}, {100, 0}};

    (void)state;
    assert_float_equal(pull_seconds(layers, 2, 0, &rates), 20, 1e-9);
    assert_float_equal(pull_seconds(layers, 2, 1000, &rates), 10, 1e-9);
    assert_float_equal(pull_seconds(NULL, 0, 3, &rates), 0, 1e-9);
}

UNIT_SUITE(test_pull_cost)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_layer_is_downloaded_then_unpacked),
        cmocka_unit_test(test_streams_download_side_by_side),
        cmocka_unit_test(test_layers_are_unpacked_in_order),
        cmocka_unit_test(test_unpacking_may_be_the_limit),
        cmocka_unit_test(test_the_number_of_streams_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
