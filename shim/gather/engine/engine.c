#include "shim/gather/engine/engine.h"

#include "base/hex.h"
#include "base/path.h"
#include "shim/gather/engine/engine_joined.h"
#include "shim/gather/engine/engine_volumes.h"
#include "shim/gather/engine/pod_files.h"
#include "shim/host/trust.h"

#include <string.h>

enum { ID_DIGITS = 64 };

/* ---- paths ---- */

/* Returns the part of the path behind "/NAME/", or NULL. */
static const char *behind(const char *path, const char *name)
{
    size_t len = strlen(name);

    for (const char *at = strstr(path, name); at; at = strstr(at + 1, name))
        if (at > path && at[-1] == '/' && at[len] == '/')
            return at + len + 1;
    return NULL;
}

/* ---- directories ---- */

/* Returns the path that begins with DATA, and its length, for a root at DATA/STORE/…; NULL for
 * others. */
static const char *data_of_root(const char *root, size_t *len)
{
    static const char *const stores[] = {"/overlay2/", "/overlay/",      "/fuse-overlayfs/",
                                         "/btrfs/",    "/zfs/",          "/aufs/",
                                         "/vfs/",      "/devicemapper/", "/rootfs/"};

    *len = 0;
    for (size_t i = 0; i < sizeof(stores) / sizeof(*stores); i++)
        for (const char *at = strstr(root, stores[i]); at; at = strstr(at + 1, stores[i]))
            if ((size_t)(at - root) > *len)
                *len = (size_t)(at - root);
    return *len ? root : NULL;
}

/* Returns the last '/' before `end`, or NULL. */
static const char *slash_before(const char *path, const char *end)
{
    return end ? memrchr(path, '/', (size_t)(end - path)) : NULL;
}

/*
 * Returns the bundle if it is podman's, GRAPHROOT/DRIVER-containers/ID/userdata, and the length of
 * GRAPHROOT; else NULL.
 */
static const char *data_of_bundle(const char *bundle, size_t *len)
{
    static const char part[] = "-containers", last[] = "/userdata";
    const char *end = strrchr(bundle, '/');

    if (!end || strcmp(end, last) != 0)
        return NULL;
    const char *id = slash_before(bundle, end);
    const char *driver = slash_before(bundle, id);
    if (!driver || driver == bundle || (size_t)(id - driver) < sizeof(part) ||
        memcmp(id - (sizeof(part) - 1), part, sizeof(part) - 1) != 0)
        return NULL;
    *len = (size_t)(driver - bundle);
    return bundle;
}

static const char *in_data(const char *data, size_t len, const char *name, struct arena *arena)
{
    return arena_printf(arena, "%.*s/%s", (int)len, data, name);
}

/* Finds the records in a bundle of podman, whose GRAPHROOT has that length, and the layers beside
 * them. */
static int find_records(struct engine_directories *out, const char *bundle, size_t len,
                        struct arena *arena, struct err *err)
{
    const char *driver = bundle + len + 1, *end = driver + strcspn(driver, "/");
    size_t whole = (size_t)(end - bundle);

    out->records = arena_strndup(arena, bundle, whole);
    out->store = arena_strndup(arena, bundle, whole - strlen("-containers"));
    out->record_id = arena_strndup(arena, end + 1, strcspn(end + 1, "/"));
    return out->records && out->store && out->record_id ? 0 : err_nomem(err);
}

static int find_data(struct engine_directories *out, const char *root, const char *bundle,
                     struct arena *arena, struct err *err)
{
    size_t len, other;
    const char *data = data_of_bundle(bundle, &len);

    if (!data && root)
        data = data_of_root(root, &len);
    if (!data)
        return 0;
    out->data = arena_strndup(arena, data, len);
    out->volumes[VOLUME_DIRECTORIES - 1] = in_data(data, len, "volumes", arena);
    out->containers = in_data(data, len, "containers", arena);
    if (!out->data || !out->volumes[VOLUME_DIRECTORIES - 1] || !out->containers)
        return err_nomem(err);
    if (data == bundle && find_records(out, bundle, len, arena, err) < 0)
        return -1;
    out->root =
        root && (path_is_beneath(root, out->data) || data_of_root(root, &other)) ? root : NULL;
    if (out->store || !root || !path_is_beneath(root, out->data) || strlen(root) <= len + 1)
        return 0;
    out->store = arena_strndup(arena, root, len + 1 + strcspn(root + len + 1, "/"));
    return out->store ? 0 : err_nomem(err);
}

/* True for a container with a mount that could be a named volume: DIRECTORY/NAME/_data. */
static bool has_volume(const struct spec *spec)
{
    static const char last[] = "/_data";

    for (size_t i = 0; i < spec->mount_count; i++) {
        const char *end = spec->list[i].source ? strrchr(spec->list[i].source, '/') : NULL;
        if (end && strcmp(end, last) == 0)
            return true;
    }
    return false;
}

