/* Names of GPUs. */
#include "tests/unit/lib/unit.h"

#include "shim/gpu/gpu_name.h"

static void test_kinds(void **state)
{
    static const struct {
        const char *text;
        enum gpu_name_kind kind;
        unsigned index;
    } names[] = {
        {"void", GPU_NAME_NOTHING, 0},
        {"none", GPU_NAME_NONE, 0},
        {"all", GPU_NAME_ALL, 0},
        {"ALL", GPU_NAME_ALL, 0},
        {"nvidia.com/gpu=all", GPU_NAME_ALL, 0},
        {"0", GPU_NAME_INDEX, 0},
        {"nvidia.com/gpu=12", GPU_NAME_INDEX, 12},
        {"1:0", GPU_NAME_SLICE, 1},
        {"GPU-8f", GPU_NAME_UUID, 0},
        {"MIG-8f-00", GPU_NAME_MIG, 0},
        {"MIG-GPU-8f/1/0", GPU_NAME_MIG, 0},
        {"", GPU_NAME_UNKNOWN, 0},
        {"Void", GPU_NAME_UNKNOWN, 0},
        {"NONE", GPU_NAME_UNKNOWN, 0},
        {"nvidia.com/gpu=void", GPU_NAME_UNKNOWN, 0},
        {"nvidia.com/gpu=", GPU_NAME_UNKNOWN, 0},
        {"nvidia.com/gpu=nvidia.com/gpu=0", GPU_NAME_UNKNOWN, 0},
        {"vendor.com/gpu=0", GPU_NAME_UNKNOWN, 0},
        {"010", GPU_NAME_UNKNOWN, 0},
        {"+1", GPU_NAME_UNKNOWN, 0},
        {"0-1", GPU_NAME_UNKNOWN, 0},
        {"1:", GPU_NAME_UNKNOWN, 0},
        {"1:0:0", GPU_NAME_UNKNOWN, 0},
        {"0000:01:00.0", GPU_NAME_UNKNOWN, 0},
        {"4294967296", GPU_NAME_UNKNOWN, 0},
        {"GPU-", GPU_NAME_UNKNOWN, 0},
        {"GPU-*", GPU_NAME_UNKNOWN, 0},
    };
    _cleanup_arena_ struct arena arena = {0};
    struct gpu_name name;

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        assert_true(gpu_name_parse(names[i].text, strlen(names[i].text), &arena, &name));
        if (name.kind != names[i].kind)
            fail_msg("%s: kind %d", names[i].text, (int)name.kind);
        if (name.kind >= GPU_NAME_INDEX)
            assert_int_equal(name.index, names[i].index);
    }
    assert_true(gpu_name_parse("0\0001", 3, &arena, &name));
    assert_int_equal(name.kind, GPU_NAME_UNKNOWN);
}

static void test_ranges(void **state)
{
    unsigned first, last;

    (void)state;
    assert_true(gpu_name_range("0-3", &first, &last));
    assert_int_equal(first, 0);
    assert_int_equal(last, 3);
    assert_true(gpu_name_range("7", &first, &last));
    assert_int_equal(last, 7);
    assert_false(gpu_name_range("3-1", &first, &last));
    assert_false(gpu_name_range("0-", &first, &last));
    assert_false(gpu_name_range("", &first, &last));
    assert_false(gpu_name_range("00", &first, &last));
    assert_false(gpu_name_range("1:0", &first, &last));
}

UNIT_SUITE(test_gpu_name)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_ranges),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
