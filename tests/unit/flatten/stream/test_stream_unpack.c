/* The rule against decompression bombs. */
#include "flatten/stream/stream.h"
#include "tests/unit/lib/stream_unit.h"
#include "tests/unit/lib/unit.h"

static void test_ratio(void **state)
{
    struct unpack_budget b = {.ratio = 10}, usual = {0};
    struct err err = ERR_INIT;

    (void)state;
    assert_works(unpack_budget_spend(&b, UNPACK_FREE, &err), err);
    assert_works(unpack_budget_spend(&b, 9, &err), err);
    assert_fails(unpack_budget_spend(&b, 1 + 9, &err), err, ERR_LIMIT);
    assert_contains(err.msg, "0 bytes unpack to more than 10 times as much");
    assert_contains(err.msg, "--max-ratio=N");
    atomic_store(&b.in, 1000);
    assert_works(unpack_budget_spend(&b, 9000, &err), err);
    assert_fails(unpack_budget_spend(&b, 1000, &err), err, ERR_LIMIT);
    atomic_store(&usual.in, 1000);
    assert_works(unpack_budget_spend(&usual, UNPACK_FREE + 1000 * UNPACK_RATIO, &err), err);
    assert_fails(unpack_budget_spend(&usual, UNPACK_RATIO, &err), err, ERR_LIMIT);
}

/* Bytes that are peeked several times count once; both sides of the budget are right at the end. */
static void test_counts(void **state)
{
    static const char text[] = "not compressed";
    struct unpack_budget b = {0};
    struct err err = ERR_INIT;
    enum compression kind;
    const void *data;
    size_t len;
    char first[3];
    _cleanup_stream_ struct stream *s =
        stream_unpack(memory_stream(text, strlen(text), 5), &b, &kind, &err);

    (void)state;
    assert_non_null(s);
    assert_int_equal(kind, COMPRESSION_NONE);
    assert_works(stream_peek(s, &data, &len, &err), err);
    assert_works(stream_peek(s, &data, &len, &err), err);
    stream_advance(s, 1);
    assert_works(stream_read(s, first, sizeof(first), &len, &err), err);
    assert_works(stream_drain(s, &err), err);
    assert_int_equal(atomic_load(&b.in), strlen(text));
    assert_int_equal(atomic_load(&b.out), strlen(text));
}

UNIT_SUITE(test_stream_unpack)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ratio),
        cmocka_unit_test(test_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
