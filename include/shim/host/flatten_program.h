/* The program flatten, which fetches from registries. */
#ifndef SHIM_FLATTEN_PROGRAM_H
#define SHIM_FLATTEN_PROGRAM_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/err.h"

/*
 * Returns its path, in the arena: beside this program, or in a directory of the system, whatever
 * PATH says. NULL and ERR_UNSUPPORTED if it is not installed.
 */
const char *flatten_program(struct arena *arena, struct err *err) must_check;

#endif
