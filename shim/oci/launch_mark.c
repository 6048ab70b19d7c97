#include "shim/oci/launch_mark.h"

#include "shim/host/process/process.h"

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

bool container_exists(const char *root, const char *id)
{
    static const char *const files[] = {"state.json", "status"};
    _cleanup_places_ struct places places;

    places_find(root, id, &places);
    for (size_t i = 0; i < places.count * 2; i++) {
        _cleanup_free_ char *path = strf("%s/%s", places.list[i / 2], files[i % 2]);
        if (path && access(path, F_OK) == 0)
            return true;
    }
    return false;
}
