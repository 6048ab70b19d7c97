#include "flatten/carve/spool/spool.h"

#include "base/fdio.h"
#include "flatten/carve/spool/packer.h"
#include "flatten/layer/attributes.h"
#include "flatten/layer/emit.h"
#include "flatten/merge/tree/array.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 1024 * 1024 };

/* ---- bytes ---- */

static int flush(struct spool *s, struct err *err)
{
    size_t len = s->filled;

    s->filled = 0;
    return spool_write(s->fd, s->block, len, s->at - len, err);
}

static int check_limit(const struct spool *s, uint64_t len, struct err *err)
{
    if (len <= s->limit - (s->at - s->spare))
        return 0;
    return err_set(err, ERR_LIMIT, "the files of the image have more than %" PRIu64 " bytes",
                   s->limit - s->start);
}

/* Leaves a hole of that many bytes. */
static int skip_bytes(struct spool *s, uint64_t len, struct err *err)
{
    if (check_limit(s, len, err) < 0 || flush(s, err) < 0)
        return -1;
    s->at += len;
    return 0;
}

/* NULL data stands for zeros, which become a hole. */
static int put_bytes(struct spool *s, const char *data, uint64_t len, struct err *err)
{
    if (!data)
        return skip_bytes(s, len, err);
    if (check_limit(s, len, err) < 0)
        return -1;
    while (len > 0) {
        size_t part = BLOCK - s->filled;
        if (part > len)
            part = (size_t)len;
        memcpy(s->block + s->filled, data, part);
        s->filled += part;
        s->at += part;
        data += part;
        len -= part;
        if (s->filled == BLOCK && flush(s, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- paths ---- */

/* Returns the node of the path, which is made if it is not there; TREE_NONE with an error. */
static uint32_t node_of(struct spool *s, const char *path, struct err *err)
{
    uint32_t node = TREE_ROOT;

    if (strcmp(path, "./") == 0)
        path = "";
    while (*path && node != TREE_NONE) {
        size_t len = strcspn(path, "/");
        node = tree_child(s->tree, node, path, len, err);
        path += len + (path[len] == '/');
    }
    if (node == TREE_NONE)
        return TREE_NONE;
    if (array_reserve(&s->by_node, &s->node_cap, tree_count(s->tree), sizeof(*s->by_node), err) < 0)
        return TREE_NONE;
    return node;
}

static int add_name(struct spool *s, uint32_t node, const char *target, struct err *err)
{
    uint32_t origin = node_of(s, target, err);

    if (origin == TREE_NONE)
        return -1;
    if (s->by_node[origin] == 0)
        return err_set(err, ERR_FORMAT, "a hard link to a file that is not there");
    struct spool_name *name = ARRAY_PUSH(s, name, names, err);
    if (!name)
        return -1;
    *name = (struct spool_name){node, s->by_node[origin] - 1};
    s->records[name->record].names++;
    s->by_node[node] = s->by_node[origin];
    return 0;
}

static int put_head(struct spool *s, struct archive_entry *header, uint32_t *head, struct err *err)
{
    struct attributes *a = attributes_of(header, err);
    _cleanup_(cleanup_attributes) struct attributes *owned = a;
    const char *target = archive_entry_symlink(header);
    size_t target_len = target ? strlen(target) + 1 : 0;

    if (!a || put_bytes(s, (const char *)a, attributes_size(a), err) < 0)
        return -1;
    *head = (uint32_t)(attributes_size(a) + target_len);
    return put_bytes(s, target ? target : "", target_len, err);
}

/* ---- packed files ---- */

/*
 * Large files, but for rpm's database: its pages are read in an order of their own, and each would
 * unpack a piece.
 */
static bool is_packed(const struct spool *s, const char *path, uint64_t size)
{
    const char *slash = strrchr(path, '/');

    return s->packer && size >= SPOOL_PACKED &&
           strcmp(slash ? slash + 1 : path, "rpmdb.sqlite") != 0;
}

static int reserve(struct spool *s, uint64_t size, struct err *err)
{
    uint64_t room = packer_room(size);

    if (check_limit(s, size, err) < 0 || flush(s, err) < 0)
        return -1;
    s->spare += room - size;
    s->at += room;
    return 0;
}

static int begin_packed(struct spool *s, struct spool_record *record, struct err *err)
{
    uint64_t at = s->at;

    if (reserve(s, record->size, err) < 0)
        return -1;
    record->pieces = (uint32_t)s->pieces.count + 1;
    packer_begin(s->packer, at);
    return 0;
}

static int put_packed(struct spool *s, const void *data, uint64_t len, struct err *err)
{
    if (packer_add(s->packer, data, len, err) < 0)
        return -1;
    if (s->left == 0) {
        packer_end(s->packer);
        s->packing = false;
    }
    return 0;
}

static int add_record(struct spool *s, uint32_t node, struct archive_entry *header, struct err *err)
{
    uint64_t at = s->at;
    uint32_t head;
    bool regular = archive_entry_filetype(header) == AE_IFREG;

    if (put_head(s, header, &head, err) < 0)
        return -1;
    struct spool_record *record = ARRAY_PUSH(s, record, records, err);
    if (!record)
        return -1;
    *record = (struct spool_record){.at = at,
                                    .size = regular ? (uint64_t)archive_entry_size(header) : 0,
                                    .head = head,
                                    .node = node,
                                    .mode = archive_entry_mode(header),
                                    .names = 1};
    s->by_node[node] = (uint32_t)s->record_count;
    s->left = record->size;
    s->packing = is_packed(s, archive_entry_pathname(header), record->size);
    return s->packing ? begin_packed(s, record, err) : 0;
}

/* ---- the sink ---- */

static int put_entry(struct entry_sink *sink, struct archive_entry *header, struct err *err)
{
    struct spool *s = (struct spool *)sink;
    const char *target = archive_entry_hardlink(header);

    if (s->left)
        return err_set(err, ERR_FORMAT, "less content than the header says");
    uint32_t node = node_of(s, archive_entry_pathname(header), err);
    if (node == TREE_NONE)
        return -1;
    if (target)
        return add_name(s, node, target, err);
    return add_record(s, node, header, err);
}

static int put_data(struct entry_sink *sink, const void *data, uint64_t len, struct err *err)
{
    struct spool *s = (struct spool *)sink;

    if (len > s->left)
        return err_set(err, ERR_FORMAT, "more content than the header says");
    s->left -= len;
    return s->packing ? put_packed(s, data, len, err) : put_bytes(s, data, len, err);
}

struct spool *spool_new(int fd, uint64_t at, uint64_t limit, struct err *err)
{
    static const struct entry_sink_ops ops = {.entry = put_entry, .data = put_data};
    _cleanup_spool_ struct spool *s = calloc(1, sizeof(*s));

    if (!s || !(s->block = malloc(BLOCK))) {
        err_nomem(err);
        return NULL;
    }
    s->base.ops = &ops;
    s->fd = fd;
    s->start = s->at = at;
    s->limit = at + limit;
    if (ftruncate(fd, (off_t)at) < 0) {
        err_sys(err, "cannot empty the temporary file");
        return NULL;
    }
    s->tree = tree_new(err);
    return s->tree ? steal_ptr(&s) : NULL;
}

int spool_pack(struct spool *s, const struct compress_options *options, struct err *err)
{
    s->packer = packer_new(s->fd, options, &s->pieces, err);
    s->reader = s->packer ? piece_reader_new(s->fd, err) : NULL;
    return s->reader ? 0 : -1;
}

bool spool_packs(const struct spool *s)
{
    return s->reader;
}

void spool_free(struct spool *s)
{
    cleanup_packer(&s->packer);
    cleanup_piece_reader(&s->reader);
    free(s->pieces.list);
    cleanup_tree(&s->tree);
    free(s->records);
    free(s->names);
    free(s->by_node);
    free(s->block);
    free(s);
}

int spool_finish(struct spool *s, struct err *err)
{
    if (s->left)
        return err_set(err, ERR_FORMAT, "less content than the header says");
    if (flush(s, err) < 0)
        return -1;
    if (s->packer && packer_finish(s->packer, err) < 0)
        return -1;
    if (s->packer)
        packer_free(steal_ptr(&s->packer));
    free(steal_ptr(&s->block));
    /* The file may end in a hole. */
    return ftruncate(s->fd, (off_t)s->at) < 0 ? err_sys(err, "cannot extend the temporary file")
                                              : 0;
}

/* ---- reading ---- */

const struct spool_record *spool_at(const struct spool *s, uint32_t node)
{
    uint32_t number = node < s->node_cap ? s->by_node[node] : 0;

    return number ? &s->records[number - 1] : NULL;
}

/* Returns the header as it was written: attributes, then the target of a symbolic link. */
static struct attributes *read_head(const struct spool *s, const struct spool_record *record,
                                    struct err *err)
{
    _cleanup_free_ struct attributes *a = malloc(record->head + 1);

    if (!a) {
        err_nomem(err);
        return NULL;
    }
    return fd_pread_exact(s->fd, a, record->head, (off_t)record->at, err) < 0 ? NULL
                                                                              : steal_ptr(&a);
}

static const char *target_in(const struct attributes *head)
{
    return (const char *)head + attributes_size(head);
}

struct archive_entry *spool_header(const struct spool *s, const struct spool_record *record,
                                   struct err *err)
{
    _cleanup_free_ struct attributes *head = read_head(s, record, err);
    struct archive_entry *header = head ? attributes_entry(head, err) : NULL;

    if (!header)
        return NULL;
    if (S_ISLNK(record->mode))
        archive_entry_set_symlink(header, target_in(head));
    archive_entry_set_size(header, (int64_t)record->size);
    return header;
}

const char *spool_target(const struct spool *s, const struct spool_record *record, struct buf *out,
                         struct err *err)
{
    _cleanup_free_ struct attributes *head = read_head(s, record, err);

    if (!head)
        return NULL;
    buf_truncate(out, 0);
    buf_puts(out, target_in(head));
    return buf_check(out, err) < 0 ? NULL : out->data;
}

int spool_set_time(const struct spool *s, const struct spool_record *record, int64_t seconds,
                   uint32_t nanoseconds, struct err *err)
{
    _cleanup_free_ struct attributes *head = read_head(s, record, err);

    if (!head)
        return -1;
    attributes_set_time(head, seconds, nanoseconds);
    return fd_pwrite_all(s->fd, head, attributes_size(head), (off_t)record->at, err);
}

const struct piece *spool_pieces(const struct spool *s, const struct spool_record *record)
{
    return record->pieces ? s->pieces.list + record->pieces - 1 : NULL;
}

size_t spool_piece_count(const struct spool_record *record)
{
    return (size_t)((record->size + PIECE_SIZE - 1) / PIECE_SIZE);
}

static int read_pieces(const struct spool *s, const struct piece *pieces, uint64_t offset,
                       char *data, size_t len, struct err *err)
{
    while (len > 0) {
        size_t at = offset % PIECE_SIZE;
        size_t part = PIECE_SIZE - at < len ? PIECE_SIZE - at : len;
        const char *from = piece_read(s->reader, &pieces[offset / PIECE_SIZE], err);
        if (!from)
            return -1;
        memcpy(data, from + at, part);
        data += part;
        offset += part;
        len -= part;
    }
    return 0;
}

int spool_read(const struct spool *s, const struct spool_record *record, uint64_t offset,
               void *data, size_t len, struct err *err)
{
    const struct piece *pieces = spool_pieces(s, record);

    if (pieces)
        return read_pieces(s, pieces, offset, data, len, err);
    return fd_pread_exact(s->fd, data, len, (off_t)(record->at + record->head + offset), err);
}

void spool_drop_rest(const struct spool *s, struct spool_gone *gone)
{
    enum { LEAST = 64 * 1024 };

    if (gone->to - gone->from >= LEAST)
        (void)!fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)gone->from,
                         (off_t)(gone->to - gone->from));
    *gone = (struct spool_gone){0};
}

void spool_drop(const struct spool *s, const struct spool_record *record, struct spool_gone *gone)
{
    const struct piece *pieces = spool_pieces(s, record);

    if (record->at != gone->to) {
        spool_drop_rest(s, gone);
        gone->from = record->at;
    }
    gone->to =
        pieces ? pieces->at + packer_room(record->size) : record->at + record->head + record->size;
}
