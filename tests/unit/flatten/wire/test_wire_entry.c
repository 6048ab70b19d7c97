/* The messages of a walk arrive unchanged, or are refused. */
#include "flatten/wire/wire_entry.h"
#include "tests/unit/lib/unit.h"

#include <string.h>

static void encode_sample(struct buf *out)
{
    _cleanup_buf_ struct buf xattrs = BUF_INIT;

    wire_put_xattr(&xattrs, "user.a", "\0\xff", 2);
    wire_put_xattr(&xattrs, "user.empty", "", 0);
    const struct wire_entry e = {.mode = 0120777,
                                 .uid = 3000000,
                                 .gid = UINT32_MAX - 1,
                                 .mtime_nsec = 999999999,
                                 .mtime = -7,
                                 .size = INT64_MAX,
                                 .rdev = UINT64_MAX,
                                 .path = "d/\xff",
                                 .target = "",
                                 .origin = "d/first",
                                 .xattrs = xattrs.data,
                                 .xattrs_size = xattrs.len};
    wire_encode_entry(&e, out);
}

static void test_entry(void **state)
{
    _cleanup_buf_ struct buf message = BUF_INIT;
    struct err err = ERR_INIT;
    struct wire_entry e;
    const char *name;
    const void *value;
    size_t size;

    (void)state;
    encode_sample(&message);
    assert_int_equal(wire_decode_entry(&message, &e, &err), 1);
    assert_int_equal(e.mode, 0120777);
    assert_int_equal(e.uid, 3000000);
    assert_int_equal(e.gid, UINT32_MAX - 1);
    assert_int_equal(e.mtime, -7);
    assert_int_equal(e.mtime_nsec, 999999999);
    assert_int_equal(e.size, INT64_MAX);
    assert_true(e.rdev == UINT64_MAX);
    assert_string_equal(e.path, "d/\xff");
    assert_string_equal(e.target, "");
    assert_string_equal(e.origin, "d/first");
    assert_int_equal(wire_xattr_next(&e, &name, &value, &size, &err), 1);
    assert_string_equal(name, "user.a");
    assert_bytes(value, size, "\0\xff");
    assert_int_equal(wire_xattr_next(&e, &name, &value, &size, &err), 1);
    assert_string_equal(name, "user.empty");
    assert_int_equal(size, 0);
    assert_int_equal(wire_xattr_next(&e, &name, &value, &size, &err), 0);
}

static void test_end(void **state)
{
    const struct err failure = {.kind = ERR_SYSTEM, .sys = 5, .msg = "/a: Input/output error"};
    _cleanup_buf_ struct buf end = BUF_INIT, failed = BUF_INIT;
    struct err err = ERR_INIT;
    struct wire_entry e;

    (void)state;
    wire_encode_end(NULL, &end);
    assert_int_equal(wire_decode_entry(&end, &e, &err), 0);
    wire_encode_end(&failure, &failed);
    assert_int_equal(wire_decode_entry(&failed, &e, &err), -1);
    assert_int_equal(err.kind, ERR_SYSTEM);
    assert_int_equal(err.sys, 5);
    assert_string_equal(err.msg, failure.msg);
}

/* A message that is cut or changed is refused, or its texts and attributes lie within it. */
static void look_at(const struct buf *message)
{
    struct err err = ERR_INIT;
    struct wire_entry e;
    const char *name, *end = message->data + message->len;
    const void *value;
    size_t size;

    if (wire_decode_entry(message, &e, &err) <= 0)
        return;
    assert_true(e.path + strlen(e.path) < end);
    while (wire_xattr_next(&e, &name, &value, &size, &err) > 0)
        assert_true(name + strlen(name) < end && (const char *)value + size <= end);
}

static void test_request(void **state)
{
    _cleanup_buf_ struct buf request = BUF_INIT, empty = BUF_INIT;
    struct err err = ERR_INIT;
    uint32_t layer = 0;

    (void)state;
    wire_encode_walk(127, &request);
    assert_works(wire_decode_walk(&request, &layer, &err), err);
    assert_int_equal(layer, 127);
    assert_int_equal(wire_decode_walk(&empty, &layer, &err), -1);
    buf_putc(&request, 'x');
    assert_int_equal(wire_decode_walk(&request, &layer, &err), -1);
    assert_int_equal(err.kind, ERR_FORMAT);
}

static void test_damaged(void **state)
{
    _cleanup_buf_ struct buf whole = BUF_INIT;

    (void)state;
    encode_sample(&whole);
    for (size_t len = 0; len < whole.len; len++) {
        _cleanup_buf_ struct buf cut = BUF_INIT;
        buf_append(&cut, whole.data, len);
        look_at(&cut);
    }
    for (size_t i = 0; i < whole.len; i++) {
        whole.data[i] ^= (char)0xff;
        look_at(&whole);
        whole.data[i] ^= (char)0xff;
    }
}

UNIT_SUITE(test_wire_entry)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entry),
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_request),
        cmocka_unit_test(test_damaged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
