#include "flatten/listing.h"

#include "base/arena.h"

#include <archive.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* What hard links share. Unpackers apply a link's header to the file, so the last one counts. */
struct inode {
    unsigned mode; /* with the type */
    int64_t uid, gid;
    int64_t mtime;
    long mtime_nsec;
    uint64_t size;
    dev_t rdev;
    const char *symlink;
    const char *xattrs; /* "name=hex" lines, by name */
    struct digest content;
};

struct record {
    const char *path;
    const char *link;     /* of a hard link: its target's path; else NULL */
    struct inode *inode;  /* of a hard link: what its header says, until links are resolved */
    const char *identity; /* the first path of the file, when it has several; else NULL */
    size_t order;
};

struct listing {
    struct entry_sink base;
    struct arena arena;
    struct record *records;
    size_t count, cap;
    struct sha256 *hash;
    bool hashing; /* a file's content is coming in */
};

void listing_free(struct listing *l)
{
    arena_free(&l->arena);
    free(l->records);
    cleanup_sha256(&l->hash);
    free(l);
}

size_t listing_count(const struct listing *l)
{
    return l->count;
}

static int end_content(struct listing *l, struct err *err)
{
    if (!l->hashing)
        return 0;
    l->hashing = false;
    return sha256_finish(l->hash, &l->records[l->count - 1].inode->content, err);
}

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *xattr_line(const char *name, const void *value, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *bytes = value;
    _cleanup_buf_ struct buf line = BUF_INIT;
    struct err ignored = ERR_INIT;

    buf_printf(&line, " %s=", name);
    for (size_t i = 0; i < size; i++) {
        buf_putc(&line, digits[bytes[i] >> 4]);
        buf_putc(&line, digits[bytes[i] & 15]);
    }
    return buf_take(&line, &ignored);
}

/* The lines as one text, or what stands for it: memory for all paths is not the image's to choose.
 */
static const char *join(struct arena *arena, char *const *lines, size_t count)
{
    enum { LONGEST = 1024 };
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored = ERR_INIT;
    struct digest digest;

    for (size_t i = 0; i < count; i++)
        buf_puts(&text, lines[i]);
    buf_append(&text, "", 0);
    if (text.failed)
        return NULL;
    if (text.len <= LONGEST)
        return arena_strndup(arena, text.data, text.len);
    if (sha256_digest(text.data, text.len, &digest, &ignored) < 0)
        return NULL;
    buf_truncate(&text, 0);
    buf_printf(&text, " %zu of %s", count, digest.text);
    return arena_strndup(arena, text.data, text.len);
}

/* All xattrs in one text, sorted. NULL without memory. */
static const char *xattrs_of(struct arena *arena, struct archive_entry *header)
{
    const char *name;
    const void *value;
    size_t size, count = 0, want = (size_t)archive_entry_xattr_reset(header);
    char **lines = calloc(want + 1, sizeof(*lines));

    while (lines && count < want &&
           archive_entry_xattr_next(header, &name, &value, &size) == ARCHIVE_OK) {
        if (!(lines[count] = xattr_line(name, value, size)))
            break;
        count++;
    }
    bool complete = lines && count == want;
    if (complete)
        qsort(lines, count, sizeof(*lines), compare_text);
    const char *text = complete ? join(arena, lines, count) : NULL;
    while (count > 0)
        free(lines[--count]);
    free(lines);
    return text;
}

static struct inode *inode_of(struct listing *l, struct archive_entry *header, struct err *err)
{
    const char *target = archive_entry_symlink(header);
    struct inode *i = arena_alloc(&l->arena, sizeof(*i));

