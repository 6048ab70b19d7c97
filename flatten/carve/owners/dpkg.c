/*
 * dpkg's database. A list has one path a line; that of a package for several architectures is named
 * NAME:ARCH.list. In images without a package manager, status.d has a file NAME of fields for each
 * package and a file NAME.md5sums with a digest and a path a line (Bazel's rules for Debian).
 */
#include "flatten/carve/owners/finder.h"

#include <string.h>

static int claim_list(struct finder *f, uint32_t node, uint32_t owner, struct err *err)
{
    struct lines lines;
    const char *path;
    size_t len;
    int rc;

    if (!lines_open(f, node, &lines))
        return 0;
    while ((rc = lines_next(&lines, &path, &len, err)) > 0) {
        diversions_apply(f, owner, &path, &len);
        finder_claim(f, owner, finder_walk(f, TREE_ROOT, path, len, false));
    }
    return rc;
}

static int read_list(struct finder *f, uint32_t node, struct node_name name, struct err *err)
{
    size_t len = name.len - strlen(".list");
    const char *arch = memchr(name.text, ':', len);
    uint32_t owner;

    if (f->source->size(f->source->ctx, node) < 0)
        return 0;
    if (arch)
        len = (size_t)(arch - name.text);
    if (finder_owner(f, OWNER_DPKG, name.text, len, &owner, err) < 0)
        return -1;
    return claim_list(f, node, owner, err);
}

/* Each line is a digest, two spaces and a path. */
static int claim_md5sums(struct finder *f, uint32_t node, uint32_t owner, struct err *err)
{
    struct lines lines;
    const char *line;
    size_t len;
    int rc;

    if (!lines_open(f, node, &lines))
        return 0;
    while ((rc = lines_next(&lines, &line, &len, err)) > 0) {
        const char *path = memmem(line, len, "  ", 2);
        if (!path)
            continue;
        path += 2;
        finder_claim(f, owner, finder_walk(f, TREE_ROOT, path, len - (size_t)(path - line), false));
    }
    return rc;
}

/* Reads "Package:" and "Version:"; with `add` the package is added. *last: the last one's owner. */
static int read_fields(struct finder *f, uint32_t node, bool add, uint32_t *last, struct err *err)
{
    struct lines lines;
    const char *line, *value;
    size_t len, value_len;
    int rc;

    *last = OWNERS_NOBODY;
    if (!lines_open(f, node, &lines))
        return 0;
    while ((rc = lines_next(&lines, &line, &len, err)) > 0) {
        if (lines_field(line, len, "Package", &value, &value_len)) {
            *last = finder_find(f, OWNER_DPKG, value, value_len);
            if (add && finder_owner(f, OWNER_DPKG, value, value_len, last, err) < 0)
                return -1;
        } else if (lines_field(line, len, "Version", &value, &value_len) &&
                   finder_version(f, *last, value, value_len, err) < 0) {
            return -1;
        }
    }
    return rc;
}

static int read_status_d(struct finder *f, uint32_t node, struct node_name name, struct err *err)
{
    char sums[512];
    uint32_t owner;

    if (read_fields(f, node, true, &owner, err) < 0)
        return -1;
    int len = snprintf(sums, sizeof(sums), "%.*s.md5sums", (int)name.len, name.text);
    if (owner == OWNERS_NOBODY || (size_t)len >= sizeof(sums))
        return 0;
    uint32_t list = tree_find(f->source->tree, f->dpkg_status_d, sums, (size_t)len);
    return claim_md5sums(f, list, owner, err);
}

int dpkg_take(struct finder *f, uint32_t node, struct err *err)
{
    uint32_t dir = tree_parent(f->source->tree, node);

    if (dir != f->dpkg_info && dir != f->dpkg_status_d)
        return 0;
    struct node_name name = finder_name(f, node);
    if (dir == f->dpkg_info)
        return node_name_ends(name, ".list") ? read_list(f, node, name, err) : 0;
    return node_name_ends(name, ".md5sums") ? 0 : read_status_d(f, node, name, err);
}

int dpkg_versions(struct finder *f, struct err *err)
{
    static const char status[] = "var/lib/dpkg/status";
    uint32_t last;

    return read_fields(f, finder_walk(f, TREE_ROOT, status, sizeof(status) - 1, true), false, &last,
                       err);
}
