#include "flatten/merge/array.h"

#include <stdlib.h>
#include <string.h>

int array_reserve(void *list_ptr, size_t *cap, size_t wanted, size_t size, struct err *err)
{
    enum { FIRST = 16 };
    void **list = list_ptr;

    if (wanted <= *cap)
        return 0;
    size_t bigger = wanted * 2 > FIRST ? wanted * 2 : FIRST;
    char *grown = realloc(*list, bigger * size);
    if (!grown)
        return err_nomem(err);
    memset(grown + *cap * size, 0, (bigger - *cap) * size);
    *list = grown;
    *cap = bigger;
    return 0;
}

void *array_push(void *list_ptr, size_t *count, size_t *cap, size_t size, struct err *err)
{
    void **list = list_ptr;

    if (array_reserve(list_ptr, cap, *count + 1, size, err) < 0)
        return NULL;
    return memset((char *)*list + size * (*count)++, 0, size);
}
