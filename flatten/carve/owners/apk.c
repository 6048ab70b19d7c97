/*
 * apk's database (apk-v2(5)): a package is a paragraph of lines "LETTER:VALUE"; P is its name, V
 * its version, F a directory, R a file in the last directory.
 */
#include "flatten/carve/owners/finder.h"

#include <string.h>

struct apk_state {
    uint32_t owner, dir;
};

static int take_field(struct finder *f, struct apk_state *s, char letter, const char *value,
                      size_t len, struct err *err)
{
    switch (letter) {
    case 'P':
        s->dir = TREE_ROOT;
        return finder_owner(f, OWNER_APK, value, len, &s->owner, err);
    case 'V':
        return finder_version(f, s->owner, value, len, err);
    case 'F':
        s->dir = finder_walk(f, TREE_ROOT, value, len, true);
        return 0;
    case 'R':
        if (s->dir != TREE_NONE)
            finder_claim(f, s->owner, finder_walk(f, s->dir, value, len, false));
        return 0;
    default:
        return 0;
    }
}

static int read_installed(struct finder *f, uint32_t node, struct err *err)
{
    struct apk_state state = {OWNERS_NOBODY, TREE_ROOT};
    struct lines lines;
    const char *line;
    size_t len;
    int rc;

    if (!lines_open(f, node, &lines))
        return 0;
    while ((rc = lines_next(&lines, &line, &len, err)) > 0) {
        if (len == 0)
            state = (struct apk_state){OWNERS_NOBODY, TREE_ROOT};
        else if (len >= 2 && line[1] == ':' &&
                 take_field(f, &state, line[0], line + 2, len - 2, err) < 0)
            return -1;
    }
    return rc;
}

int apk_read(struct finder *f, struct err *err)
{
    static const char *const paths[] = {"lib/apk/db/installed", "usr/lib/apk/db/installed"};
    uint32_t first = finder_walk(f, TREE_ROOT, paths[0], strlen(paths[0]), true);
    uint32_t second = finder_walk(f, TREE_ROOT, paths[1], strlen(paths[1]), true);

    if (read_installed(f, first, err) < 0)
        return -1;
    return first == second ? 0 : read_installed(f, second, err);
}
