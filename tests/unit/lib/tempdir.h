/* A temporary directory for each test, made by cmocka's setup: *state is a struct tempdir. */
#ifndef TESTS_TEMPDIR_H
#define TESTS_TEMPDIR_H

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct tempdir {
    int fd;
    char path[64];
};

static inline int tempdir_remove_one(const char *path, const struct stat *st, int kind,
                                     struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

static inline int tempdir_make(void **state)
{
    struct tempdir *dir = malloc(sizeof(*dir));

    if (!dir)
        return -1;
    snprintf(dir->path, sizeof(dir->path), "/tmp/flatbed-unit.XXXXXX");
    if (!mkdtemp(dir->path) ||
        (dir->fd = open(dir->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) {
        free(dir);
        return -1;
    }
    *state = dir;
    return 0;
}

static inline int tempdir_remove(void **state)
{
    struct tempdir *dir = *state;
    int rc = nftw(dir->path, tempdir_remove_one, 8, FTW_DEPTH | FTW_PHYS);

    close(dir->fd);
    free(dir);
    return rc;
}

#endif
