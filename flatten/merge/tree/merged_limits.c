#include "flatten/merge/tree/merged_limits.h"

#include "flatten/layer/attributes.h"

#include <inttypes.h>

int merged_check_implied(const struct tree *paths, const struct merged_report *report,
                         struct err *err)
{
    if (tree_count(paths) <= report->entries_in + MERGED_MOST_IMPLIED)
        return 0;
    return err_set(err, ERR_LIMIT, "more than %d directories that no entry describes",
                   MERGED_MOST_IMPLIED);
}

int merged_check_attributes(uint64_t most, uint64_t bytes, const char *what_of, struct err *err)
{
    if (most == 0)
        most = ATTRIBUTES_MOST;
    return bytes <= most
               ? 0
               : err_set(err, ERR_LIMIT, "the attributes of %s take more than %" PRIu64 " bytes",
                         what_of, most);
}
