#include "flatten/keeper/sink/digest_list.h"

#include <stdlib.h>

int digest_list_add(struct digest_list *l, const struct digest *digest, struct err *err)
{
    struct digest *list = realloc(l->list, (l->count + 1) * sizeof(*list));

    if (!list)
        return err_nomem(err);
    l->list = list;
    l->list[l->count++] = *digest;
    return 0;
}

bool digest_list_has(const struct digest_list *l, const struct digest *digest)
{
    for (size_t i = 0; i < l->count; i++)
        if (digest_equal(&l->list[i], digest))
            return true;
    return false;
}

void digest_list_clear(struct digest_list *l)
{
    free(l->list);
}
