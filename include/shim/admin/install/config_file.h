/*
 * An engine's configuration on disk: read whole, replaced whole or not at all, with a backup.
 *
 * A symbolic link is followed: the file behind it is replaced. FILE.flatbed-backup is the text from
 * before the first edit.
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
    char *path; /* after symbolic links; owned */
    int fd;     /* -1: there is no file */
    struct stat st;
    struct buf text;
    struct buf backup;
    bool has_backup;
};

#define CONFIG_FILE_INIT                                                                           \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/*
 * Reads the file and its backup. No error if there is none. The caller calls config_file_close,
 * also after a failure.
 */
int config_file_read(const char *path, struct config_file *out, struct err *err) must_check;

/* Writes the old text to the backup, in place of an older one; does nothing if there is no file. */
int config_file_keep(const struct config_file *file, struct err *err) must_check;

/* Replaces the file, or makes it and its directory. */
int config_file_write(const struct config_file *file, const struct buf *text,
                      struct err *err) must_check;

/* Removes the file. */
int config_file_remove(const struct config_file *file, struct err *err) must_check;
/* Removes the backup, if there is one. */
int config_file_remove_backup(const struct config_file *file, struct err *err) must_check;

/* Frees the texts and closes the file. */
void config_file_close(struct config_file *file);

#define _cleanup_config_file_ _cleanup_(config_file_close)

/* Prints the change of a file; `removes`: it will not exist. */
int config_file_print_diff(const struct config_file *file, const struct buf *after, bool removes,
                           struct err *err) must_check;

/*
 * Writes the edited file, after its backup if `keep`; or removes it, as an install made it, if
 * `removes`.
 */
int config_file_replace(const struct config_file *file, const struct buf *after, bool keep,
                        bool removes, struct err *err) must_check;

#endif
