#include "flatten/squash/listing_internal.h"

#include "base/human.h"
#include "flatten/wire/wire_entry.h"

#include <archive.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

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

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct record *)a)->path, ((const struct record *)b)->path);
}

static struct record *find_record(const struct listing *l, const char *path)
{
    struct record key = {.path = path};

    return l->count ? bsearch(&key, l->records, l->count, sizeof(key), by_path) : NULL;
}

/* ---- records ---- */

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

/* Returns `like` if it is the same text, else a copy; NULL without memory. */
static const char *keep_text(struct arena *arena, const char *text, size_t len, const char *like)
{
    if (like && strlen(like) == len && memcmp(like, text, len) == 0)
        return like;
    return arena_strndup(arena, text, len);
}

/* Joins the lines. A long text is replaced by its digest, to bound the memory of a hostile image.
 */
static const char *join_lines(struct arena *arena, char *const *lines, size_t count,
                              const char *like)
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
        return keep_text(arena, text.data, text.len, like);
    if (sha256_digest(text.data, text.len, &digest, &ignored) < 0)
        return NULL;
    buf_truncate(&text, 0);
    buf_printf(&text, " %zu of %s", count, digest.text);
    return keep_text(arena, text.data, text.len, like);
}

/* Returns all xattrs as one text, sorted; NULL without memory. */
static const char *xattrs_of(struct listing *l, struct archive_entry *header, const char *like)
{
    const char *name;
    const void *value;
    size_t size, count = 0, most = (size_t)archive_entry_xattr_reset(header);
    char **lines = most ? calloc(most, sizeof(*lines)) : NULL;
    bool complete = lines != NULL;

    if (!most)
        return "";
    while (complete && archive_entry_xattr_next(header, &name, &value, &size) == ARCHIVE_OK) {
        if (l->unlabelled && wire_xattr_is_of_host(name))
            continue;
        complete = (lines[count] = xattr_line(name, value, size)) != NULL;
        count += complete;
    }
    if (complete)
        qsort(lines, count, sizeof(*lines), compare_text);
    const char *text = complete ? join_lines(&l->arena, lines, count, like) : NULL;
    while (count > 0)
        free(lines[--count]);
    free(lines);
    return text;
}

/* A symbolic link has no permissions of its own. */
static unsigned counted_mode(unsigned mode)
{
    return S_ISLNK(mode) ? S_IFLNK | 0777 : mode;
}

static int read_inode(struct listing *l, struct archive_entry *header, struct err *err)
{
    const char *target = archive_entry_symlink(header);
    const struct inode *like = l->model ? l->model->inode : NULL;
    struct inode *i = &l->inode;

    *i = (struct inode){.symlink = ""};
    i->mode = counted_mode(archive_entry_mode(header));
    i->uid = archive_entry_uid(header);
    i->gid = archive_entry_gid(header);
    i->mtime = archive_entry_mtime(header);
    i->mtime_nsec = (uint32_t)archive_entry_mtime_nsec(header);
    if (S_ISREG(i->mode))
        i->size = (uint64_t)archive_entry_size(header);
    else if (S_ISCHR(i->mode) || S_ISBLK(i->mode))
        i->size = archive_entry_rdev(header);
    i->xattrs = xattrs_of(l, header, like ? like->xattrs : NULL);
    if (S_ISLNK(i->mode) && target)
        i->symlink = keep_text(&l->arena, target, strlen(target), like ? like->symlink : NULL);
    return i->xattrs && i->symlink ? 0 : err_nomem(err);
}

static void content_of(const struct digest *digest, unsigned char *out)
{
    const char *hex = digest_hex(digest);

    for (size_t i = 0; i < 2 * SHA256_SIZE; i++) {
        int digit = hex[i] <= '9' ? hex[i] - '0' : hex[i] - 'a' + 10;
        out[i / 2] = (unsigned char)(i % 2 ? out[i / 2] | digit : digit << 4);
    }
}

/* Ends the last record: it gets the inode of the other listing if that is equal, else its own. */
static int finish_record(struct listing *l, struct err *err)
{
    struct record *r = l->count ? &l->records[l->count - 1] : NULL;
    struct digest digest;

    if (!l->open || !r)
        return 0;
    l->open = false;
    if (l->hashing) {
        l->hashing = false;
        if (sha256_finish(l->hash, &digest, err) < 0)
            return -1;
        content_of(&digest, l->inode.content);
    }
    r->borrowed = l->model && (r->link ? inode_same_attributes(&l->inode, l->model->inode)
                                       : inode_same(&l->inode, l->model->inode));
    if (r->borrowed) {
        r->inode = l->model->inode;
        return 0;
    }
    r->inode = arena_alloc(&l->arena, sizeof(*r->inode));
    if (!r->inode)
        return err_nomem(err);
    *r->inode = l->inode;
    return 0;
}

static size_t clean_length(const char *path)
{
    size_t len = strlen(path);

    while (len > 0 && path[len - 1] == '/')
        len--;
    return len == 1 && path[0] == '.' ? 0 : len;
}