    if (!i) {
        err_nomem(err);
        return NULL;
    }
    i->mode = archive_entry_mode(header);
    i->uid = archive_entry_uid(header);
    i->gid = archive_entry_gid(header);
    i->mtime = archive_entry_mtime(header);
    i->mtime_nsec = archive_entry_mtime_nsec(header);
    i->size = S_ISREG(i->mode) ? (uint64_t)archive_entry_size(header) : 0;
    i->rdev = S_ISCHR(i->mode) || S_ISBLK(i->mode) ? archive_entry_rdev(header) : 0;
    i->xattrs = xattrs_of(&l->arena, header);
    i->symlink = S_ISLNK(i->mode) && target ? arena_strndup(&l->arena, target, strlen(target)) : "";
    if (!i->xattrs || !i->symlink) {
        err_nomem(err);
        return NULL;
    }
    return i;
}

static const char *clean_copy(struct arena *arena, const char *path)
{
    size_t len = strlen(path);

    while (len > 0 && path[len - 1] == '/')
        len--;
    return arena_strndup(arena, path, len == 1 && path[0] == '.' ? 0 : len);
}

static int put_entry(struct entry_sink *sink, struct archive_entry *header, struct err *err)
{
    struct listing *l = (struct listing *)sink;
    const char *link = archive_entry_hardlink(header);
    struct record r = {.order = l->count};

    if (end_content(l, err) < 0)
        return -1;
    if (l->count == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 1024;
        struct record *bigger = realloc(l->records, cap * sizeof(*bigger));
        if (!bigger)
            return err_nomem(err);
        l->records = bigger;
        l->cap = cap;
    }
    r.path = clean_copy(&l->arena, archive_entry_pathname(header));
    r.link = link ? clean_copy(&l->arena, link) : NULL;
    r.inode = inode_of(l, header, err);
    if (!r.inode)
        return -1;
    if (!r.path || (link && !r.link))
        return err_nomem(err);
    l->records[l->count++] = r;
    l->hashing = !link && S_ISREG(r.inode->mode);
    return 0;
}

static int put_data(struct entry_sink *sink, const void *data, uint64_t len, struct err *err)
{
    static const char zeros[64 * 1024];
    struct listing *l = (struct listing *)sink;

    while (len > 0) {
        size_t piece = data || len < sizeof(zeros) ? (size_t)len : sizeof(zeros);
        if (sha256_update(l->hash, data ? data : zeros, piece, err) < 0)
            return -1;
        len -= piece;
    }
    return 0;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct record *)a)->path, ((const struct record *)b)->path);
}

static struct record *find(const struct listing *l, const char *path)
{
    struct record key = {.path = path};

    return bsearch(&key, l->records, l->count, sizeof(key), by_path);
}

/* Attributes of the link's header replace the file's; its xattrs are added by unpackers. */
static void apply_link(struct inode *to, const struct inode *link)
{
    to->mode = (to->mode & S_IFMT) | (link->mode & 07777);
    to->uid = link->uid;
    to->gid = link->gid;
    to->mtime = link->mtime;
    to->mtime_nsec = link->mtime_nsec;
    if (*link->xattrs)
        to->xattrs = link->xattrs;
}

static int resolve_link(struct listing *l, struct record *link, struct err *err)
{
    struct record *target = find(l, link->link);

    if (!target || target->link)
        return err_set(err, ERR_FORMAT, "hard link %s: its target %s is missing", link->path,
                       link->link);
    apply_link(target->inode, link->inode);
    link->inode = target->inode;
    /* Records come in path order here, so the first path met is the least. */
    return 0;
}

static int by_order(const void *a, const void *b)
{
    const struct record *x = *(struct record *const *)a, *y = *(struct record *const *)b;

    return x->order < y->order ? -1 : x->order > y->order;
}

/* Links in the order of their archive, for the last to count; then names for what they share. */
static int resolve_links(struct listing *l, struct err *err)
{
    _cleanup_free_ struct record **links = calloc(l->count + 1, sizeof(*links));
    size_t count = 0;

    if (!links)
        return err_nomem(err);
    if (l->count)
        qsort(l->records, l->count, sizeof(*l->records), by_path);
    for (size_t i = 0; i < l->count; i++)
        if (l->records[i].link)
            links[count++] = &l->records[i];
    qsort(links, count, sizeof(*links), by_order);
    for (size_t i = 0; i < count; i++)
        if (resolve_link(l, links[i], err) < 0)
            return -1;
    for (size_t i = 0; i < count; i++) {
        struct record *target = find(l, links[i]->link);
        const char *first = target->identity ? target->identity : target->path;
        target->identity = strcmp(links[i]->path, first) < 0 ? links[i]->path : first;
    }
    for (size_t i = 0; i < count; i++)
        links[i]->identity = find(l, links[i]->link)->identity;
    return 0;
}

