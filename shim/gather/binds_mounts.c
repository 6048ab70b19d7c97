#include "shim/gather/binds_mounts.h"

#include "base/path.h"

#include <string.h>

/* ---- directories of engines ---- */

/* Returns the path that begins with DATA, and its length, for a root at DATA/STORE/…; NULL for
 * others. */
static const char *engine_data(const char *root, size_t *len)
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

static const char *in_data(const char *data, size_t len, const char *name, struct arena *arena)
{
    _cleanup_free_ char *path = strf("%.*s/%s", (int)len, data, name);

    return path ? arena_strndup(arena, path, strlen(path)) : NULL;
}

int engine_directories_find(const struct spec *spec, struct arena *arena,
                            struct engine_directories *out, struct err *err)
{
    const char *root = json_text(json_path(spec->root, "root", "path", NULL));
    size_t len;
    const char *data = root && path_is_clean_absolute(root) ? engine_data(root, &len) : NULL;

    *out = (struct engine_directories){
        .volumes = {"/var/lib/docker/volumes", "/var/lib/containers/storage/volumes"}};
    if (!data)
        return 0;
    out->root = root;
    out->volumes[VOLUME_DIRECTORIES - 1] = in_data(data, len, "volumes", arena);
    out->containers = in_data(data, len, "containers", arena);
    out->store = arena_strndup(arena, root, len + 1 + strcspn(root + len + 1, "/"));
    return out->volumes[VOLUME_DIRECTORIES - 1] && out->containers && out->store ? 0
                                                                                 : err_nomem(err);
}

bool binds_is_unsteady(const struct engine_directories *engine, const char *path)
{
    if (engine->root && path_is_beneath(engine->root, path))
        return true;
    for (size_t i = 0; i < VOLUME_DIRECTORIES && engine->volumes[i]; i++)
        if (path_is_beneath(path, engine->volumes[i]) || path_is_beneath(engine->volumes[i], path))
            return true;
    return false;
}

/* ---- files that engines mount, and their other state ---- */

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

static size_t path_depth(const char *rest)
{
    size_t depth = *rest != '\0';

    for (; *rest; rest++)
        depth += *rest == '/';
    return depth;
}

/* Fills in `state` and `engine` if the source lies in `directory`, from which an engine mounts what
 * is `depth` deep. */
static void find_state_in(const char *directory, size_t depth, bool containers,
                          struct bind_source *s)
{
    if (!directory || !path_is_beneath(s->path, directory) ||
        (s->state && strlen(s->state) > strlen(directory)))
        return;
    const char *rest = s->path + strlen(directory);
    rest += *rest == '/';
    s->state = directory;
    s->engine = depth && path_depth(rest) >= depth && (!containers || is_containers_file(rest));
}

void binds_find_state(const struct engine_directories *engine, struct bind_source *s)
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
        {"/var/lib/kubelet/pods", 2},
    };

    for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++)
        find_state_in(directories[i].path, directories[i].depth, false, s);
    find_state_in("/var/lib/docker/containers", 2, true, s);
    find_state_in(engine->containers, 2, true, s);
    find_state_in(engine->store, 0, false, s);
    for (size_t i = 0; i < VOLUME_DIRECTORIES; i++)
        find_state_in(engine->volumes[i], 2, false, s);
    if (s->engine)
        s->state = NULL;
}

bool binds_is_init(const char *path)
{
    static const char *const names[] = {"docker-init", "tini", "tini-static", "catatonit"};

    if (strncmp(path, "/usr/", 5) != 0)
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(strrchr(path, '/') + 1, names[i]) == 0)
            return true;
    return false;
}

/* ---- file systems that could show anything ---- */

/* True for a mount that a volume's options asked for. */
static bool is_volumes_own(const struct engine_directories *engine, const struct mount_entry *m)
{
    if (strcmp(m->type, "tmpfs") == 0)
        return false;
    for (size_t i = 0; i < VOLUME_DIRECTORIES && engine->volumes[i]; i++)
        if (path_is_beneath(m->point, engine->volumes[i]) &&
            strcmp(m->point, engine->volumes[i]) != 0)
            return true;
    return false;
}

bool binds_is_opaque(const struct engine_directories *engine, const struct mount_entry *m,
                     const char *name)
{
    if (strcmp(m->type, "overlay") == 0)
        return strcmp(m->point, "/") != 0;
    /* A source with a name outside of the mount point is judged by that name. */
    return path_is_beneath(name, m->point) && is_volumes_own(engine, m);
}

/* ---- beneath a source ---- */

static int add_below(const struct engine_directories *engine, const struct mount_table *table,
                     const struct mount_entry *m, struct arena *arena, struct bind_source *s,
                     struct err *err)
{
    _cleanup_buf_ struct buf name = BUF_INIT;
    struct bind_below *below;

    s->below = arena_extend(arena, s->below, s->below_count, sizeof(*s->below));
    if (!s->below || !mount_table_name(table, m->id, m->point, &name))
        return err_nomem(err);
    below = &s->below[s->below_count++];
    *below = (struct bind_below){.path = arena_strndup(arena, name.data, name.len)};
    if (!below->path)
        return err_nomem(err);
    if (binds_is_opaque(engine, m, below->path))
        below->opaque = m->point;
    return 0;
}

int binds_find_below(const struct engine_directories *engine, const struct mount_table *table,
                     struct arena *arena, struct bind_source *s, struct err *err)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct mount_entry *m = &table->list[i];
        if (strcmp(m->point, s->found) != 0 && path_is_beneath(m->point, s->found) &&
            add_below(engine, table, m, arena, s, err) < 0)
            return -1;
    }
    return 0;
}
