/* GPUs of the host, from the driver's files in /proc. */
#include "tests/unit/lib/unit.h"

#include "shim/gpu/gpu_host.h"

static void test_majors(void **state)
{
    struct gpu_host host = GPU_HOST_INIT;

    (void)state;
    gpu_host_parse_majors("Character devices:\n  1 mem\n195 nvidia-frontend\n234 nvidia-caps-imex\n"
                          "237 nvidia-caps\n510 nvidia-uvm\n\nBlock devices:\n  8 sd\n",
                          &host);
    assert_int_equal(host.uvm, 510);
    assert_int_equal(host.caps, 237);
    gpu_host_parse_majors("Character devices:\n  1 mem\n\nBlock devices:\n510 nvidia-uvm\n", &host);
    assert_int_equal(host.uvm, -1);
    assert_int_equal(host.caps, -1);
    gpu_host_parse_majors("", &host);
    assert_int_equal(host.uvm, -1);
}

static void test_owned_nodes(void **state)
{
    const struct gpu_host host = {.uvm = 510, .caps = -1}, none = GPU_HOST_INIT;

    (void)state;
    assert_true(gpu_host_owns(&host, false, 195));
    assert_true(gpu_host_owns(&host, false, 510));
    assert_false(gpu_host_owns(&host, true, 195));
    assert_false(gpu_host_owns(&host, false, 237));
    assert_false(gpu_host_owns(&none, false, -1));
}

static void test_cards(void **state)
{
    _cleanup_arena_ struct arena arena = {0};
    struct gpu_card card = {0};

    (void)state;
    assert_true(gpu_host_parse_card("Model: \t\t NVIDIA H200\nIRQ:   \t\t 90\n"
                                    "GPU UUID: \t GPU-12ab\nDevice Minor: \t 3\n",
                                    &arena, &card));
    assert_int_equal(card.minor, 3);
    assert_string_equal(card.uuid, "GPU-12ab");
    assert_true(gpu_host_parse_card("GPU UUID: \t GPU-????\nDevice Minor: 0", &arena, &card));
    assert_string_equal(card.uuid, "");
    assert_false(gpu_host_parse_card("GPU UUID: \t GPU-12ab\n", &arena, &card));
    assert_false(gpu_host_parse_card("Device Minor: 254\n", &arena, &card));
    assert_false(gpu_host_parse_card("Device Minor: -1\n", &arena, &card));
}

static void test_indexes_and_uuids(void **state)
{
    struct gpu_card cards[] = {{1, "GPU-aa11", "0000:01:00.0"}, {0, "GPU-aa22", "0000:02:00.0"}};
    const struct gpu_host host = {.uvm = -1, .caps = -1, .cards = cards, .card_count = 2};
    const struct gpu_host unloaded = GPU_HOST_INIT;

    (void)state;
    assert_int_equal(gpu_host_index(&host, 1), 0);
    assert_int_equal(gpu_host_index(&host, 0), 1);
    assert_int_equal(gpu_host_index(&host, 2), -1);
    assert_int_equal(gpu_host_index(&unloaded, 2), 2);
    assert_ptr_equal(gpu_host_by_uuid(&host, "gpu-AA2"), &cards[1]);
    assert_null(gpu_host_by_uuid(&host, "GPU-aa"));
    assert_null(gpu_host_by_uuid(&host, "GPU-bb"));
}

UNIT_SUITE(test_gpu_host)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_majors),
        cmocka_unit_test(test_owned_nodes),
        cmocka_unit_test(test_cards),
        cmocka_unit_test(test_indexes_and_uuids),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