struct listing *listing_new(const struct image *image, const struct merged_options *options,
                            struct err *err)
{
    static const struct entry_sink_ops ops = {put_entry, put_data};
    _cleanup_listing_ struct listing *l = calloc(1, sizeof(*l));
    struct merged_report report;

    if (!l) {
        err_nomem(err);
        return NULL;
    }
    l->base.ops = &ops;
    l->hash = sha256_new(err);
    if (!l->hash)
        return NULL;
    int rc = merged_entries(image, options, &l->base, &report, err);
    if (rc > 0) {
        struct merged_options again = *options;
        again.indexed = true;
        return listing_new(image, &again, err);
    }
    if (rc < 0 || end_content(l, err) < 0 || resolve_links(l, err) < 0)
        return NULL;
    return steal_ptr(&l);
}

static void put_kind(struct buf *out, const struct inode *i)
{
    switch (i->mode & S_IFMT) {
    case S_IFREG:
        buf_printf(out, "file %" PRIu64 " bytes %s", i->size, i->content.text);
        break;
    case S_IFDIR:
        buf_puts(out, "directory");
        break;
    case S_IFLNK:
        buf_printf(out, "symlink to %s", i->symlink);
        break;
    case S_IFCHR:
    case S_IFBLK:
        buf_printf(out, "%s device %" PRIu64, S_ISCHR(i->mode) ? "character" : "block",
                   (uint64_t)i->rdev);
        break;
    default:
        buf_printf(out, "type %o", i->mode & S_IFMT);
    }
}

static void describe(const struct record *r, struct buf *out)
{
    const struct inode *i = r->inode;

    put_kind(out, i);
    if (!S_ISLNK(i->mode))
        buf_printf(out, " mode %04o", i->mode & 07777);
    buf_printf(out, " owner %" PRId64 ":%" PRId64 " mtime %" PRId64 ".%09ld%s", i->uid, i->gid,
               i->mtime, i->mtime_nsec, i->xattrs);
    if (r->identity)
        buf_printf(out, " linked with %s", r->identity);
}

static bool same(const struct record *a, const struct record *b)
{
    _cleanup_buf_ struct buf x = BUF_INIT, y = BUF_INIT;

    describe(a, &x);
    describe(b, &y);
    return x.data && y.data && strcmp(x.data, y.data) == 0;
}

static void report_one(const char *path, const struct record *a, const struct record *b,
                       listing_difference *report, void *ctx)
{
    _cleanup_buf_ struct buf x = BUF_INIT, y = BUF_INIT;

    if (a)
        describe(a, &x);
    if (b)
        describe(b, &y);
    report(ctx, path, a ? x.data : NULL, b ? y.data : NULL);
}

size_t listing_compare(const struct listing *a, const struct listing *b, listing_difference *report,
                       void *ctx)
{
    size_t i = 0, j = 0, differing = 0;

    while (i < a->count || j < b->count) {
        int order = i == a->count   ? 1
                    : j == b->count ? -1
                                    : strcmp(a->records[i].path, b->records[j].path);

        if (order < 0) {
            const struct record *x = &a->records[i++];
            report_one(x->path, x, NULL, report, ctx);
        } else if (order > 0) {
            const struct record *y = &b->records[j++];
            report_one(y->path, NULL, y, report, ctx);
        } else {
            const struct record *x = &a->records[i++], *y = &b->records[j++];
            if (same(x, y))
                continue;
            report_one(x->path, x, y, report, ctx);
        }
        differing++;
    }
    return differing;
}
