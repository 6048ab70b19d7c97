/*
 * The header of every unit test: cmocka, the headers that it needs, and a few assertions.
 * An assertion is a macro if a failure should show the line of the caller.
 */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/*
 * The head of a suite: `UNIT_SUITE(test_x) { ... return cmocka_run_group_tests(...); }`. A room's
 * suites are one program (run_suites.h), each in a process of its own. Returns the number of failed
 * tests.
 */
#define UNIT_SUITE(name)                                                                           \
    int name(void);                                                                                \
    int name(void)

/* Asserts that `call` fails with this kind and sets `err`, a struct err. */
#define assert_fails(call, err, expected)                                                          \
    do {                                                                                           \
        assert_int_equal((call), -1);                                                              \
        assert_int_equal((err).kind, (expected));                                                  \
        assert_true((err).msg[0] != '\0');                                                         \
    } while (0)

/* Asserts that `call` returns 0; otherwise prints the message of the error. */
#define assert_works(call, err)                                                                    \
    do {                                                                                           \
        if ((call) != 0)                                                                           \
            fail_msg("%s: %s", #call, (err).msg);                                                  \
    } while (0)

#define assert_contains(text, part)                                                                \
    do {                                                                                           \
        if (!strstr((text), (part)))                                                               \
            fail_msg("'%s' is not in '%s'", (part), (text));                                       \
    } while (0)

/* Asserts that `size` bytes at `data` are the string literal `bytes`, which may hold NULs. */
#define assert_bytes(data, size, bytes)                                                            \
    do {                                                                                           \
        assert_int_equal((size), sizeof(bytes) - 1);                                               \
        assert_memory_equal((data), bytes, sizeof(bytes) - 1);                                     \
    } while (0)

#endif