/* podman's configuration may have named volumes outside of the graphroot. */
static int find_volumes(struct engine_directories *out, const struct spec *spec, const char *bundle,
                        struct arena *arena, struct err *err)
{
    const char *found;
    size_t len;

    if (!data_of_bundle(bundle, &len) || !has_volume(spec))
        return 0;
    if (engine_volumes_find(arena, &found, err) < 0)
        return -1;
    if (found)
        out->volumes[VOLUME_DIRECTORIES - 1] = found;
    return 0;
}

/* ---- whose files these are ---- */

/* Returns the namespace of containerd in STATE/io.containerd.runtime.v2.task/NAMESPACE/ID, or NULL.
 */
static const char *find_task(const char *bundle)
{
    static const char part[] = "/io.containerd.runtime.v2.task/";
    const char *at = strstr(bundle, part);

    return at ? at + sizeof(part) - 1 : NULL;
}

/*
 * Finds the end of the paths of the container's own directory: under Docker DATA/containers/ID,
 * under podman DRIVER-containers/ID, in the graphroot or the runroot. Other engines' users choose
 * the ID.
 */
static int find_own(struct engine_directories *out, const char *bundle, const char *task,
                    struct arena *arena, struct err *err)
{
    _cleanup_free_ char *own = NULL;
    size_t len;

    if (!out->id)
        return 0;
    if (task && strncmp(task, "moby", 4) == 0 && (task[4] == '/' || task[4] == '-') &&
        out->containers) {
        own = strf("%s/%s", out->containers, out->id);
        out->own_is_whole = true;
    }
    if (!own && data_of_bundle(bundle, &len) && behind(bundle, out->id))
        own = strndup(bundle + len, strlen(bundle + len) - strlen("/userdata"));
    if (!own)
        return 0;
    out->own = own ? arena_strndup(arena, own, strlen(own)) : NULL;
    return out->own ? 0 : err_nomem(err);
}

/*
 * Finds the directory in which BuildKit makes the bundles of a build's steps, and the files that it
 * mounts into them: DATA-ROOT/buildkit/executor, or /var/lib/buildkit/WORKER/executor. A user of
 * containerd may choose a namespace of that name.
 */
static int find_executor(struct engine_directories *out, const char *bundle, const char *task,
                         struct arena *arena, struct err *err)
{
    static const char name[] = "/executor";
    const char *end = strrchr(bundle, '/');
    const char *start = task ? NULL : slash_before(bundle, end);

    if (!start || start == bundle || strncmp(start, name, sizeof(name) - 1) != 0 ||
        start + sizeof(name) - 1 != end)
        return 0;
    out->executor = arena_strndup(arena, bundle, (size_t)(end - bundle));
    return out->executor ? 0 : err_nomem(err);
}

/* True for the bundle of a step of buildah, and so of podman build: TMPDIR/buildahNUMBER. */
static bool is_buildahs(const char *bundle, const char *task)
{
    static const char name[] = "/buildah";
    const char *last = strrchr(bundle, '/');

    if (task || !last || strncmp(last, name, sizeof(name) - 1) != 0)
        return false;
    const char *number = last + sizeof(name) - 1;
    return *number && number[strspn(number, "0123456789")] == '\0';
}

/*
 * True for a container of CRI-O, whose bundles are in the runroot, RUNROOT/DRIVER-containers/ID/
 * userdata. Those of podman, whose users set any annotation, are in the graphroot.
 */
static bool is_crio(const char *bundle)
{
    size_t len;

    return path_is_beneath(bundle, "/run/containers") && data_of_bundle(bundle, &len);
}

/*
 * Adds the pod that a container of Kubernetes is in. Annotations of containerd name it, or those of
 * CRI-O and the kubelet, which CRI-O sets after those of the pod.
 */
static void add_pod(const struct spec *spec, const char *bundle, const char *task,
                    struct engine_directories *out)
{
    bool crio = !task && is_crio(bundle);
    const char *sandbox = spec_annotation(spec, crio ? "io.kubernetes.cri-o.SandboxID"
                                                     : "io.kubernetes.cri.sandbox-id");
    const char *uid =
        spec_annotation(spec, crio ? "io.kubernetes.pod.uid" : "io.kubernetes.cri.sandbox-uid");

    if (!crio && (!task || strncmp(task, "k8s.io/", 7) != 0))
        return;
    if (sandbox && hex_is(sandbox, ID_DIGITS))
        out->others[out->other_count++] =
            (struct engine_other){.id = sandbox, .files = true, .shm = true};
    if (uid && path_component_valid(uid, strlen(uid)))
        out->others[out->other_count++] = (struct engine_other){.id = uid, .pod = true};
}

