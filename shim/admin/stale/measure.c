/* The room and the age of a directory. */
#include "shim/admin/stale/state.h"

#include "base/clock.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH = 128, SECONDS = 10, CLOCK_EVERY = 1024 };

struct measure {
    struct stale_item *item;
    int64_t end; /* clock_ms */
    uint64_t entries;
    bool over; /* the time is */
};

static void count(struct measure *m, const struct stat *st)
{
    uint64_t names = S_ISDIR(st->st_mode) || st->st_nlink == 0 ? 1 : st->st_nlink;

    m->item->bytes += (uint64_t)st->st_blocks * 512 / names;
}

/* Closes `fd`. */
static void measure_directory(struct measure *m, int fd, int depth)
{
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *e;
    struct stat st;

    if (!dir) {
        m->item->partial = true;
        cleanup_fd(&fd);
        return;
    }
    while ((e = readdir(dir))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (++m->entries % CLOCK_EVERY == 0 && clock_ms() > m->end) {
            m->over = m->item->partial = true;
            break;
        }
        if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        count(m, &st);
        if (!S_ISDIR(st.st_mode))
            continue;
        if (depth == DEPTH)
            m->item->partial = true;
        else
            measure_directory(m, store_open(dirfd(dir), e->d_name, O_RDONLY | O_DIRECTORY, true),
                              depth + 1);
        if (m->over)
            break;
    }
    closedir(dir);
}

void stale_measure(int parent, struct stale_item *item)
{
    struct measure m = {.item = item, .end = clock_ms() + SECONDS * 1000};
    struct stat st;

    item->bytes = 0;
    if (fstatat(parent, item->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    count(&m, &st);
    measure_directory(&m, store_open(parent, item->name, O_RDONLY | O_DIRECTORY, true), 0);
}
