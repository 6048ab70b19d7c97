#include "flatten/merge/tree/array.h"

#include <stdlib.h>
#include <string.h>

/* Does not touch the new memory: an array that is pushed to needs no more of it than its count. */
static int grow_array(void **list, size_t *cap, size_t wanted, size_t size, struct err *err)
{
    enum { FIRST = 16 };
    size_t bigger = wanted * 2 > FIRST ? wanted * 2 : FIRST;
    void *grown = realloc(*list, bigger * size);

    if (!grown)
        return err_nomem(err);
    *list = grown;
    *cap = bigger;
    return 0;
}

int array_reserve(void *list_ptr, size_t *cap, size_t wanted, size_t size, struct err *err)
{
    void **list = list_ptr;
    size_t before = *cap;

    if (wanted <= *cap)
        return 0;
    if (grow_array(list, cap, wanted, size, err) < 0)
        return -1;
    memset((char *)*list + before * size, 0, (*cap - before) * size);
    return 0;
}

void *array_push(void *list_ptr, size_t *count, size_t *cap, size_t size, struct err *err)
{
    void **list = list_ptr;

    if (*count == *cap && grow_array(list, cap, *count + 1, size, err) < 0)
        return NULL;
    return memset((char *)*list + size * (*count)++, 0, size);
}
