#include "flatten/image/archive_members.h"

#include "base/fdio.h"
#include "base/hash.h"
#include "base/path.h"
#include "flatten/image/image.h"
#include "flatten/stream/interrupt.h"
#include "flatten/stream/stream.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

enum { MOST_MEMBERS = 100000, MOST_LINKS = 8 };

void members_clear(struct members *m)
{
    for (size_t i = 0; i < m->count; i++) {
        free(m->list[i].name);
        free(m->list[i].link);
    }
    free(m->list);
    free(m->by_name);
    cleanup_fd(&m->fd);
}

static char *clean_name(const char *text, struct err *err)
{
    _cleanup_buf_ struct buf clean = BUF_INIT;
    size_t len = strlen(text);

    if (len >= PATH_MAX) {
        err_set(err, ERR_LIMIT, "a member's name of %zu bytes", len);
        return NULL;
    }
    if (path_clean(text, len, &clean, err) < 0) {
        err_wrap(err, "%s", text);
        return NULL;
    }
    return buf_take(&clean, err);
}

static int add_member(struct members *m, struct archive *a, struct archive_entry *entry,
                      struct err *err)
{
    const char *name = archive_entry_pathname(entry);
    const char *hard = archive_entry_hardlink(entry), *soft = archive_entry_symlink(entry);
    const char *link = hard ? hard : soft;

    if (!name)
        return err_set(err, ERR_FORMAT, "a member has no name");
    if (m->count == MOST_MEMBERS)
        return err_set(err, ERR_LIMIT, "more than %d members", MOST_MEMBERS);
    if (m->count == m->cap) {
        size_t cap = m->cap ? m->cap * 2 : 64;
        struct member *list = realloc(m->list, cap * sizeof(*list));
        if (!list)
            return err_nomem(err);
        m->list = list;
        m->cap = cap;
    }
    struct member *member = &m->list[m->count];
    *member = (struct member){.offset = archive_filter_bytes(a, 0), .hard = hard != NULL};
    member->size = (uint64_t)archive_entry_size(entry);
    member->name = clean_name(name, err);
    if (!member->name)
        return -1;
    m->count++;
    if (link && strlen(link) >= PATH_MAX)
        return err_set(err, ERR_LIMIT, "%s: a link to a name of %zu bytes", member->name,
                       strlen(link));
    if (link && !(member->link = strdup(link)))
        return err_nomem(err);
    return 0;
}

static int scan_entries(struct members *m, struct archive *a, struct err *err)
{
    struct archive_entry *entry;
    int rc;

    while ((rc = archive_read_next_header(a, &entry)) == ARCHIVE_OK || rc == ARCHIVE_WARN) {
        mode_t type = archive_entry_filetype(entry);
        bool linked = archive_entry_hardlink(entry) != NULL;
        if ((type == AE_IFREG || type == AE_IFLNK || linked) && add_member(m, a, entry, err) < 0)
            return -1;
    }
    if (rc == ARCHIVE_EOF)
        return 0;
    if (m->count == 0)
        return err_set(err, ERR_FORMAT, "not an archive of images: %s", archive_error_string(a));
    return err_set(err, ERR_FORMAT, "the archive is damaged behind its member %s: %s",
                   m->list[m->count - 1].name, archive_error_string(a));
}

/*
 * archive_read_open_fd is not for a sandbox: it asks for the kind of the file by newfstatat, a
 * system call that takes names as well.
 */
struct scan {
    int fd;
    off_t end;
    char block[64 * 1024];
};

static la_ssize_t on_read(struct archive *a, void *ctx, const void **data)
{
    struct scan *s = ctx;
    ssize_t n;

    do
        n = read(s->fd, s->block, sizeof(s->block));
    while (n < 0 && errno == EINTR && !interrupted());
    if (n < 0)
        archive_set_error(a, errno, "%s", strerror(errno));
    *data = s->block;
    return n;
}

static la_int64_t on_skip(struct archive *a, void *ctx, la_int64_t len)
{
    const struct scan *s = ctx;
    off_t at = lseek(s->fd, 0, SEEK_CUR);

    (void)a;
    if (at < 0 || len > s->end - at) /* the archive is cut: reading will show it */
        return 0;
    return lseek(s->fd, at + len, SEEK_SET) < 0 ? 0 : len;
}

