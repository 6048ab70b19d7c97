#include "flatten/merge/tree/symlink_budget.h"

#include <limits.h>

int symlink_budget_spend(struct symlink_budget *b, size_t len, struct err *err)
{
    b->bytes += len;
    if (++b->count > SYMLINK_BUDGET_LINKS)
        return err_set(err, ERR_FORMAT, "too many symbolic links on its path");
    if (b->bytes >= PATH_MAX)
        return err_set(err, ERR_FORMAT, "symbolic links make its path too long");
    return 0;
}
