#include "shim/oci/launch_mark.h"

#include "base/fdio.h"
#include "shim/host/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>

enum { PLACES = 3 };

/* The directories in which the container could be; the caller frees them. */
struct places {
    char *list[PLACES];
    size_t count;
    bool failed;
};

static void places_free(struct places *p)
{
    for (size_t i = 0; i < p->count; i++)
        free(p->list[i]);
}

#define _cleanup_places_ _cleanup_(places_free)

static void places_add(struct places *p, const char *root, const char *below, const char *id)
{
    char *path = strf("%s%s/%s", root, below, id);

    if (path)
        p->list[p->count++] = path;
    else
        p->failed = true;
}

static void places_find(const char *root, const char *id, struct places *out)
{
    const char *users = getenv("XDG_RUNTIME_DIR");

    *out = (struct places){0};
    if (root) {
        places_add(out, root, "", id);
        return;
    }
    places_add(out, "/run/runc", "", id);
    places_add(out, "/run/crun", "", id);
    if (users && users[0] == '/')
        places_add(out, users, "/crun", id);
}

/* Returns true unless there is certainly no such file. */
static bool may_exist(const char *path)
{
    return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
           (errno != ENOENT && errno != ENOTDIR);
}

struct json *launch_mark_make(struct json_doc *doc, const char *root, const char *id)
{
    _cleanup_places_ struct places places;
    struct process self = process_self();
    struct json *mark = json_object(doc);

    places_find(root, id, &places);
    json_set(doc, mark, "pid", json_number(doc, (uint64_t)self.pid));
    json_set(doc, mark, "start", json_number(doc, self.start));
    for (size_t i = 0; i < places.count; i++)
        json_append(doc, json_list(doc, mark, "places"), json_string(doc, places.list[i]));
    return places.failed ? NULL : mark;
}

static bool read_process(const struct json *mark, struct process *out)
{
    uint64_t pid;

    if (!json_u64(json_get(mark, "pid"), &pid) || !json_u64(json_get(mark, "start"), &out->start) ||
        pid == 0 || pid > INT32_MAX)
        return false;
    out->pid = (pid_t)pid;
    return true;
}

bool launch_mark_runs(const struct json *mark)
{
    struct process p;

    return read_process(mark, &p) && !process_ended(&p) && !process_is_above(&p);
}

static const struct json *places_of(const struct json *mark)
{
    const struct json *places = json_get(mark, "places");

    return json_is(places, JSON_ARRAY) && json_count(places) ? places : NULL;
}

bool launch_mark_kept(const struct json *mark)
{
    const struct json *places = places_of(mark);

    for (size_t i = 0; i < json_count(places); i++) {
        const char *path = json_text(json_at(places, i));
        if (path && may_exist(path))
            return true;
    }
    return false;
}

bool launch_mark_over(const struct json *mark)
{
    struct process p;

    return places_of(mark) && read_process(mark, &p) && process_ended(&p) &&
           !launch_mark_kept(mark);
}

bool container_kept(const char *root, const char *id)
{
    _cleanup_places_ struct places places;

    places_find(root, id, &places);
    for (size_t i = 0; i < places.count; i++)
        if (may_exist(places.list[i]))
            return true;
    return places.failed;
}

/* The files of runc and crun, and where they have the first process. */
static const struct {
    const char *name, *pid, *start;
} files[] = {{"state.json", "init_process_pid", "init_process_start"},
             {"status", "pid", "process-start-time"}};

enum { FILES = sizeof(files) / sizeof(*files), FILE_BYTES = 16 * 1024 * 1024 };

bool container_exists(const char *root, const char *id)
{
    _cleanup_places_ struct places places;

    places_find(root, id, &places);
    for (size_t i = 0; i < places.count * FILES; i++) {
        _cleanup_free_ char *path = strf("%s/%s", places.list[i / FILES], files[i % FILES].name);
        if (path && access(path, F_OK) == 0)
            return true;
    }
    return false;
}

/* Reads the file of a runtime. Returns 0 if it is not there. */
static int read_container(const char *path, size_t file, struct process *out, struct err *err)
{
    static const struct json_options options = {.max_bytes = FILE_BYTES};
    _cleanup_buf_ struct buf text = BUF_INIT;
    uint64_t pid;

    if (file_read(AT_FDCWD, path, FILE_BYTES, &text, err) < 0)
        return err_missing(err) ? 0 : -1;
    _cleanup_json_ struct json_doc *doc = json_parse_buf(&text, &options, err);
    if (!doc)
        return err_wrap(err, "%s", path);
    if (!json_u64(json_get(json_root(doc), files[file].pid), &pid) || pid == 0 || pid > INT32_MAX ||
        !json_u64(json_get(json_root(doc), files[file].start), &out->start))
        return err_set(err, ERR_FORMAT, "%s: no process", path);
    out->pid = (pid_t)pid;
    return 1;
}

int container_process(const char *root, const char *id, struct process *out, struct err *err)
{
    _cleanup_places_ struct places places;
    int found = 0;

    places_find(root, id, &places);
    for (size_t i = 0; i < places.count * FILES; i++) {
        _cleanup_free_ char *path = strf("%s/%s", places.list[i / FILES], files[i % FILES].name);
        int has = path ? read_container(path, i % FILES, out, err) : err_nomem(err);
        if (has < 0)
            return -1;
        found += has;
    }
    if (found > 1)
        return err_set(err, ERR_POLICY, "two runtimes have a container '%.100s': use --root", id);
    errno = ENOENT;
    return found ? 0 : err_sys(err, "no runtime has a container '%.100s'", id);
}
