/* The memcpy and memmove that flatbed-runtime has where it is linked with musl, under other names.
 */
#include "unit.h"

void *copy_memcpy(void *dest, const void *src, size_t len);
void *copy_memmove(void *dest, const void *src, size_t len);

enum { ROOM = 320, MOST = 100 };

static void fill(unsigned char *bytes, unsigned seed)
{
    for (size_t i = 0; i < ROOM; i++)
        bytes[i] = (unsigned char)(i * 37 + seed);
}

/* What a byte after the other makes of it, by way of somewhere else. */
static void expect(unsigned char *bytes, size_t to, size_t from, size_t len)
{
    unsigned char aside[MOST];

    for (size_t i = 0; i < len; i++)
        aside[i] = bytes[from + i];
    for (size_t i = 0; i < len; i++)
        bytes[to + i] = aside[i];
}

static void same(const unsigned char *got, const unsigned char *wanted)
{
    for (size_t i = 0; i < ROOM; i++)
        assert_int_equal(got[i], wanted[i]);
}

static void every_length_at_every_address(void **state)
{
    unsigned char source[ROOM], got[ROOM], wanted[ROOM];

    (void)state;
    fill(source, 1);
    for (size_t len = 0; len < MOST; len++)
        for (size_t at = 0; at < 17; at++) {
            fill(got, 99);
            fill(wanted, 99);
            assert_ptr_equal(copy_memcpy(got + at, source + 3 * at, len), got + at);
            for (size_t i = 0; i < len; i++)
                wanted[at + i] = source[3 * at + i];
            same(got, wanted);
        }
}

static void every_overlap(void **state)
{
    unsigned char got[ROOM], wanted[ROOM];

    (void)state;
    for (size_t len = 0; len < MOST; len++)
        for (size_t to = 0; to < 2 * MOST; to++) {
            fill(got, 5);
            fill(wanted, 5);
            assert_ptr_equal(copy_memmove(got + to, got + MOST, len), got + to);
            expect(wanted, to, MOST, len);
            same(got, wanted);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_at_every_address),
        cmocka_unit_test(every_overlap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
