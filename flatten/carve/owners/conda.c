/*
 * conda's packages: PREFIX/conda-meta/NAME-VERSION-BUILD.json has the member "files", a list of
 * paths relative to PREFIX. Neither VERSION nor BUILD has a "-". The file itself belongs to the
 * package, too.
 */
#include "flatten/carve/owners/json_scan.h"

#include <string.h>

/* Sets the owner of "NAME-VERSION-BUILD". */
static int find_package(struct finder *f, struct node_name full, uint32_t *owner, struct err *err)
{
    const char *build = memrchr(full.text, '-', full.len);
    const char *version = build ? memrchr(full.text, '-', (size_t)(build - full.text)) : NULL;

    if (!version)
        return finder_owner(f, OWNER_CONDA, full.text, full.len, owner, err);
    if (finder_owner(f, OWNER_CONDA, full.text, (size_t)(version - full.text), owner, err) < 0)
        return -1;
    return finder_version(f, *owner, version + 1, (size_t)(build - version - 1), err);
}

int conda_take(struct finder *f, uint32_t node, struct err *err)
{
    struct json_scan scan;
    const struct tree *tree = f->source->tree;
    uint32_t dir = tree_parent(tree, node), owner;
    struct node_name name = finder_name(f, node);
    int rc;

    if (!node_name_is(finder_name(f, dir), "conda-meta") || !node_name_ends(name, ".json") ||
        !json_scan_open(&scan, f, node))
        return 0;
    name.len -= strlen(".json");
    if (find_package(f, name, &owner, err) < 0)
        return -1;
    finder_claim(f, owner, node);
    while ((rc = json_scan_next(&scan, err)) > 0)
        if (scan.depth == 2 && scan.opened == '[' && strcmp(scan.member, "files") == 0)
            finder_claim(f, owner,
                         finder_walk(f, tree_parent(tree, dir), scan.text, scan.len, false));
    return rc;
}