static int grow_records(struct listing *l, struct err *err)
{
    size_t cap = l->cap ? l->cap * 2 : 1024;
    struct record *bigger = cap <= UINT32_MAX ? realloc(l->records, cap * sizeof(*bigger)) : NULL;

    if (!bigger)
        return err_nomem(err);
    l->records = bigger;
    l->cap = cap;
    return 0;
}

/* Sets path and link of a new record, and l->model. */
static int name_record(struct listing *l, struct archive_entry *header, struct record *r,
                       struct err *err)
{
    const char *path = archive_entry_pathname(header), *link = archive_entry_hardlink(header);
    _cleanup_free_ char *clean = strndup(path, clean_length(path));

    if (!clean)
        return err_nomem(err);
    l->model = l->like ? find_record(l->like, clean) : NULL;
    r->path = keep_text(&l->arena, clean, strlen(clean), l->model ? l->model->path : NULL);
    if (link)
        r->link = keep_text(&l->arena, link, clean_length(link), l->model ? l->model->link : NULL);
    return r->path && (!link || r->link) ? 0 : err_nomem(err);
}

static int put_entry(struct entry_sink *sink, struct archive_entry *header, struct err *err)
{
    struct listing *l = (struct listing *)sink;
    struct record r = {.order = (uint32_t)l->count};

    if (finish_record(l, err) < 0 || (l->count == l->cap && grow_records(l, err) < 0) ||
        name_record(l, header, &r, err) < 0 || read_inode(l, header, err) < 0)
        return -1;
    l->records[l->count++] = r;
    l->open = true;
    l->hashing = !r.link && S_ISREG(l->inode.mode);
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

/* ---- links ---- */

/* The attributes of the link's header replace those of the file; so do its xattrs, if it has any.
 */
static void apply_link(struct inode *to, const struct inode *link)
{
    to->mode = counted_mode((to->mode & S_IFMT) | (link->mode & 07777));
    to->uid = link->uid;
    to->gid = link->gid;
    to->mtime = link->mtime;
    to->mtime_nsec = link->mtime_nsec;
    if (*link->xattrs)
        to->xattrs = link->xattrs;
}

static int resolve_link(struct listing *l, const struct record *link, struct err *err)
{
    struct record *target = find_record(l, link->link);

    if (!target || target->link)
        return err_set(err, ERR_FORMAT, "hard link %s: its target %s is missing", link->path,
                       link->link);
    if (inode_same_attributes(target->inode, link->inode))
        return 0;
    if (target->borrowed) {
        struct inode *own = arena_alloc(&l->arena, sizeof(*own));
        if (!own)
            return err_nomem(err);
        *own = *target->inode;
        target->inode = own;
        target->borrowed = false;
    }
    apply_link(target->inode, link->inode);
    return 0;
}

/* Gives all names of a file its inode, and the first of its paths as identity. */
static void join_names(struct listing *l, struct record **links, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct record *target = find_record(l, links[i]->link);
        const char *first = target->identity ? target->identity : target->path;
        target->identity = strcmp(links[i]->path, first) < 0 ? links[i]->path : first;
    }
    for (size_t i = 0; i < count; i++) {
        const struct record *target = find_record(l, links[i]->link);
        links[i]->identity = target->identity;
        links[i]->inode = target->inode;
        links[i]->borrowed = target->borrowed;
    }
}

static int by_order(const void *a, const void *b)
{
    const struct record *x = *(struct record *const *)a, *y = *(struct record *const *)b;

    return x->order < y->order ? -1 : x->order > y->order;
}

/* Applies links in the order of the archive, since the last one counts; then joins names. */
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
    join_names(l, links, count);
    return 0;
}

static struct listing *list(const struct image *image, const struct merged_options *options,
                            const struct listing *like, bool unlabelled, struct err *err)
{
    static const struct entry_sink_ops ops = {.entry = put_entry, .data = put_data};
    _cleanup_listing_ struct listing *l = calloc(1, sizeof(*l));
    struct merged_report report;

    if (!l) {
        err_nomem(err);
        return NULL;
    }
    l->base.ops = &ops;
    l->like = like;
    l->unlabelled = unlabelled;
    l->lone_root = options->semantics != SEMANTICS_OVERLAY;
    l->hash = sha256_new(err);
    if (!l->hash)
        return NULL;
    enum merge_result result = merged_entries(image, options, &l->base, &report, err);
    if (result == MERGE_NEEDS_INDEX) {
        struct merged_options again = *options;
        again.indexed = true;
        return list(image, &again, like, unlabelled, err);
    }
    if (result == MERGE_FAILED || finish_record(l, err) < 0 || resolve_links(l, err) < 0)
        return NULL;
    return steal_ptr(&l);
}

struct listing *listing_new(const struct image *image, const struct merged_options *options,
                            const struct listing *like, struct err *err)
{
    return list(image, options, like, false, err);
}

struct listing *listing_new_unlabelled(const struct image *image,
                                       const struct merged_options *options,
                                       const struct listing *like, struct err *err)
{
    return list(image, options, like, true, err);
}