static int add_joined(const struct spec *spec, struct engine_directories *out, struct arena *arena,
                      struct err *err)
{
    const char *network, *ipc;

    if (engine_joined_find(spec, "network", arena, &network, err) < 0 ||
        engine_joined_find(spec, "ipc", arena, &ipc, err) < 0)
        return -1;
    if (network)
        out->others[out->other_count++] = (struct engine_other){.id = network, .files = true};
    if (ipc)
        out->others[out->other_count++] = (struct engine_other){.id = ipc, .shm = true};
    out->any_shm = !ipc && trust_rootless() && engine_joins(spec, "ipc");
    return 0;
}

int engine_directories_find(const struct spec *spec, const char *bundle, const char *id,
                            struct arena *arena, struct engine_directories *out, struct err *err)
{
    const char *root = json_text(json_path(spec->root, "root", "path", NULL));
    const char *task = find_task(bundle);

    *out = (struct engine_directories){
        .volumes = {"/var/lib/docker/volumes", "/var/lib/containers/storage/volumes"},
        .id = id && hex_is(id, ID_DIGITS) ? id : NULL};
    if (root && !path_is_clean_absolute(root))
        root = NULL;
    if (find_data(out, root, bundle, arena, err) < 0 ||
        find_volumes(out, spec, bundle, arena, err) < 0 ||
        find_own(out, bundle, task, arena, err) < 0 ||
        find_executor(out, bundle, task, arena, err) < 0)
        return -1;
    out->step = is_buildahs(bundle, task) ? bundle : NULL;
    const char *end = task ? slash_before(bundle, task - 1) : NULL;
    if (end && end > bundle) {
        out->state = arena_strndup(arena, bundle, (size_t)(end - bundle));
        if (!out->state)
            return err_nomem(err);
    }
    add_pod(spec, bundle, task, out);
    return add_joined(spec, out, arena, err);
}

/* Returns true if a component of the path begins with 64 digits, the ID of a layer or container. */
static bool has_random_id(const char *path)
{
    for (; (path = strchr(path, '/')) != NULL; path++)
        if (strspn(path + 1, "0123456789abcdef") == ID_DIGITS)
            return true;
    return false;
}

bool engine_stores_root(const struct engine_directories *engine, const char *root)
{
    size_t len;

    for (size_t i = 0; i < VOLUME_DIRECTORIES && engine->volumes[i]; i++)
        if (path_is_beneath(root, engine->volumes[i]))
            return false;
    return data_of_root(root, &len) && has_random_id(root + len);
}

bool engine_is_unsteady(const struct engine_directories *engine, const char *path)
{
    if (engine->root && path_is_beneath(engine->root, path))
        return true;
    for (size_t i = 0; i < VOLUME_DIRECTORIES && engine->volumes[i]; i++)
        if (path_is_beneath(path, engine->volumes[i]) || path_is_beneath(engine->volumes[i], path))
            return true;
    return false;
}

/* ---- files that an engine mounts into this container ---- */

static bool is_one_of(const char *rest, const char *const *names)
{
    static const char userdata[] = "userdata/"; /* podman's */

    if (rest && strncmp(rest, userdata, sizeof(userdata) - 1) == 0)
        rest += sizeof(userdata) - 1;
    for (; rest && *names; names++)
        if (path_is_beneath(rest, *names))
            return true;
    return false;
}

static const char *const network_files[] = {"resolv.conf", "hostname", "hosts", NULL};
static const char *const shm_files[] = {"shm", "mounts/shm", NULL};
static const char *const own_files[] = {
    "resolv.conf", "hostname",  "hosts",       "mounts",        "shm",    "secrets", "passwd",
    "group",       "localtime", "run/secrets", ".containerenv", "notify", NULL};

/* True for a path in the directory of this container. */
static bool is_own(const struct engine_directories *engine, const char *path)
{
    size_t len = engine->own ? strlen(engine->own) : 0;
    const char *at = len ? strstr(path, engine->own) : NULL;

    if (at && at[len] == '/' && (at == path || !engine->own_is_whole))
        return is_one_of(at + len + 1, own_files);
    return engine->id && is_one_of(behind(path, engine->id), network_files);
}

static bool is_of_other(const struct engine_other *other, const char *path)
{
    if (other->pod)
        return pod_files_has(other->id, path);
    const char *rest = behind(path, other->id);
    return (other->files && is_one_of(rest, network_files)) ||
           (other->shm && is_one_of(rest, shm_files));
}

