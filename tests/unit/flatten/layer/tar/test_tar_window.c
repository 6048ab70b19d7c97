/* The bytes of tar headers are kept across blocks (tar_window.h). */
#include "flatten/layer/tar/tar_window.h"

#include "tests/unit/lib/unit.h"

#include <string.h>

/* Gives the window blocks of `size` bytes in one reused buffer, as streams do. */
struct feeder {
    struct tar_window window;
    const char *text;
    size_t at, size, len;
    unsigned char buffer[64];
};

static void feed(struct feeder *f)
{
    struct err err;

    assert_int_equal(tar_window_leave(&f->window, &err), 0);
    memset(f->buffer, '#', sizeof(f->buffer));
    f->at += f->len;
    f->len = strlen(f->text + f->at) < f->size ? strlen(f->text + f->at) : f->size;
    memcpy(f->buffer, f->text + f->at, f->len);
    tar_window_enter(&f->window, f->buffer, f->len);
}

static void expect(struct feeder *f, uint64_t from, uint64_t to)
{
    struct err err;
    const unsigned char *bytes = tar_window_get(&f->window, from, to, &err);

    assert_non_null(bytes);
    assert_memory_equal(bytes, f->text + from, to - from);
}

static void a_header_in_one_block(void **state)
{
    struct feeder f = {.text = "0123456789", .size = 10};

    (void)state;
    feed(&f);
    expect(&f, 2, 7);
    expect(&f, 0, 10);
    tar_window_clear(&f.window);
}

/* The previous block is overwritten by then: its needed bytes must have been copied. */
static void a_header_across_blocks_of_every_size(void **state)
{
    (void)state;
    for (size_t size = 1; size < 20; size++) {
        struct feeder f = {.text = "abcdefghijklmnopqrstuvwxyz", .size = size};
        while (f.at + f.len < 20)
            feed(&f);
        expect(&f, 3, 20);
        tar_window_release(&f.window, 22);
        while (f.at + f.len < 26)
            feed(&f);
        expect(&f, 22, 26);
        tar_window_clear(&f.window);
    }
}

static void what_was_released_is_not_kept(void **state)
{
    struct feeder f = {.text = "abcdefghijklmnopqrstuvwxyz", .size = 5};
    struct err err;

    (void)state;
    feed(&f);
    tar_window_release(&f.window, 17);
    for (int i = 0; i < 3; i++)
        feed(&f);
    assert_int_equal(f.window.kept.len, 0);
    feed(&f);
    expect(&f, 17, 22);
    assert_null(tar_window_get(&f.window, 4, 22, &err));
    assert_int_equal(err.kind, ERR_LIMIT);
    tar_window_clear(&f.window);
}

UNIT_SUITE(test_tar_window)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header_in_one_block),
        cmocka_unit_test(a_header_across_blocks_of_every_size),
        cmocka_unit_test(what_was_released_is_not_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
