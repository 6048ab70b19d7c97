/* Messages of reader and keeper arrive unchanged, or are refused. */
#include "flatten/wire/wire.h"
#include "tests/unit/lib/unit.h"
#include "tests/unit/lib/wire_requests.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

static bool decodes(const struct buf *message)
{
    _cleanup_wire_request_ struct wire_request request;
    struct err err = ERR_INIT;

    if (wire_decode_request(message, &request, &err) == 0)
        return true;
    assert_int_equal(err.kind, ERR_FORMAT);
    return false;
}

/* Decoding and encoding again gives the same bytes. */
static void round_trip(const struct wire_request *sample)
{
    _cleanup_wire_request_ struct wire_request back;
    _cleanup_buf_ struct buf once = BUF_INIT, twice = BUF_INIT;
    struct err err = ERR_INIT;

    wire_encode_request(sample, &once);
    assert_works(wire_decode_request(&once, &back, &err), err);
    assert_int_equal(back.op, sample->op);
    wire_encode_request(&back, &twice);
    assert_int_equal(once.len, twice.len);
    assert_memory_equal(once.data, twice.data, once.len);
}

static void test_round_trips(void **state)
{
    (void)state;
    for (int op = 1; op <= WIRE_DONE; op++) {
        const struct wire_request sample = wire_sample((enum wire_op)op);
        round_trip(&sample);
    }
    const struct wire_request index = wire_sample_index();
    round_trip(&index);
}

static void test_what_is_decoded(void **state)
{
    _cleanup_buf_ struct buf message = BUF_INIT;
    _cleanup_wire_request_ struct wire_request r;
    struct err err = ERR_INIT;
    struct wire_request sample = wire_sample(WIRE_IMAGE);

    (void)state;
    wire_encode_request(&sample, &message);
    assert_works(wire_decode_request(&message, &r, &err), err);
    assert_string_equal(r.image.name, "name:tag");
    assert_true(r.image.inner && !r.image.is_index);
    assert_string_equal(r.image.config.data, "{}");
    assert_int_equal(r.image.manifest.len, 7);
    assert_string_equal(r.image.manifest.digest.text, WIRE_TWOS);
    assert_int_equal(r.image.layer_count, 2);
    assert_int_equal(r.image.layers[1].tar_size, 67890);
    assert_int_equal(r.image.layers[1].kind, COMPRESSION_ZSTD);
}

static void test_replies(void **state)
{
    const struct wire_reply sample = {.number = 3,
                                      .offset = 512,
                                      .size = 1 << 20,
                                      .regular = true,
                                      .root = {WIRE_ONES},
                                      .root_type = "type",
                                      .os = "linux",
                                      .data = "a\0b",
                                      .len = 3};
    const struct wire_reply no = {
        .failed = true, .number = 2, .err = {.kind = ERR_DIGEST, .msg = "it differs"}};
    _cleanup_buf_ struct buf a = BUF_INIT, b = BUF_INIT;
    struct err err = ERR_INIT;
    struct wire_reply r;

    (void)state;
    wire_encode_reply(&sample, &a);
    assert_works(wire_decode_reply(&a, &r, &err), err);
    assert_int_equal(r.offset, 512);
    assert_true(r.regular && !r.failed);
    assert_string_equal(r.root.text, WIRE_ONES);
    assert_string_equal(r.os, "linux");
    assert_null(r.name);
    assert_bytes(r.data, r.len, "a\0b");
    wire_encode_reply(&no, &b);
    assert_works(wire_decode_reply(&b, &r, &err), err);
    assert_true(r.failed);
    assert_int_equal(r.err.kind, ERR_DIGEST);
    assert_string_equal(r.err.msg, "it differs");
    assert_int_equal(r.number, 2);
}

/* A message that is cut or too long is refused; a changed byte does no harm. */
static void test_damaged(void **state)
{
    (void)state;
    for (int op = 1; op <= WIRE_DONE; op++) {
        const struct wire_request sample = wire_sample((enum wire_op)op);
        _cleanup_buf_ struct buf whole = BUF_INIT;

        wire_encode_request(&sample, &whole);
        for (size_t len = 0; len < whole.len; len++) {
            _cleanup_buf_ struct buf cut = BUF_INIT;
            buf_append(&cut, whole.data, len);
            assert_false(decodes(&cut));
        }
        for (size_t i = 0; i < whole.len; i++) {
            whole.data[i] ^= (char)0xff;
            (void)decodes(&whole);
            whole.data[i] ^= (char)0xff;
        }
        buf_putc(&whole, '\0');
        assert_false(decodes(&whole));
    }
}

