/* Tells which directories were given to fsync(2), which fsyncs.c replaces in a program. */
#ifndef TESTS_FSYNCS_H
#define TESTS_FSYNCS_H

#include <stdbool.h>

/* Forgets all directories. From now on fsync of one fails with `number`, unless it is 0. */
void fsyncs_forget(int number);

/* True if the directory `path`, relative to `dirfd`, was synced. */
bool fsyncs_reached(int dirfd, const char *path);

#endif
