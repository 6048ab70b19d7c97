#include "flatten/stream/relay.h"

#include "tests/unit/lib/unit.h"

#include "base/buf.h"

#include <string.h>

enum { BLOCK = 7, TOTAL = 100 };

/* A consumer in a thread: takes all blocks, or gives up after some. */
struct eater {
    struct relay *relay;
    unsigned number, give_up_after;
    struct buf got;
    struct err err;
    int rc;
};

static void eat(void *ctx)
{
    struct eater *e = ctx;
    const void *data;
    size_t len;
    unsigned blocks = 0;

    while ((e->rc = relay_take(e->relay, e->number, &data, &len, &e->err)) > 0) {
        buf_append(&e->got, data, len);
        relay_release(e->relay, e->number);
        if (e->give_up_after && ++blocks == e->give_up_after) {
            err_set(&e->err, ERR_LIMIT, "full");
            relay_stop(e->relay, &e->err);
            return;
        }
    }
}

static void start(struct relay *r, struct eater eaters[2], struct worker *workers[2])
{
    struct err err = ERR_INIT;

    for (unsigned i = 0; i < 2; i++) {
        eaters[i].relay = r;
        eaters[i].number = i;
        workers[i] = worker_start(eat, &eaters[i], &err);
        assert_non_null(workers[i]);
    }
}

static void finish(struct eater eaters[2], struct worker *workers[2])
{
    for (unsigned i = 0; i < 2; i++)
        worker_join(workers[i]);
    for (unsigned i = 0; i < 2; i++)
        buf_free(&eaters[i].got);
}

/* Every division of the input, with and without a whole last block. */
static void test_everybody_gets_everything(void **state)
{
    (void)state;
    for (size_t total = 0; total <= TOTAL; total++) {
        for (size_t step = 1; step <= 20; step += 3) {
            struct err err = ERR_INIT;
            _cleanup_hub_ struct hub *hub = hub_new(&err);
            _cleanup_relay_ struct relay *r = relay_new(hub, 2, 3, BLOCK, &err);
            struct eater eaters[2] = {0};
            struct worker *workers[2];
            char text[TOTAL];
            for (size_t i = 0; i < total; i++)
                text[i] = (char)('a' + i % 26);
            start(r, eaters, workers);
            for (size_t at = 0; at < total; at += step)
                assert_works(relay_write(r, text + at, total - at < step ? total - at : step, &err),
                             err);
            relay_end(r, NULL);
            for (unsigned i = 0; i < 2; i++)
                worker_join(workers[i]);
            for (unsigned i = 0; i < 2; i++) {
                assert_int_equal(eaters[i].rc, 0);
                assert_int_equal(eaters[i].got.len, total);
                assert_true(total == 0 || memcmp(eaters[i].got.data, text, total) == 0);
                buf_free(&eaters[i].got);
            }
        }
    }
}

/* All blocks but the last are full. */
static void test_blocks(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_hub_ struct hub *hub = hub_new(&err);
    _cleanup_relay_ struct relay *r = relay_new(hub, 1, 3, BLOCK, &err);
    const void *data;
    size_t len;

    (void)state;
    assert_works(relay_write(r, "12345", 5, &err), err);
    assert_works(relay_write(r, NULL, 4, &err), err);
    relay_end(r, NULL);
    assert_int_equal(relay_take(r, 0, &data, &len, &err), 1);
    assert_int_equal(len, 7);
    assert_memory_equal(data, "12345\0\0", 7);
    relay_release(r, 0);
    assert_int_equal(relay_take(r, 0, &data, &len, &err), 1);
    assert_int_equal(len, 2);
    relay_release(r, 0);
    assert_int_equal(relay_take(r, 0, &data, &len, &err), 0);
    assert_int_equal(relay_take(r, 0, &data, &len, &err), 0);
}

/* Bytes written in place: a block is delivered when it is full, and does not move. */
static void test_reserved_blocks(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_hub_ struct hub *hub = hub_new(&err);
    _cleanup_relay_ struct relay *r = relay_new(hub, 1, 3, BLOCK, &err);
    const void *data;
    size_t len, room;
    void *to;

    (void)state;
    assert_works(relay_write(r, "12", 2, &err), err);
    assert_works(relay_reserve(r, &to, &room, &err), err);
    assert_int_equal(room, 5);
    memcpy(to, "345??", 5);
    relay_commit(r, 3);
    assert_false(relay_ready(r, 0));
    assert_works(relay_reserve(r, &to, &room, &err), err);
    assert_int_equal(room, 2);
    memcpy(to, "67", 2);
    relay_commit(r, 2);
    assert_works(relay_reserve(r, &to, &room, &err), err);
    assert_int_equal(room, 7);
    relay_commit(r, 0);
    relay_end(r, NULL);
    assert_int_equal(relay_take(r, 0, &data, &len, &err), 1);
    assert_int_equal(len, 7);
    assert_memory_equal(data, "1234567", 7);
    relay_release(r, 0);
    assert_int_equal(relay_take(r, 0, &data, &len, &err), 0);
}

/* Consumers get the bytes before the producer's error, then the error. */
static void test_an_error_at_the_end(void **state)
{
    struct err err = ERR_INIT, why = ERR_INIT;
    _cleanup_hub_ struct hub *hub = hub_new(&err);
    _cleanup_relay_ struct relay *r = relay_new(hub, 1, 3, BLOCK, &err);
    const void *data;
    size_t len;

    (void)state;
    assert_works(relay_write(r, "abc", 3, &err), err);
    err_set(&why, ERR_FORMAT, "cut");
    relay_end(r, &why);
    assert_int_equal(relay_take(r, 0, &data, &len, &err), 1);
    assert_int_equal(len, 3);
    relay_release(r, 0);
    assert_fails(relay_take(r, 0, &data, &len, &err), err, ERR_FORMAT);
}

/* A consumer that gives up stops the waiting producer and the other consumer. */
static void test_a_consumer_that_gives_up(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_hub_ struct hub *hub = hub_new(&err);
    _cleanup_relay_ struct relay *r = relay_new(hub, 2, 3, BLOCK, &err);
    struct eater eaters[2] = {{.give_up_after = 2}};
    struct worker *workers[2];

    (void)state;
    start(r, eaters, workers);
    assert_fails(relay_write(r, NULL, 1 << 20, &err), err, ERR_LIMIT);
    finish(eaters, workers);
    assert_int_equal(eaters[1].rc, -1);
    assert_int_equal(eaters[1].err.kind, ERR_LIMIT);
}

static void test_stopped_from_outside(void **state)
{
    struct err err = ERR_INIT, why = ERR_INIT;
    _cleanup_hub_ struct hub *hub = hub_new(&err);
    _cleanup_relay_ struct relay *r = relay_new(hub, 2, 3, BLOCK, &err);
    struct eater eaters[2] = {0};
    struct worker *workers[2];

    (void)state;
    start(r, eaters, workers);
    err_set(&why, ERR_SYSTEM, "enough");
    relay_stop(r, &why);
    finish(eaters, workers);
    assert_int_equal(eaters[0].rc, -1);
    assert_fails(relay_write(r, "x", 1, &err), err, ERR_SYSTEM);
}

UNIT_SUITE(test_relay)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everybody_gets_everything),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_reserved_blocks),
        cmocka_unit_test(test_an_error_at_the_end),
        cmocka_unit_test(test_a_consumer_that_gives_up),
        cmocka_unit_test(test_stopped_from_outside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
