#include "flatten/analyze/zfs/dedup.h"
#include "tests/unit/lib/unit.h"

#include "base/digest/sha256.h"

#include <math.h>
#include <stdio.h>

static void key_of(unsigned number, unsigned char key[DEDUP_KEY])
{
    struct err err = ERR_INIT;
    struct digest digest;

    assert_works(sha256_digest(&number, sizeof(number), &digest, &err), err);
    digest_bytes(&digest, key, DEDUP_KEY);
}

static void add(struct dedup *d, unsigned number, uint32_t bytes, unsigned copies)
{
    unsigned char key[DEDUP_KEY];
    struct err err = ERR_INIT;

    key_of(number, key);
    for (unsigned i = 0; i < copies; i++)
        assert_works(dedup_add(d, key, bytes, &err), err);
}

static struct dedup *new_table(size_t most)
{
    struct err err = ERR_INIT;
    struct dedup *d = dedup_new(most, &err);

    assert_non_null(d);
    return d;
}

static void test_exact(void **state)
{
    _cleanup_dedup_ struct dedup *d = new_table(0);
    struct dedup_report r;

    (void)state;
    dedup_sum(d, &r);
    assert_true(dedup_ratio(&r) == 1 && dedup_ram(&r) == 0);
    for (unsigned i = 0; i < 3000; i++) /* grows several times */
        add(d, i, 1000, 1 + (i < 1000));
    add(d, 1, 16 << 20, 0);
    add(d, 4000, 16 << 20, 2);
    dedup_sum(d, &r);
    assert_int_equal(r.records, 4002);
    assert_int_equal(r.entries, 3001);
    assert_int_equal(r.unique, 3000000 + (16 << 20));
    assert_int_equal(r.bytes, 4000000 + (32 << 20));
    assert_true(r.error == 0 && r.entries_error == 0);
    assert_int_equal(dedup_ram(&r), 3001 * 320);
}

/* Every third record has two copies, every tenth of these a hundred; and they are of two sizes. */
static unsigned copies_of(unsigned number)
{
    return number % 3 ? 1 : number % 30 ? 2 : 100;
}

static uint32_t size_of(unsigned number)
{
    return number % 7 ? 131072 : 512;
}

static void test_sample(void **state)
{
    enum { COUNT = 60000, MOST = 4000 };
    _cleanup_dedup_ struct dedup *all = new_table(0), *some = new_table(MOST);
    struct dedup_report exact, sample;

    (void)state;
    for (unsigned i = 0; i < COUNT; i++) {
        add(all, i, size_of(i), copies_of(i));
        add(some, i, size_of(i), copies_of(i));
    }
    dedup_sum(all, &exact);
    dedup_sum(some, &sample);
    assert_int_equal(exact.entries, COUNT);
    assert_true(sample.sampled <= MOST && sample.sampled > MOST / 3);
    assert_int_equal(sample.records, exact.records);
    assert_int_equal(sample.bytes, exact.bytes);
    assert_true(sample.error > 0.01 && sample.error < 0.25);
    assert_true(sample.entries_error > 0.01 && sample.entries_error < 0.25);
    double off = dedup_ratio(&sample) / dedup_ratio(&exact) - 1;
    assert_true(fabs(off) < 1.5 * sample.error);
    off = (double)sample.entries / (double)exact.entries - 1;
    assert_true(fabs(off) < 1.5 * sample.entries_error);
}

/* About 95 of 100 samples are within the stated error. */
static void test_error(void **state)
{
    enum { TRIES = 60, COUNT = 4000, MOST = 400 };
    unsigned within = 0;
    double sum = 0;

    (void)state;
    for (unsigned seed = 0; seed < TRIES; seed++) {
        _cleanup_dedup_ struct dedup *d = new_table(MOST);
        struct dedup_report r;
        for (unsigned i = 0; i < COUNT; i++)
            add(d, seed * COUNT + i, 4096, 1 + i % 4);
        dedup_sum(d, &r);
        sum += (double)r.entries / COUNT;
        within += fabs(dedup_ratio(&r) / 2.5 - 1) <= r.error;
    }
    assert_true(fabs(sum / TRIES - 1) < 0.02); /* no bias */
    assert_true(within >= TRIES * 85 / 100);
}

static void test_merge(void **state)
{
    _cleanup_dedup_ struct dedup *one = new_table(1000), *other = new_table(1000);
    _cleanup_dedup_ struct dedup *both = new_table(1000);
    struct dedup_report r, wanted;
    struct err err = ERR_INIT;

    (void)state;
    for (unsigned i = 0; i < 900; i++) { /* all are kept */
        add(one, i, 4096, 1);
        add(both, i, 4096, 1);
    }
    for (unsigned i = 0; i < 9000; i++) { /* a part of them */
        add(other, i, 4096, 2);
        add(both, i, 4096, 2);
    }
    assert_works(dedup_merge(one, other, &err), err);
    dedup_sum(one, &r);
    dedup_sum(both, &wanted);
    assert_int_equal(r.records, 900 + 2 * 9000);
    assert_int_equal(r.sampled, wanted.sampled);
    assert_int_equal(r.entries, wanted.entries);
    assert_true(r.error == wanted.error);
}

UNIT_SUITE(test_dedup)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_sample),
        cmocka_unit_test(test_error),
        cmocka_unit_test(test_merge),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
