/*
 * An engine's configuration on disk: read whole, replaced whole or not at all, and kept aside.
 *
 * A symbolic link is followed: what is replaced is the file behind it. The copy of what was there
 * before the first edit is FILE.flatbed-backup.
 */
#ifndef SHIM_CONFIG_FILE_H
#define SHIM_CONFIG_FILE_H

#include "base/buf.h"
#include "base/cleanup.h"

#include <stdbool.h>
#include <sys/stat.h>

enum { CONFIG_FILE_BYTES = 1024 * 1024 };

#define CONFIG_FILE_BACKUP ".flatbed-backup"

struct config_file {
    char *path; /* of the file itself, no link; owned */
    int fd;     /* -1: there is none */
    struct stat st;
    struct buf text;
    struct buf backup;
    bool has_backup;
};

#define CONFIG_FILE_INIT                                                                           \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/* That there is no such file is no error. */
int config_file_read(const char *path, struct config_file *out, struct err *err) must_check;

/* Keeps the old text aside, in place of an older one; nothing if there is no file. */
int config_file_keep(const struct config_file *file, struct err *err) must_check;

/* Replaces the file, or makes it and the folder that it is in. */
int config_file_write(const struct config_file *file, const struct buf *text,
                      struct err *err) must_check;

int config_file_remove(const struct config_file *file, struct err *err) must_check;
int config_file_remove_backup(const struct config_file *file, struct err *err) must_check;

void config_file_close(struct config_file *file);

#define _cleanup_config_file_ _cleanup_(config_file_close)

#endif
