/* Questions that a child asks: answers, children that end without one, and children that hang. */
#include "shim/host/process/child_ask.h"

#include "tests/unit/lib/unit.h"

#include <fcntl.h>
#include <unistd.h>

enum { LONG = 60000 /* ms */ };

static void add_one(const void *asked, void *answer)
{
    *(int *)answer = *(const int *)asked + 1;
}

static void end(const void *asked, void *answer)
{
    *(int *)answer = 5;
    _exit(*(const int *)asked);
}

static void hang(const void *asked, void *answer)
{
    (void)asked;
    (void)answer;
    for (;;)
        pause();
}

/* Answers whether a descriptor of the parent is open. */
static void is_open(const void *asked, void *answer)
{
    *(int *)answer = fcntl(*(const int *)asked, F_GETFD) >= 0;
}

static void it_answers(void **state)
{
    struct err err = ERR_INIT;
    int asked = 41, answer = 0;

    (void)state;
    assert_int_equal(child_ask(add_one, &asked, &answer, sizeof(answer), LONG, &err), 0);
    assert_int_equal(answer, 42);
}

static void one_that_ends_leaves_zeros(void **state)
{
    struct err err = ERR_INIT;
    int asked = 0, answer = 7;

    (void)state;
    assert_int_equal(child_ask(end, &asked, &answer, sizeof(answer), LONG, &err), 0);
    assert_int_equal(answer, 0);
}

static void one_that_hangs_is_given_up(void **state)
{
    struct err err = ERR_INIT;
    int asked = 0, answer = 7;

    (void)state;
    assert_int_equal(child_ask(hang, &asked, &answer, sizeof(answer), 20, &err), 1);
    assert_int_equal(answer, 0);
}

static void it_gets_no_descriptors(void **state)
{
    struct err err = ERR_INIT;
    int asked = open("/dev/null", O_RDONLY), answer = 1;

    (void)state;
    assert_true(asked > 2);
    assert_int_equal(child_ask(is_open, &asked, &answer, sizeof(answer), LONG, &err), 0);
    assert_int_equal(answer, 0);
    close(asked);
}

UNIT_SUITE(test_child_ask)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_answers),
        cmocka_unit_test(one_that_ends_leaves_zeros),
        cmocka_unit_test(one_that_hangs_is_given_up),
        cmocka_unit_test(it_gets_no_descriptors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
