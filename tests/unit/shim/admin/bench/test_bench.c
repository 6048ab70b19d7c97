#include "tests/unit/lib/shim_unit.h"

#include "shim/admin/bench/bench.h"

#include <math.h>

static void set(struct bench_result *r, enum bench_op op, enum bench_state state, double one,
                double k)
{
    r->seconds[op][state][BENCH_BIND] = one / 2;
    for (int shape = BENCH_FLAT; shape < BENCH_SHAPES; shape++)
        r->seconds[op][state][shape] = one * (1 + k * (bench_layers[shape] - 1));
}

static struct bench_result sample(void)
{
    struct bench_result r = {.dir = "/x\n\"y", .filesystem = "ext4", .kernel = "6.1", .runs = 3};

    r.bytes = 64 << 20;
    r.copy_up = 0.1;
    r.bind_write = 1e-5;
    for (int op = 0; op < BENCH_OPS; op++) {
        set(&r, op, BENCH_WARM, 1e-6, 0);
        set(&r, op, BENCH_MOUNT, 5e-6, 0.1 * (op + 1));
    }
    return r;
}

static void test_median(void **state)
{
    double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2};

    (void)state;
    assert_true(bench_median(odd, 3) == 2);
    assert_true(bench_median(even, 4) == 2.5);
    assert_true(bench_median(odd, 0) == 0);
}

static void test_k(void **state)
{
    struct bench_result r = sample();
    double *t = r.seconds[BENCH_STAT][BENCH_MOUNT];

    (void)state;
    assert_true(fabs(bench_k(&r, BENCH_READDIR, BENCH_MOUNT) - 0.3) < 1e-12);
    assert_true(bench_k(&r, BENCH_STAT, BENCH_DISK) == -1);
    assert_true(bench_k(&r, BENCH_STAT, BENCH_WARM) == 0);
    /* A tenth off at 60 layers is as bad as a tenth off at 5. */
    t[BENCH_5] *= 1.1;
    double low = bench_k(&r, BENCH_STAT, BENCH_MOUNT);
    t[BENCH_5] /= 1.1;
    t[BENCH_60] *= 1.1;
    double high = bench_k(&r, BENCH_STAT, BENCH_MOUNT);
    assert_true(low > 0.1 && low < 0.111 && high > low && high < 0.112);
    /* k is not negative, even if noise makes more layers faster. */
    for (int shape = BENCH_5; shape < BENCH_SHAPES; shape++)
        t[shape] = t[BENCH_FLAT] * 0.9;
    assert_true(bench_k(&r, BENCH_STAT, BENCH_MOUNT) == 0);
}

static void test_json(void **state)
{
    struct bench_result r = sample();
    _cleanup_buf_ struct buf out = BUF_INIT;

    (void)state;
    bench_put_json(&r, &out);
    _cleanup_json_ struct json_doc *doc = shim_document(out.data);
    const struct json *root = json_root(doc);
    assert_string_equal(json_text(json_get(root, "dir")), r.dir);
    assert_string_equal(json_text(json_get(root, "measured")), "1970-01-01T00:00:00Z");
    assert_string_equal(json_path(root, "k", "missing", "mount", NULL)->text, "0.2000");
    assert_null(json_path(root, "k", "missing", "disk", NULL));
    assert_int_equal(json_count(json_get(root, "lookups")), 6);
}

static void test_text(void **state)
{
    struct bench_result r = sample();
    _cleanup_buf_ struct buf plain = BUF_INIT, coloured = BUF_INIT;

    (void)state;
    bench_put_text(&r, false, &plain);
    bench_put_text(&r, true, &coloured);
    assert_null(strchr(plain.data, '\x1b'));
    assert_non_null(strstr(plain.data, "64 MiB: 100.00 ms on overlay (671 MB/s: it is copied)"));
    assert_non_null(strstr(plain.data, "--drop-caches measures"));
    /* 60 layers at k 0.2 are 12.8 times one */
    assert_non_null(strstr(coloured.data, "\x1b[31m    64.00\x1b[0m"));
}

UNIT_SUITE(test_bench)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median),
        cmocka_unit_test(test_k),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
