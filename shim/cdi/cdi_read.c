/* Finds the specifications of this host. */
#include "base/fdio.h"
#include "shim/cdi/cdi.h"
#include "shim/cdi/cdi_yaml.h"
#include "shim/mount/source.h"

#include <dirent.h>
#include <string.h>

enum { SPEC_BYTES = 4 * 1024 * 1024, MOST_SPECS = 256 };

static bool ends_with(const char *name, const char *end)
{
    size_t len = strlen(name), tail = strlen(end);

    return len > tail && strcmp(name + len - tail, end) == 0;
}

/* Parses a specification; NULL if it is none. */
static struct json_doc *parse_spec(const char *path, struct buf *text)
{
    static const struct json_options options = {.max_bytes = SPEC_BYTES, .unique_keys = true};
    struct err ignored;

    return ends_with(path, ".json") ? json_parse_buf(text, &options, &ignored)
                                    : cdi_yaml_parse(text->data, text->len, &ignored);
}

static int read_spec(struct cdi *cdi, const char *path, struct arena *arena, struct err *err)
{
    _cleanup_fd_ int fd = source_open_trusted(path);
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;

    if (fd < 0 || fd_read_all(fd, SPEC_BYTES, &text, &ignored) < 0 || !text.data)
        return buf_check(&text, err);
    _cleanup_json_ struct json_doc *doc = parse_spec(path, &text);
    if (!doc)
        return 0;
    const struct json *root = json_root(doc);
    return cdi_add(cdi, ends_with(path, ".json") ? root : json_get(root, "spec"), arena, err);
}

static int read_directory(struct cdi *cdi, const char *path, struct arena *arena, struct err *err)
{
    const struct dirent *entry;
    DIR *dir = opendir(path);
    int rc = 0;

    for (int count = 0; dir && rc == 0 && count < MOST_SPECS && (entry = readdir(dir)) != NULL;) {
        if (!ends_with(entry->d_name, ".json") && !ends_with(entry->d_name, ".yaml"))
            continue;
        count++;
        _cleanup_free_ char *name = strf("%s/%s", path, entry->d_name);
        rc = name ? read_spec(cdi, name, arena, err) : err_nomem(err);
    }
    if (dir)
        closedir(dir);
    return rc;
}

int cdi_read(struct cdi *cdi, struct arena *arena, struct err *err)
{
    if (cdi->read)
        return 0;
    cdi->read = true;
    return read_directory(cdi, "/etc/cdi", arena, err) < 0 ||
                   read_directory(cdi, "/var/run/cdi", arena, err) < 0
               ? -1
               : 0;
}
