#include "flatten/squash/listing_internal.h"

#include "base/human.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* ---- inodes ---- */

static bool same_time(const struct inode *a, const struct inode *b)
{
    return a->mtime == b->mtime && a->mtime_nsec == b->mtime_nsec;
}

/* Compares the attributes that a link's header can change, but for the time. */
static bool same_owner_and_mode(const struct inode *a, const struct inode *b)
{
    return ((a->mode ^ b->mode) & 07777) == 0 && a->uid == b->uid && a->gid == b->gid &&
           strcmp(a->xattrs, b->xattrs) == 0;
}

static bool same_but_time(const struct inode *a, const struct inode *b)
{
    return a->mode == b->mode && a->size == b->size && same_owner_and_mode(a, b) &&
           memcmp(a->content, b->content, sizeof(a->content)) == 0 &&
           strcmp(a->symlink, b->symlink) == 0;
}

bool inode_same_attributes(const struct inode *a, const struct inode *b)
{
    return same_owner_and_mode(a, b) && same_time(a, b);
}

bool inode_same(const struct inode *a, const struct inode *b)
{
    return same_but_time(a, b) && same_time(a, b);
}

/* ---- in words ---- */

static void put_kind(struct buf *out, const struct inode *i)
{
    switch (i->mode & S_IFMT) {
    case S_IFREG:
        buf_printf(out, "file %" PRIu64 " byte%s sha256:", i->size, human_s(i->size));
        for (size_t at = 0; at < sizeof(i->content); at++)
            buf_printf(out, "%02x", i->content[at]);
        break;
    case S_IFDIR:
        buf_puts(out, "directory");
        break;
    case S_IFLNK:
        buf_printf(out, "symlink to %s", i->symlink);
        break;
    case S_IFCHR:
    case S_IFBLK:
        buf_printf(out, "%s device %" PRIu64, S_ISCHR(i->mode) ? "character" : "block", i->size);
        break;
    default:
        buf_printf(out, "type %o", i->mode & S_IFMT);
    }
}

static void put_record(const struct record *r, struct buf *out)
{
    const struct inode *i = r->inode;

    put_kind(out, i);
    if (!S_ISLNK(i->mode))
        buf_printf(out, " mode %04o", i->mode & 07777);
    buf_printf(out, " owner %" PRId64 ":%" PRId64 " mtime %" PRId64 ".%09" PRIu32 "%s", i->uid,
               i->gid, i->mtime, i->mtime_nsec, i->xattrs);
    if (r->identity)
        buf_printf(out, " linked with %s", r->identity);
}

/* ---- paths ---- */

static bool same_record(const struct record *a, const struct record *b, bool any_time)
{
    bool alike = a->inode == b->inode || same_but_time(a->inode, b->inode);

    if (!alike || (!any_time && !same_time(a->inode, b->inode)) || !a->identity != !b->identity)
        return false;
    return !a->identity || strcmp(a->identity, b->identity) == 0;
}

static void report_one(const char *path, const struct record *a, const struct record *b,
                       listing_difference *report, void *ctx)
{
    _cleanup_buf_ struct buf x = BUF_INIT, y = BUF_INIT;

    if (!report)
        return;
    if (a)
        put_record(a, &x);
    if (b)
        put_record(b, &y);
    report(ctx, path, a ? x.data : NULL, b ? y.data : NULL);
}

/*
 * Reports a path that only one of the images has. Returns 1, or 0 for the root: engines make it
 * themselves and ignore its entry, so an image without one has the same tree.
 */
static size_t report_lone(const struct listing *l, const struct record *r, bool second,
                          listing_difference *report, void *ctx)
{
    if (!*r->path && !l->lone_root)
        return 0;
    report_one(r->path, second ? NULL : r, second ? r : NULL, report, ctx);
    return 1;
}

/* A comparison of all paths. */
struct comparison {
    bool any_time;              /* what differs in nothing but its time is the same */
    listing_difference *report; /* NULL: only count */
    void *ctx;
};

static size_t compare_all(const struct listing *a, const struct listing *b,
                          const struct comparison *c)
{
    size_t i = 0, j = 0, differing = 0;

    while (i < a->count || j < b->count) {
        int order = i == a->count   ? 1
                    : j == b->count ? -1
                                    : strcmp(a->records[i].path, b->records[j].path);

        if (order < 0) {
            differing += report_lone(a, &a->records[i++], false, c->report, c->ctx);
        } else if (order > 0) {
            differing += report_lone(a, &b->records[j++], true, c->report, c->ctx);
        } else {
            const struct record *x = &a->records[i++], *y = &b->records[j++];
            if (same_record(x, y, c->any_time))
                continue;
            report_one(x->path, x, y, c->report, c->ctx);
            differing++;
        }
    }
    return differing;
}

size_t listing_compare(const struct listing *a, const struct listing *b, listing_difference *report,
                       void *ctx)
{
    return compare_all(a, b, &(struct comparison){false, report, ctx});
}

size_t listing_compare_retimed(const struct listing *a, const struct listing *b, uint64_t retimed,
                               listing_difference *report, void *ctx)
{
    size_t all = compare_all(a, b, &(struct comparison){0});
    size_t others = compare_all(a, b, &(struct comparison){.any_time = true});

    return compare_all(a, b, &(struct comparison){all - others == retimed, report, ctx});
}
