/*
 * Python's packages: NAME-VERSION.dist-info/RECORD (packaging.python.org, "Recording installed
 * projects") is CSV whose first column is a path, relative to the directory of the dist-info.
 * NAME-VERSION.egg-info/installed-files.txt, of older pips, has one path a line, relative to the
 * egg-info.
 */
#include "flatten/carve/owners/finder.h"

#include <string.h>

enum { PROJECT_NAME_MOST = 255 };

/*
 * Writes the name as PEP 503 normalises it: small letters, and "-" for each run of "-_.". Returns
 * its length; 0 if it is too long.
 */
static size_t normalise_name(const char *name, size_t len, char out[PROJECT_NAME_MOST])
{
    size_t used = 0;

    for (size_t i = 0; i < len; i++) {
        char c = name[i];
        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        if (c == '_' || c == '.')
            c = '-';
        if (c == '-' && used > 0 && out[used - 1] == '-')
            continue;
        if (used == PROJECT_NAME_MOST)
            return 0;
        out[used++] = c;
    }
    return used;
}

/*
 * Sets the owner of a directory "NAME-VERSION.dist-info" or "NAME-VERSION-pyTAG.egg-info", whose
 * ending has `cut` bytes. A "-" of the name is written "_" there.
 */
static int find_project(struct finder *f, struct node_name dir, size_t cut, uint32_t *owner,
                        struct err *err)
{
    char name[PROJECT_NAME_MOST];
    const char *end = dir.text + dir.len - cut;
    const char *dash = memchr(dir.text, '-', dir.len - cut);
    size_t len = normalise_name(dir.text, (size_t)((dash ? dash : end) - dir.text), name);

    if (finder_owner(f, OWNER_PIP, name, len, owner, err) < 0)
        return -1;
    if (!dash)
        return 0;
    const char *version = dash + 1;
    size_t left = (size_t)(end - version);
    const char *tag = memmem(version, left, "-py", 3);
    return finder_version(f, *owner, version, tag ? (size_t)(tag - version) : left, err);
}

/* Takes the first column of a line of CSV: unquoted in place of what was there. */
static size_t first_column(const char *line, size_t len, char out[LINES_WINDOW])
{
    size_t used = 0;

    if (len == 0 || line[0] != '"') {
        const char *comma = memchr(line, ',', len);
        used = comma ? (size_t)(comma - line) : len;
        memcpy(out, line, used);
        return used;
    }
    for (size_t i = 1; i < len; i++) {
        if (line[i] == '"' && (i + 1 == len || line[++i] != '"'))
            break;
        out[used++] = line[i];
    }
    return used;
}

static int claim_record(struct finder *f, uint32_t node, uint32_t base, bool csv, uint32_t owner,
                        struct err *err)
{
    _cleanup_free_ char *column = malloc(LINES_WINDOW);
    struct lines lines;
    const char *line;
    size_t len;
    int rc;

    if (!column)
        return err_nomem(err);
    if (!lines_open(f, node, &lines))
        return 0;
    while ((rc = lines_next(&lines, &line, &len, err)) > 0) {
        if (len > 0 && line[len - 1] == '\r')
            len--;
        if (csv) {
            len = first_column(line, len, column);
            line = column;
        }
        finder_claim(f, owner, finder_walk(f, base, line, len, false));
    }
    return rc;
}

int pip_take(struct finder *f, uint32_t node, struct err *err)
{
    static const char dist[] = ".dist-info", egg[] = ".egg-info";
    struct node_name name = finder_name(f, node);
    bool csv = node_name_is(name, "RECORD");
    const char *ending = csv ? dist : egg;

    if ((!csv && !node_name_is(name, "installed-files.txt")) ||
        f->source->size(f->source->ctx, node) < 0)
        return 0;
    uint32_t dir = tree_parent(f->source->tree, node), owner;
    struct node_name dir_name = finder_name(f, dir);
    if (!node_name_ends(dir_name, ending))
        return 0;
    if (find_project(f, dir_name, strlen(ending), &owner, err) < 0)
        return -1;
    uint32_t base = csv ? tree_parent(f->source->tree, dir) : dir;
    return claim_record(f, node, base, csv, owner, err);
}
