#include "shim/warm/warm_root.h"

#include "shim/warm/read/residency.h"
#include "shim/warm/read/warm_open.h"
#include "shim/warm/warm_session.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>

int warm_root_open(const struct warm_store *store, const struct warm_place *place,
                   struct arena *arena, struct warm_root *out, struct err *unreadable,
                   struct err *err)
{
    *out = (struct warm_root){.place = *place, .locked = -1};
    out->dirs = arena_alloc(arena, place->count * sizeof(*out->dirs));
    if (!out->dirs)
        return err_nomem(err);
    for (; out->dir_count < place->count; out->dir_count++)
        out->dirs[out->dir_count] =
            open(place->paths[out->dir_count], O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    out->locked = warm_store_lock(store, place->key, err);
    if (out->locked < 0)
        return err->kind == ERR_LIMIT ? 0 : -1;
    if (warm_store_read(store, place->key, place->of, arena, &out->record, unreadable) == 0)
        out->known = true;
    else if (err_missing(unreadable))
        *unreadable = (struct err)ERR_INIT;
    if (!out->known)
        out->record = (struct warm_record){.image = "", .off = "", .of = place->of};
    return 0;
}

void warm_root_close(struct warm_root *root, const struct warm_store *store)
{
    for (size_t i = 0; i < root->dir_count; i++)
        cleanup_fd(&root->dirs[i]);
    root->dir_count = 0;
    if (root->locked >= 0 && !root->known)
        unlinkat(store->fd, root->place.key, AT_REMOVEDIR); /* stays unless it is empty */
    cleanup_fd(&root->locked);
    root->locked = -1;
}

int warm_root_plan(struct warm_root *root, struct arena *arena, struct err *err)
{
    const struct warm_record *r = &root->record;

    root->items = arena_alloc(arena, (r->count + 1) * sizeof(*root->items));
    if (!root->items)
        return err_nomem(err);
    for (size_t i = 0; i < r->count; i++)
        if (r->files[i].layer < root->dir_count)
            root->items[root->item_count++] =
                (struct read_item){.dir = root->dirs[r->files[i].layer], .file = &r->files[i]};
    return 0;
}

int warm_root_gain(const struct warm_root *root, const struct warm_session *session)
{
    uint64_t spared = 0, missed = 0;

    for (size_t i = 0; i < root->item_count; i++) {
        const struct read_item *item = &root->items[i];
        const struct warm_seen *seen = warm_session_find(session, root->part, item->file->path);
        if (!item->at)
            continue;
        missed += item->read;
        if (seen)
            spared += item->read;
        if (seen && !seen->blind && seen->at < item->at && item->cached > seen->early)
            missed += item->cached - seen->early; /* the container was faster */
    }
    return missed == 0 || missed < root->record.bytes / 20 ? -1 : (int)(spared * 100 / missed);
}

/* ---- recording ---- */

struct found {
    struct warm_file file;
    uint64_t position; /* on the disk */
};

struct recording {
    struct warm_root *root;
    struct arena *arena;
    struct found *list;
    size_t count, ranges;
    uint64_t left; /* bytes of files that are still looked at */
    bool whole;
};

/* A container can make files of terabytes out of holes; looking at one TB takes ten seconds. */
static const uint64_t most_looked_at = (uint64_t)256 << 30;

/* Opens a file in the topmost directory that has it, and sets its layer. */
static int open_file(const struct warm_root *root, const char *path, uint32_t *layer,
                     struct stat *st)
{
    for (size_t i = 0; i < root->dir_count; i++) {
        int fd = warm_open(root->dirs[i], path, st);
        if (fd < 0)
            continue;
        *layer = (uint32_t)i;
        return fd;
    }
    return -1;
}

static int add_file(struct recording *r, const struct warm_seen *seen, struct err *err)
{
    struct found *f = &r->list[r->count];
    const struct warm_file *before = NULL;
    struct stat st;

    *f = (struct found){.file.path = seen->path};
    _cleanup_fd_ int fd = open_file(r->root, seen->path, &f->file.layer, &st);
    if (fd < 0 || (uint64_t)st.st_size > r->left)
        return 0;
    r->left -= (uint64_t)st.st_size;
    if (seen->blind) {
        before = warm_record_find(&r->root->record, seen->path, f->file.layer);
        if (before)
            f->file = *before;
        else
            r->whole = false;
    } else if (residency_ranges(fd, (uint64_t)st.st_size, r->arena, &f->file.ranges, &f->file.count,
                                err) < 0) {
        return -1;
    }
    if (!f->file.count || r->ranges + f->file.count > WARM_RANGES)
        return 0;
    f->position = residency_position(fd, f->file.ranges[0].start);
    f->file.path = arena_strndup(r->arena, seen->path, strlen(seen->path));
    r->ranges += f->file.count;
    r->count++;
    return f->file.path ? 0 : err_nomem(err);
}

static int by_position(const void *a, const void *b)
{
    const struct found *x = a, *y = b;

    return (x->position > y->position) - (x->position < y->position);
}

int warm_root_record(struct warm_root *root, const struct warm_session *session, bool ended,
                     struct arena *arena, bool *better, struct err *err)
{
    struct recording r = {
        .root = root, .arena = arena, .left = most_looked_at, .whole = !ended && !session->lost};
    struct warm_record made = root->record;

    r.list = arena_alloc(arena, (session->count + 1) * sizeof(*r.list));
    made.files = arena_alloc(arena, (session->count + 1) * sizeof(*made.files));
    if (!r.list || !made.files)
        return err_nomem(err);
    for (size_t i = 0; i < session->count; i++)
        if (session->list[i].part == root->part && add_file(&r, &session->list[i], err) < 0)
            return -1;
    qsort(r.list, r.count, sizeof(*r.list), by_position);
    for (size_t i = 0; i < r.count; i++)
        made.files[i] = r.list[i].file;
    made.count = r.count;
    made.whole = r.whole;
    made.recorded = (uint64_t)time(NULL);
    warm_record_sum(&made);
    *better = made.count && (!root->known || !ended || made.bytes > root->record.bytes);
    if (*better)
        root->record = made;
    return 0;
}
