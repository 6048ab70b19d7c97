#include "shim/admin/engine/containerd_files.h"

#include "base/fdio.h"
#include "base/path.h"

#include <fcntl.h>
#include <glob.h>
#include <string.h>

static const char plugin_2[] = "io.containerd.grpc.v1.cri";
static const char plugin_3[] = "io.containerd.cri.v1.runtime"; /* and of version 4 */

static bool has_section(const struct toml *toml, const char *plugin)
{
    const char *const path[] = {"plugins", plugin};

    for (size_t i = 0; i < toml->count; i++)
        if (toml_starts_with(&toml->items[i], path, 2))
            return true;
    return false;
}

const char *containerd_plugin(const struct toml *toml, const char *importer, struct err *err)
{
    static const char *const path[] = {"version"};
    const struct toml_item *item = toml_find(toml, path, 1);
    size_t len = item && item->kind == TOML_KEY ? item->value_end - item->value_start : 0;
    char version = len == 1 ? toml->text[item->value_start] : '\0';

    if (toml->count == 0 || version == '2')
        return toml->count == 0 && importer ? importer : plugin_2;
    if (version == '3' || version == '4')
        return plugin_3;
    if (!item && importer) /* containerd 2 migrates such a file; its sections keep their names */
        return has_section(toml, plugin_3) ? plugin_3 : plugin_2;
    err_set(err, ERR_UNSUPPORTED,
            "not of version 2, 3 or 4 (a file without \"version\" is of version 1); "
            "'containerd config migrate' prints it in a newer one");
    return NULL;
}

bool containerd_plugin_is_old(const char *plugin)
{
    return strcmp(plugin, plugin_2) == 0;
}

/* ---- the list ---- */

static bool is_listed(const struct containerd_files *files, const char *path)
{
    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->list[i].path, path) == 0)
            return true;
    return false;
}

/* Adds a file that is not read yet. */
static int add_path(struct containerd_files *files, const char *path, struct err *err)
{
    if (is_listed(files, path))
        return 0;
    if (files->count == CONTAINERD_FILES_MOST)
        return err_set(err, ERR_LIMIT, "%s: containerd's configuration has more than %d files",
                       path, CONTAINERD_FILES_MOST);
    struct containerd_file *list =
        arena_extend(&files->arena, files->list, files->count, sizeof(*list));
    const char *copy = arena_strndup(&files->arena, path, strlen(path));
    if (!list || !copy)
        return err_nomem(err);
    files->list = list;
    list[files->count++] = (struct containerd_file){.path = copy};
    return 0;
}

static bool is_dots(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Adds the files of a pattern as Go's filepath.Glob lists them: by name, with those of a dot. */
static int add_glob(struct containerd_files *files, const char *pattern, struct err *err)
{
    glob_t found = {0};
    int rc = glob(pattern, GLOB_PERIOD, NULL, &found);

    for (size_t i = 0; rc == 0 && i < found.gl_pathc; i++)
        if (!is_dots(found.gl_pathv[i]))
            rc = add_path(files, found.gl_pathv[i], err);
    globfree(&found);
    if (rc == GLOB_NOSPACE)
        return err_nomem(err);
    return rc == GLOB_NOMATCH ? 0 : rc;
}

/* Returns the import as an absolute path in clean form; the caller frees it. */
static char *absolute_import(const char *parent, const char *import, struct err *err)
{
    const char *name;
    _cleanup_free_ char *dir = path_parent(parent, &name);
    _cleanup_free_ char *joined = !dir               ? NULL
                                  : import[0] == '/' ? strdup(import)
                                                     : strf("%s/%s", dir, import);
    _cleanup_buf_ struct buf clean = BUF_INIT;

    if (!joined) {
        err_nomem(err);
        return NULL;
    }
    if (joined[0] != '/')
        return steal_ptr(&joined);
    buf_putc(&clean, '/');
    if (path_clean(joined, strlen(joined), &clean, err) < 0)
        return NULL;
    return buf_take(&clean, err);
}

static int add_imports(struct containerd_files *files, const struct containerd_file *file,
                       struct err *err)
{
    static const char *const path[] = {"imports"};
    const struct toml_item *item = toml_find(&file->toml, path, 1);
    const char *parent = file->path; /* the list may move */
    struct toml_texts imports;

    if (!item)
        return 0;
    if (!toml_texts(&file->toml, item, &files->arena, &imports))
        return err_set(err, ERR_UNSUPPORTED, "%s: line %zu: 'imports' is not a list of plain texts",
                       parent, toml_line(&file->toml, item->start));
    for (size_t i = 0; i < imports.count; i++) {
        _cleanup_free_ char *import = absolute_import(parent, imports.items[i], err);
        if (!import ||
            (strchr(import, '*') ? add_glob(files, import, err) : add_path(files, import, err)) < 0)
            return -1;
    }
    return 0;
}

static int read_file(struct containerd_files *files, size_t index, struct err *err)
{
    struct containerd_file *file = &files->list[index];
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (file_read(AT_FDCWD, file->path, TOML_BYTES, &text, err) < 0)
        return -1;
    const char *copy = arena_strndup(&files->arena, text.data ? text.data : "", text.len);
    if (!copy)
        return err_nomem(err);
    if (toml_scan(copy, text.len, &files->arena, &file->toml, err) < 0)
        return err_wrap(err, "%s", file->path);
    file->plugin = containerd_plugin(&file->toml, index ? files->list[0].plugin : NULL, err);
    if (!file->plugin)
        return err_wrap(err, "%s", file->path);
    file->has_plugin = has_section(&file->toml, file->plugin);
    return add_imports(files, file, err);
}

int containerd_files_read(const char *path, struct containerd_files *out, struct err *err)
{
    *out = (struct containerd_files){.arena = {.limit = 256u * 1024 * 1024}};
    if (access(path, F_OK) < 0 && errno == ENOENT)
        return 0;
    if (add_path(out, path, err) < 0)
        return -1;
    for (size_t i = 0; i < out->count; i++)
        if (read_file(out, i, err) < 0)
            return -1;
    return 0;
}

const struct containerd_file *containerd_files_last(const struct containerd_files *files)
{
    for (size_t i = files->count; i-- > 0;)
        if (files->list[i].has_plugin)
            return &files->list[i];
    return files->count ? &files->list[0] : NULL;
}

void containerd_files_free(struct containerd_files *files)
{
    arena_free(&files->arena);
    *files = (struct containerd_files){0};
}
