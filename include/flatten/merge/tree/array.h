/* Arrays that grow: a pointer, and beside it a capacity and (for ARRAY_PUSH) a count. */
#ifndef FLATTEN_ARRAY_H
#define FLATTEN_ARRAY_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>

/*
 * Makes room for at least `wanted` elements of `size` bytes; new ones are zero. `list_ptr` is the
 * address of the array's pointer. ERR_SYSTEM without memory: the array stays as it was.
 */
int array_reserve(void *list_ptr, size_t *cap, size_t wanted, size_t size,
                  struct err *err) must_check;

/* Returns one more element at the array's end, zeroed; NULL without memory. */
void *array_push(void *list_ptr, size_t *count, size_t *cap, size_t size,
                 struct err *err) must_check;

/* The same for the members NAMES, NAME_count and NAME_cap of `*owner`. */
#define ARRAY_PUSH(owner, name, names, err)                                                        \
    array_push(&(owner)->names, &(owner)->name##_count, &(owner)->name##_cap,                      \
               sizeof(*(owner)->names), err)

#endif
