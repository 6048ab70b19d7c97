/* Packages of Node.js: directories DIR/node_modules/NAME and DIR/node_modules/@SCOPE/NAME. */
#include "flatten/carve/owners/finder.h"
#include "flatten/carve/owners/json_scan.h"

#include <string.h>

enum { NAME_MOST = 255 };

/* Returns the length of "NAME" or "@SCOPE/NAME" in `out`; 0 if the directory is no package. */
static size_t package_name(const struct finder *f, uint32_t node, char out[NAME_MOST])
{
    const struct tree *tree = f->source->tree;
    uint32_t dir = tree_parent(tree, node);
    struct node_name name = finder_name(f, node), scope = finder_name(f, dir);

    if (name.len == 0 || name.text[0] == '.' || name.text[0] == '@')
        return 0;
    if (node_name_is(scope, "node_modules"))
        scope.len = 0;
    else if (scope.len < 2 || scope.text[0] != '@' ||
             !node_name_is(finder_name(f, tree_parent(tree, dir)), "node_modules"))
        return 0;
    if (scope.len + 1 + name.len > NAME_MOST)
        return 0;
    memcpy(out, scope.text, scope.len);
    if (scope.len > 0)
        out[scope.len++] = '/';
    memcpy(out + scope.len, name.text, name.len);
    return scope.len + name.len;
}

static int read_version(struct finder *f, uint32_t node, uint32_t owner, struct err *err)
{
    struct json_scan scan;
    int rc;

    if (!json_scan_open(&scan, f, node))
        return 0;
    while ((rc = json_scan_next(&scan, err)) > 0)
        if (scan.depth == 1 && strcmp(scan.member, "version") == 0)
            return finder_version(f, owner, scan.text, scan.len, err);
    return rc;
}

int npm_take(struct finder *f, uint32_t node, uint32_t *owner, struct err *err)
{
    static const char file[] = "package.json";
    char name[NAME_MOST];
    size_t len = package_name(f, node, name);
    uint32_t described =
                 len == 0 ? TREE_NONE : tree_find(f->source->tree, node, file, sizeof(file) - 1),
             found;

    if (described == TREE_NONE || f->shipped[described] ||
        f->source->size(f->source->ctx, described) < 0)
        return 0;
    if (finder_owner(f, OWNER_NPM, name, len, &found, err) < 0)
        return -1;
    if (found != OWNERS_NOBODY)
        *owner = found;
    return read_version(f, described, found, err);
}
