#include "shim/host/tree_remove.h"

#include <fts.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

void tree_remove(const char *path)
{
    char *const paths[] = {(char *)(uintptr_t)path, NULL};
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL);
    const FTSENT *e;

    while (tree && (e = fts_read(tree))) {
        if (e->fts_info == FTS_D)
            continue;
        /* A directory that cannot be read may still be empty: the work directory of an overlay has
         * mode 0. */
        if (e->fts_info == FTS_DP || e->fts_info == FTS_DNR)
            rmdir(e->fts_accpath);
        else
            unlink(e->fts_accpath);
    }
    if (tree)
        fts_close(tree);
}
