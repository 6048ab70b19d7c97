/* The suites of one room, as a program: PROGRAM [WORD...] runs those whose names contain a WORD. */
#ifndef TESTS_RUN_SUITES_H
#define TESTS_RUN_SUITES_H

#include <stddef.h>

struct suite {
    const char *name;
    int (*run)(void); /* returns the number of failed tests */
};

/* Made by the build from the list of suites. */
extern const struct suite suites[];
extern const size_t suite_count;

#endif
