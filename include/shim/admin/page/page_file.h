/* The file of --html: it appears under its name when it is whole. */
#ifndef SHIM_PAGE_FILE_H
#define SHIM_PAGE_FILE_H

#include "base/buf.h"
#include "base/files/atomic_file.h"

struct page_file {
    const char *path; /* as it was given; borrowed */
    int dirfd;        /* owned */
    struct atomic_file file;
};

#define PAGE_FILE_INIT                                                                             \
    {                                                                                              \
        .dirfd = -1, .file = ATOMIC_FILE_INIT                                                      \
    }

/* Makes the temporary file beside the path. */
int page_file_begin(struct page_file *page, const char *path, struct err *err) must_check;

/* Writes a part of the page. Fails also if the text is incomplete. */
int page_file_write(struct page_file *page, const struct buf *text, struct err *err) must_check;

/* Gives the file its name. */
int page_file_commit(struct page_file *page, struct err *err) must_check;

/* Removes a file that has no name yet. Safe on PAGE_FILE_INIT and after a commit. */
void page_file_free(struct page_file *page);

#define _cleanup_page_file_ _cleanup_(page_file_free)

#endif