/* Returns the slot of the name, or the free one where it would be. */
static uint32_t *slot_of(const struct members *m, const char *name)
{
    size_t at = (size_t)hash_bytes(name, strlen(name), 0) & m->mask;

    while (m->by_name[at] && strcmp(m->list[m->by_name[at] - 1].name, name) != 0)
        at = (at + 1) & m->mask;
    return &m->by_name[at];
}

/*
 * Makes a table of the members by name: an archive may have a thousand layers and a hundred
 * thousand members. The last of several with one name counts.
 */
static int index_members(struct members *m, struct err *err)
{
    size_t size = 2;

    while (size < 2 * m->count)
        size *= 2;
    m->by_name = calloc(size, sizeof(*m->by_name));
    if (!m->by_name)
        return err_nomem(err);
    m->mask = size - 1;
    for (size_t i = 0; i < m->count; i++)
        *slot_of(m, m->list[i].name) = (uint32_t)i + 1;
    return 0;
}

int members_scan(struct members *m, struct err *err)
{
    struct scan scan = {.fd = m->fd, .end = lseek(m->fd, 0, SEEK_END)};

    if (scan.end < 0 || lseek(m->fd, 0, SEEK_SET) < 0)
        return err_sys(err, "seek");
    if (scan.end == 0)
        return err_set(err, ERR_FORMAT, "is empty, and no archive of images");
    struct archive *a = archive_read_new();
    if (!a)
        return err_nomem(err);
    int rc = -1;
    if (archive_read_support_format_tar(a) != ARCHIVE_OK ||
        archive_read_open2(a, &scan, NULL, on_read, on_skip, NULL) != ARCHIVE_OK)
        err_set(err, ERR_FORMAT, "not a tar archive: %s", archive_error_string(a));
    else
        rc = scan_entries(m, a, err);
    archive_read_free(a);
    return rc < 0 ? -1 : index_members(m, err);
}

const struct member *members_find(const struct members *m, const char *name)
{
    uint32_t number = *slot_of(m, name);

    return number ? &m->list[number - 1] : NULL;
}

/* A symbolic link starts at its own directory, a hard link at the root. */
const struct member *members_lookup(const struct members *m, const char *name, struct err *err)
{
    _cleanup_free_ char *at = clean_name(name, err);

    for (int links = 0; at && links < MOST_LINKS; links++) {
        const struct member *found = members_find(m, at);
        if (!found) {
            err_set(err, ERR_FORMAT, "%s is not in the archive", name);
            return NULL;
        }
        if (!found->link)
            return found;
        const char *slash = strrchr(found->name, '/');
        int dir = found->hard || !slash ? 0 : (int)(slash - found->name);
        _cleanup_free_ char *joined = strf("%.*s/%s", dir, found->name, found->link);
        free(at);
        at = joined ? clean_name(joined, err) : NULL;
    }
    if (at)
        err_set(err, ERR_FORMAT, "%s: too many links", name);
    return NULL;
}

int members_read(const struct members *m, const char *name, size_t limit, struct buf *out,
                 struct err *err)
{
    const struct member *member = members_lookup(m, name, err);

    if (!member)
        return -1;
    if (member->size > limit)
        return err_set(err, ERR_LIMIT, "%s has more than %zu bytes", name, limit);
    char *end = buf_reserve(out, (size_t)member->size);
    if (!end)
        return err_nomem(err);
    if (fd_pread_exact(m->fd, end, (size_t)member->size, member->offset, err) < 0)
        return err_wrap(err, "%s", name);
    out->len += (size_t)member->size;
    out->data[out->len] = '\0';
    return 0;
}

int members_plain(int fd, bool regular, uint64_t max_ratio, spool_new *spool, void *ctx,
                  struct err *err)
{
    struct unpack_budget budget = {.ratio = max_ratio};
    enum compression kind;
    struct stream *raw = stream_fd(fd, err);
    _cleanup_stream_ struct stream *s = raw ? stream_unpack(raw, &budget, &kind, err) : NULL;

    if (!s)
        return -1;
    if (regular && kind == COMPRESSION_NONE) {
        int same = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        return same < 0 ? err_sys(err, "dup") : same;
    }
    _cleanup_fd_ int copy = spool(ctx, err);
    return copy < 0 || stream_copy(s, copy, LAYER_MAX_SIZE, err) < 0 ? -1 : steal_fd(&copy);
}
