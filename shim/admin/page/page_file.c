#include "shim/admin/page/page_file.h"

#include "base/fdio.h"
#include "base/path.h"

#include <fcntl.h>
#include <unistd.h>

int page_file_begin(struct page_file *page, const char *path, struct err *err)
{
    const char *name;
    _cleanup_free_ char *parent = path_parent(path, &name);

    page->path = path;
    if (!parent)
        return err_nomem(err);
    page->dirfd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (page->dirfd < 0)
        return err_sys(err, "%s", parent);
    if (atomic_file_begin(&page->file, page->dirfd, name, 0644, err) < 0)
        return err_wrap(err, "%s", path);
    return 0;
}

int page_file_write(struct page_file *page, const struct buf *text, struct err *err)
{
    if (buf_check(text, err) < 0 || fd_write_all(page->file.fd, text->data, text->len, err) < 0)
        return err_wrap(err, "%s", page->path);
    return 0;
}

int page_file_commit(struct page_file *page, struct err *err)
{
    return atomic_file_commit(&page->file, err);
}

void page_file_free(struct page_file *page)
{
    atomic_file_abort(&page->file);
    cleanup_fd(&page->dirfd);
}