/* True for the files that buildah makes in the bundle of a step. */
static bool is_of_step(const struct engine_directories *engine, const char *path)
{
    static const char *const names[] = {"resolv.conf", "hostname", "hosts", "run/.containerenv"};
    size_t len = engine->step ? strlen(engine->step) : 0;

    if (!len || strncmp(path, engine->step, len) != 0 || path[len] != '/')
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(path + len + 1, names[i]) == 0)
            return true;
    return false;
}

/* True for resolv.conf and hosts of a build's step; the latter may have the step's name behind it.
 */
static bool is_of_build(const struct engine_directories *engine, const char *path)
{
    static const char *const names[] = {"resolv.conf", "resolv-host.conf", "hosts"};
    size_t len = engine->executor ? strlen(engine->executor) : 0;

    if (!len || strncmp(path, engine->executor, len) != 0 || path[len] != '/')
        return false;
    const char *name = path + len + 1;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return strncmp(name, "hosts.", 6) == 0 && !strchr(name, '/');
}

/* True for the /dev/shm of a container of podman: …/ID/userdata/shm. */
static bool is_any_shm(const char *path)
{
    static const char end[] = "/userdata/shm";
    size_t len = strlen(path);
    size_t before = len >= sizeof(end) - 1 ? len - (sizeof(end) - 1) : 0;

    return before > ID_DIGITS && strcmp(path + before, end) == 0 &&
           path[before - ID_DIGITS - 1] == '/' &&
           strspn(path + before - ID_DIGITS, "0123456789abcdef") == ID_DIGITS;
}

bool engine_mounts(const struct engine_directories *engine, const char *path)
{
    if (is_own(engine, path) || is_of_build(engine, path) || is_of_step(engine, path) ||
        (engine->any_shm && is_any_shm(path)))
        return true;
    for (size_t i = 0; i < engine->other_count; i++)
        if (is_of_other(&engine->others[i], path))
            return true;
    return false;
}

/* ---- files that engines mount into other containers, and their other state ---- */

/* True for the files that Docker mounts from its directory of a container, such as "ID/hosts". */
static bool is_containers_file(const char *rest)
{
    static const char *const names[] = {"resolv.conf", "hostname", "hosts", "mounts"};
    const char *name = strchr(rest, '/');

    for (size_t i = 0; name && i < sizeof(names) / sizeof(*names); i++)
        if (path_is_beneath(name + 1, names[i]))
            return true;
    return false;
}

/* Places the path if it lies in `directory`, from which an engine mounts what is `depth` deep.
 * Returns true if it is such a thing. */
static bool find_place_in(const char *directory, size_t depth, bool containers, const char *path,
                          struct engine_place *out)
{
    if (!directory || !path_is_beneath(path, directory) ||
        (out->state && strlen(out->state) > strlen(directory)))
        return false;
    const char *rest = path + strlen(directory);
    rest += *rest == '/';
    out->state = directory;
    out->mounted = depth && path_depth(rest) >= depth && (!containers || is_containers_file(rest));
    return out->mounted;
}

struct engine_place engine_find_place(const struct engine_directories *engine, const char *path)
{
    static const struct {
        const char *path;
        size_t depth; /* 0: engines mount nothing from there */
    } directories[] = {
        {"/var/lib/docker", 0},
        {"/run/docker", 0},
        {"/var/lib/containers", 0},
        {"/var/lib/containers/storage/overlay-containers", 3},
        {"/var/lib/containers/storage/vfs-containers", 3},
        {"/run/containers", 0},
        {"/run/containers/storage/overlay-containers", 3},
        {"/run/containers/storage/vfs-containers", 3},
        {"/var/lib/containerd", 0},
        {"/var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes", 2},
        {"/var/lib/containerd/io.containerd.grpc.v1.cri/containers", 3},
        {"/run/containerd", 0},
        {"/run/containerd/io.containerd.grpc.v1.cri/sandboxes", 2},
        {"/var/lib/kubelet", 0},
        {"/var/lib/kubelet/pods", 0},
    };
    struct engine_place place = {0};

    for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++)
        find_place_in(directories[i].path, directories[i].depth, false, path, &place);
    find_place_in(engine->state, 0, false, path, &place);
    find_place_in(engine->id ? engine->data : NULL, 0, false, path, &place);
    find_place_in("/var/lib/docker/containers", 2, true, path, &place);
    find_place_in(engine->containers, 2, true, path, &place);
    find_place_in(engine->store, 0, false, path, &place);
    for (size_t i = 0; i < VOLUME_DIRECTORIES; i++)
        place.volume = find_place_in(engine->volumes[i], 2, false, path, &place) || place.volume;
    place.mounted = place.mounted || pod_files_has(NULL, path);
    if (place.mounted)
        place.state = NULL;
    return place;
}
