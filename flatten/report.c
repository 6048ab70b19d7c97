#include "flatten/report.h"

#include "base/fdio.h"

#include <fcntl.h>
#include <string.h>

/* Made from flatten/report/ by the build. */
extern const char report_template[], report_style[], report_script[];

void report_put_data(struct buf *out, const char *json, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)json[i];
        if (c == '<' || c == '>' || c == '&')
            buf_printf(out, "\\u%04x", c);
        else if (len - i >= 3 && (memcmp(json + i, "\xe2\x80\xa8", 3) == 0 ||
                                  memcmp(json + i, "\xe2\x80\xa9", 3) == 0))
            buf_printf(out, "\\u202%c", json[i += 2] == '\xa8' ? '8' : '9');
        else
            buf_putc(out, json[i]);
    }
}

static int put_images(const struct analysis *list, size_t count, struct buf *out, struct err *err)
{
    _cleanup_buf_ struct buf json = BUF_INIT;

    buf_puts(&json, "{\"version\":1,\"images\":[");
    for (size_t i = 0; i < count; i++) {
        buf_puts(&json, i ? "," : "");
        analysis_put_json(&list[i], &json);
        if (buf_check(&json, err) < 0)
            return -1;
        buf_truncate(&json, json.len - 1);
        buf_puts(&json, ",\"tree\":");
        if (report_put_tree(&list[i].strata, &json, err) < 0)
            return -1;
        buf_putc(&json, '}');
    }
    buf_puts(&json, "]}");
    if (buf_check(&json, err) < 0)
        return -1;
    report_put_data(out, json.data, json.len);
    return 0;
}

int report_make(const struct analysis *list, size_t count, struct buf *out, struct err *err)
{
    const char *rest = report_template, *mark;

    while ((mark = strchr(rest, '@'))) {
        buf_append(out, rest, (size_t)(mark - rest));
        rest = mark + strcspn(mark + 1, "@") + 2;
        if (strncmp(mark, "@STYLE@", 7) == 0)
            buf_puts(out, report_style);
        else if (strncmp(mark, "@SCRIPT@", 8) == 0)
            buf_puts(out, report_script);
        else if (put_images(list, count, out, err) < 0)
            return -1;
    }
    buf_puts(out, rest);
    return buf_check(out, err);
}

static int write_file(const struct buf *page, const char *path, struct err *err)
{
    _cleanup_atomic_file_ struct atomic_file file = ATOMIC_FILE_INIT;
    const char *slash = strrchr(path, '/');
    _cleanup_free_ char *folder =
        slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");

    if (!folder)
        return err_nomem(err);
    _cleanup_fd_ int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return err_sys(err, "%s", folder);
    if (atomic_file_begin(&file, dir, slash ? slash + 1 : path, 0666, err) < 0 ||
        fd_write_all(file.fd, page->data, page->len, err) < 0)
        return -1;
    return atomic_file_commit(&file, err);
}

int report_write(const struct analysis *list, size_t count, const char *path, struct err *err)
{
    _cleanup_buf_ struct buf page = BUF_INIT;

    if (report_make(list, count, &page, err) < 0)
        return -1;
    return write_file(&page, path, err) < 0 ? err_wrap(err, "%s", path) : 0;
}