/* Asserts that the request is refused after `change`. */
static void refused(enum wire_op op, void (*change)(struct wire_request *r))
{
    struct wire_request r = wire_sample(op);
    _cleanup_buf_ struct buf message = BUF_INIT;

    change(&r);
    wire_encode_request(&r, &message);
    assert_false(decodes(&message));
}

static void climb(struct wire_request *r)
{
    memcpy(r->layer.digest.text + 7, "../../../../etc/passwd", 22);
}

static void shout(struct wire_request *r)
{
    r->layer.digest.text[70] = 'A';
}

static void leave_digest(struct wire_request *r)
{
    r->image.config.digest = (struct digest){""};
}

static void go_beyond(struct wire_request *r)
{
    r->number = WIRE_MOST_SOURCES;
}

static void be_huge(struct wire_request *r)
{
    r->layer.size = UINT64_MAX;
}

static void break_line(struct wire_request *r)
{
    r->image.name = "name\nflatten: all is well";
}

static void be_latin(struct wire_request *r)
{
    r->image.name = "caf\xe9:1";
}

static void mix_roles(struct wire_request *r)
{
    r->blobs[0].role = BLOB_MANIFEST; /* two of them at once */
}

static void ask_for_none(struct wire_request *r)
{
    r->blob_count = 0;
}

static void deny(struct wire_request *r)
{
    r->err.kind = ERR_NONE;
}

static void succeed_more(struct wire_request *r)
{
    r->status = WIRE_MOST_STATUS + 1;
}

static void test_refused(void **state)
{
    (void)state;
    refused(WIRE_END, climb);
    refused(WIRE_HAS, shout);
    refused(WIRE_IMAGE, leave_digest);
    refused(WIRE_SOURCE, go_beyond);
    refused(WIRE_END, be_huge);
    refused(WIRE_IMAGE, break_line);
    refused(WIRE_IMAGE, be_latin);
    refused(WIRE_BLOBS, mix_roles);
    refused(WIRE_BLOBS, ask_for_none);
    refused(WIRE_DONE, deny);
    refused(WIRE_DONE, succeed_more);
}

/* ---- the socket ---- */

static void pair_of(int pair[2])
{
    struct err err = ERR_INIT;

    assert_works(wire_pair(pair, &err), err);
}

static void test_descriptors(void **state)
{
    _cleanup_buf_ struct buf message = BUF_INIT, back = BUF_INIT, again = BUF_INIT;
    struct err err = ERR_INIT;
    int pair[2], fd = 7;

    (void)state;
    pair_of(pair);
    buf_puts(&message, "with one");
    assert_works(wire_send(pair[0], &message, STDERR_FILENO, &err), err);
    assert_works(wire_send(pair[0], &message, -1, &err), err);
    assert_int_equal(wire_receive(pair[1], &back, &fd, &err), 1);
    assert_bytes(back.data, back.len, "with one");
    assert_true(fd > STDERR_FILENO);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    close(fd);
    assert_int_equal(wire_receive(pair[1], &again, &fd, &err), 1);
    assert_int_equal(fd, -1);
    close(pair[0]);
    assert_int_equal(wire_receive(pair[1], &again, &fd, &err), 0);
    close(pair[1]);
}

/* A side that accepts no descriptor refuses one. */
static void test_unwanted_descriptors(void **state)
{
    _cleanup_buf_ struct buf message = BUF_INIT, back = BUF_INIT;
    struct err err = ERR_INIT;
    int pair[2];

    (void)state;
    pair_of(pair);
    int before = dup(pair[0]);
    buf_puts(&message, "take this");
    assert_works(wire_send(pair[0], &message, STDERR_FILENO, &err), err);
    assert_fails(wire_receive(pair[1], &back, NULL, &err), err, ERR_FORMAT);
    close(before);
    int after = dup(pair[0]);
    assert_int_equal(after, before);
    close(after);
    close(pair[0]);
    close(pair[1]);
}

static void test_lengths(void **state)
{
    const uint32_t lie = WIRE_MOST_MESSAGE + 1, cut = 100;
    _cleanup_buf_ struct buf back = BUF_INIT;
    struct err err = ERR_INIT;
    int pair[2];

    (void)state;
    pair_of(pair);
    assert_int_equal(write(pair[0], &lie, sizeof(lie)), sizeof(lie));
    assert_fails(wire_receive(pair[1], &back, NULL, &err), err, ERR_LIMIT);
    assert_int_equal(write(pair[0], &cut, sizeof(cut)), sizeof(cut));
    assert_int_equal(write(pair[0], "short", 5), 5);
    close(pair[0]);
    assert_int_equal(wire_receive(pair[1], &back, NULL, &err), 0);
    close(pair[1]);
}

UNIT_SUITE(test_wire)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_what_is_decoded),
        cmocka_unit_test(test_replies),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_unwanted_descriptors),
        cmocka_unit_test(test_lengths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
