#include "shim/stage/copy/survey.h"

#include "base/hash.h"

#include <string.h>

void survey_begin(struct survey *survey)
{
    *survey = (struct survey){.totals.open = true};
    pthread_mutex_init(&survey->mutex, NULL);
}

void survey_end(struct survey *survey, struct stage_totals *out)
{
    *out = survey->totals;
    pthread_mutex_destroy(&survey->mutex);
}

/* The attributes that tell one version of a file from the next. The inode's number is not among
 * them: file systems of FUSE invent a new one at each look. */
struct attributes {
    uint32_t mode, uid, gid, unused;
    uint64_t size;
    int64_t seconds[2];
    uint32_t nanoseconds[2];
};

static void hash_entry(const char *path, const struct statx *st, uint64_t out[2])
{
    const struct attributes a = {
        .mode = st->stx_mode,
        .uid = st->stx_uid,
        .gid = st->stx_gid,
        .size = S_ISDIR(st->stx_mode) ? 0 : st->stx_size,
        .seconds = {st->stx_mtime.tv_sec, st->stx_ctime.tv_sec},
        .nanoseconds = {st->stx_mtime.tv_nsec, st->stx_ctime.tv_nsec},
    };

    for (uint64_t lane = 0; lane < 2; lane++)
        out[lane] = hash_bytes_by(&hash_key_shared, &a, sizeof(a),
                                  hash_bytes_by(&hash_key_shared, path, strlen(path), lane));
}

/* True if others may read it, and list and enter it if it is a directory. */
static bool is_open(const struct statx *st)
{
    unsigned mode = st->stx_mode;

    if (S_ISLNK(mode))
        return true;
    return (mode & S_IROTH) && (!S_ISDIR(mode) || (mode & S_IXOTH));
}

static bool is_left_out(unsigned mode)
{
    return S_ISCHR(mode) || S_ISBLK(mode) || S_ISSOCK(mode);
}

/* Bytes that a copy takes: whole blocks, without holes, and an inode. */
static uint64_t room_of(const struct statx *st)
{
    enum { BLOCK = 4096, SECTOR = 512 };
    uint64_t held = st->stx_blocks * SECTOR;
    uint64_t size = S_ISREG(st->stx_mode) && held < st->stx_size ? held : st->stx_size;

    return (size + BLOCK - 1) / BLOCK * BLOCK + SECTOR;
}

void survey_add(struct survey *survey, const char *path, const struct statx *st)
{
    struct stage_totals *t = &survey->totals;
    uint64_t hash[2];

    hash_entry(path, st, hash);
    pthread_mutex_lock(&survey->mutex);
    t->manifest[0] += hash[0]; /* a sum, as threads come in any order */
    t->manifest[1] += hash[1];
    t->open = t->open && is_open(st);
    if (S_ISDIR(st->stx_mode))
        t->directories++;
    else if (is_left_out(st->stx_mode))
        t->left_out++;
    else
        t->files++;
    if (S_ISREG(st->stx_mode))
        t->bytes += st->stx_size;
    t->room += room_of(st);
    pthread_mutex_unlock(&survey->mutex);
}

bool survey_equal(const struct stage_totals *a, const struct stage_totals *b)
{
    return memcmp(a->manifest, b->manifest, sizeof(a->manifest)) == 0 && a->files == b->files &&
           a->directories == b->directories && a->bytes == b->bytes && a->left_out == b->left_out;
}

static int add_entry(void *context, struct tree_thread *thread, const struct tree_entry *entry,
                     struct err *err)
{
    (void)thread;
    (void)err;
    survey_add(context, entry->path, &entry->st);
    return 0;
}

int survey_tree(int top, const struct user_ids *user, struct stage_totals *out, struct err *err)
{
    struct survey survey;
    const struct tree_visitor visitor = {add_entry, add_entry, &survey};

    survey_begin(&survey);
    int rc = tree_walk(top, user, &visitor, err);
    survey_end(&survey, out);
    return rc;
}
