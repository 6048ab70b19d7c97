#include "tests/unit/lib/stream_unit.h"

static void check_round_trip(const struct compress_options *options, const struct buf *data,
                             size_t step)
{
    _cleanup_buf_ struct buf packed = BUF_INIT, out = BUF_INIT;
    struct err err = ERR_INIT;
    enum compression kind;

    compress_to(&packed, options, data->data, data->len, step);
    struct stream *s =
        stream_decompress(memory_stream(packed.data, packed.len, 1 << 20), &kind, &err);
    assert_non_null(s);
    assert_int_equal(kind, options->kind);
    assert_works(read_stream(s, 1 << 20, &out, &err), err);
    assert_int_equal(out.len, data->len);
    assert_true(data->len == 0 || memcmp(out.data, data->data, data->len) == 0);
}

static void check_levels(const struct buf *data, size_t step)
{
    struct compress_options options = {.kind = COMPRESSION_GZIP};

    for (options.level = 0; options.level <= 3; options.level++)
        check_round_trip(&options, data, step);
    options = (struct compress_options){.kind = COMPRESSION_ZSTD, .threads = 1};
    for (options.level = 1; options.level <= 19; options.level++)
        check_round_trip(&options, data, step);
    options.in_caller = true;
    for (options.level = 1; options.level <= 19; options.level++)
        check_round_trip(&options, data, step);
    options.kind = COMPRESSION_NONE;
    check_round_trip(&options, data, step);
}

static void test_every_level_byte_by_byte(void **state)
{
    _cleanup_buf_ struct buf data = BUF_INIT;

    (void)state;
    fill_mixed(&data, 3000);
    check_levels(&data, 1);
}

static void test_every_level_in_pieces(void **state)
{
    _cleanup_buf_ struct buf data = BUF_INIT;

    (void)state;
    fill_mixed(&data, 700 * 1000);
    check_levels(&data, 64 * 1024 + 1);
}

static void test_nothing(void **state)
{
    _cleanup_buf_ struct buf data = BUF_INIT;

    (void)state;
    buf_append(&data, "", 0);
    check_levels(&data, 1);
}

/* The output is the same for every number of threads and every division of the input. */
static void check_zstd_on_threads(bool in_caller)
{
    _cleanup_buf_ struct buf data = BUF_INIT, first = BUF_INIT;
    struct compress_options options = {
        .kind = COMPRESSION_ZSTD, .level = 3, .in_caller = in_caller};

    fill_mixed(&data, 12 * 1000 * 1000); /* several jobs at this level */
    for (options.threads = 0; options.threads <= 4; options.threads++) {
        _cleanup_buf_ struct buf packed = BUF_INIT;
        compress_to(options.threads ? &packed : &first, &options, data.data, data.len,
                    100000 + options.threads * 77777);
        if (options.threads) {
            assert_int_equal(packed.len, first.len);
            assert_memory_equal(packed.data, first.data, first.len);
        }
    }
}

static void test_zstd_does_not_depend_on_threads(void **state)
{
    (void)state;
    check_zstd_on_threads(false);
    check_zstd_on_threads(true);
}

static void test_gzip_is_the_same_each_time(void **state)
{
    _cleanup_buf_ struct buf data = BUF_INIT, a = BUF_INIT, b = BUF_INIT;
    const struct compress_options options = {.kind = COMPRESSION_GZIP, .level = 1};

    (void)state;
    fill_mixed(&data, 700 * 1000);
    compress_to(&a, &options, data.data, data.len, 100000);
    compress_to(&b, &options, data.data, data.len, 100000);
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.data, b.data, a.len);
    assert_memory_equal(a.data, "\x1f\x8b\x08\0\0\0\0\0", 8); /* no time, no name */
}

static int refuse(void *ctx, const void *data, size_t len, struct err *err)
{
    (void)ctx, (void)data, (void)len;
    return err_set(err, ERR_SYSTEM, "the disk is full");
}

static void test_sink_failure_is_passed_on(void **state)
{
    static const enum compression kinds[] = {COMPRESSION_NONE, COMPRESSION_GZIP, COMPRESSION_ZSTD};
    _cleanup_buf_ struct buf data = BUF_INIT;

    (void)state;
    fill_mixed(&data, 2 * 1000 * 1000);
    for (size_t i = 0; i < 3; i++) {
        const struct compress_options options = {.kind = kinds[i], .level = 1, .threads = 1};
        struct err err = ERR_INIT;
        _cleanup_compressor_ struct compressor *c = compressor_new(&options, refuse, NULL, &err);
        assert_non_null(c);
        int rc = compressor_write(c, data.data, data.len, &err);
        if (rc == 0)
            rc = compressor_finish(c, &err);
        assert_fails(rc, err, ERR_SYSTEM);
        assert_string_equal(err.msg, "the disk is full");
    }
}

static void test_parse(void **state)
{
    static const struct {
        const char *text;
        enum compression kind;
        int level;
    } good[] = {
        {"zstd", COMPRESSION_ZSTD, 3},     {"zstd:1", COMPRESSION_ZSTD, 1},
        {"zstd:19", COMPRESSION_ZSTD, 19}, {"gzip", COMPRESSION_GZIP, 1},
        {"gzip:0", COMPRESSION_GZIP, 0},   {"gzip:3", COMPRESSION_GZIP, 3},
    };
    struct compress_options o;
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        assert_works(compress_parse(good[i].text, &o, &err), err);
        assert_int_equal(o.kind, good[i].kind);
        assert_int_equal(o.level, good[i].level);
    }
    assert_works(compress_parse("none", &o, &err), err);
    assert_int_equal(o.kind, COMPRESSION_NONE);
}

static void test_parse_refuses(void **state)
{
    static const char *const bad[] = {
        "",
        "zst",
        "zstd:",
        "zstd:0",
        "zstd:20",
        "zstd:3x",
        "zstd:-1",
        "gzip:4",
        "gzip:",
        "gzip:9",
        "none:1",
        "xz",
        "ZSTD",
        "zstd:1:2",
        "zstd: 3",
        "zstd:+3",
        "zstd:1e1",
        "none ",
        "zstd:99999999999999999999",
    };
    struct compress_options o;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct err err = ERR_INIT;
        if (compress_parse(bad[i], &o, &err) != -1)
            fail_msg("'%s' is taken", bad[i]);
        assert_int_equal(err.kind, ERR_USAGE);
    }
}

UNIT_SUITE(test_compress)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_level_byte_by_byte),
        cmocka_unit_test(test_every_level_in_pieces),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_zstd_does_not_depend_on_threads),
        cmocka_unit_test(test_gzip_is_the_same_each_time),
        cmocka_unit_test(test_sink_failure_is_passed_on),
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_parse_refuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
