/*
 * Files that a package diverted (dpkg-divert(1)): all other packages' files of this path lie at
 * another. The database has three lines for each: the path, the other path, and the package, or ":"
 * if the administrator diverted them. Lists of packages name the first path.
 */
#include "flatten/carve/owners/finder.h"

#include <string.h>

enum { DIVERTED_MEMORY = 1 << 20 };

struct diversion {
    const char *from, *to;
    size_t from_len, to_len;
    const char *package; /* NULL: none keeps the path */
};

static int compare_paths(const char *a, size_t a_len, const char *b, size_t b_len)
{
    int order = memcmp(a, b, a_len < b_len ? a_len : b_len);

    return order ? order : (a_len > b_len) - (a_len < b_len);
}

static int compare_diversions(const void *a, const void *b)
{
    const struct diversion *left = a, *right = b;
    int order = compare_paths(left->from, left->from_len, right->from, right->from_len);

    return order ? order : compare_paths(left->to, left->to_len, right->to, right->to_len);
}

/* Reads one of the three lines. Returns 1, 0 at the end, or -1. */
static int read_line(struct finder *f, struct lines *lines, const char **text, size_t *len,
                     struct err *err)
{
    const char *line;
    int rc = lines_next(lines, &line, len, err);

    if (rc <= 0)
        return rc;
    *text = arena_strndup(&f->diverted, line, *len);
    if (*text)
        return 1;
    f->out->cut++; /* the limit, or no memory: what follows tells */
    return 0;
}

static int read_diversion(struct finder *f, struct lines *lines, struct diversion *d,
                          struct err *err)
{
    size_t len;
    int rc = read_line(f, lines, &d->from, &d->from_len, err);

    if (rc > 0)
        rc = read_line(f, lines, &d->to, &d->to_len, err);
    if (rc > 0)
        rc = read_line(f, lines, &d->package, &len, err);
    if (rc > 0 && strcmp(d->package, ":") == 0)
        d->package = NULL;
    return rc;
}

int diversions_read(struct finder *f, struct err *err)
{
    static const char path[] = "var/lib/dpkg/diversions";
    struct lines lines;
    struct diversion d;
    int rc;

    f->diverted.limit = DIVERTED_MEMORY;
    if (!lines_open(f, finder_walk(f, TREE_ROOT, path, sizeof(path) - 1, true), &lines))
        return 0;
    while ((rc = read_diversion(f, &lines, &d, err)) > 0) {
        void *list = arena_extend(&f->diverted, f->diversions, f->diversion_count, sizeof(d));
        if (!list) {
            f->out->cut++;
            break;
        }
        f->diversions = list;
        f->diversions[f->diversion_count++] = d;
    }
    if (f->diversion_count > 0)
        qsort(f->diversions, f->diversion_count, sizeof(d), compare_diversions);
    return rc < 0 ? -1 : 0;
}

void diversions_apply(const struct finder *f, uint32_t owner, const char **path, size_t *len)
{
    size_t low = 0, high = f->diversion_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct diversion *d = &f->diversions[middle];
        int order = compare_paths(*path, *len, d->from, d->from_len);
        if (order == 0) {
            if (d->package && strcmp(d->package, f->out->list[owner].name) == 0)
                return;
            *path = d->to;
            *len = d->to_len;
            return;
        }
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
}

void diversions_clear(struct finder *f)
{
    arena_free(&f->diverted);
    f->diversions = NULL;
    f->diversion_count = 0;
}
