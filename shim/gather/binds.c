#include "shim/gather/binds.h"

#include "base/path.h"
#include "shim/cdi/cdi.h"
#include "shim/cdi/driver_path.h"
#include "shim/gather/bind_group.h"
#include "shim/gather/bind_ids.h"
#include "shim/gather/bind_name.h"
#include "shim/gather/binds_access.h"
#include "shim/gather/binds_mounts.h"
#include "shim/gather/engine/engine_layer.h"
#include "shim/gather/targets.h"
#include "shim/host/fd_path.h"
#include "shim/host/process/patience.h"
#include "shim/host/trust.h"
#include "shim/mount/pin.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* ---- one source ---- */

struct gather {
    const struct policy *policy;
    const struct spec *spec;
    const struct facts *facts;
    int bundle;
    const char *bundle_path;
    struct mount_table table;
    struct engine_directories engine;
    bool own_map;                      /* the container maps ids, all of them its own */
    struct source_directory directory; /* the directory of the last source */
    struct cdi cdi;
    struct arena *arena;
    struct bind_facts *out;
    struct err *err;
};

const char *binds_unpinned(const char *source)
{
    static const char prefix[] = PIN_DIRECTORY "/bind:";

    if (strncmp(source, prefix, sizeof(prefix) - 1) != 0)
        return NULL;
    const char *rest = source + sizeof(prefix) - 1;
    size_t digits = strspn(rest, "0123456789");
    return digits && rest[digits] == '/' && path_is_clean_absolute(rest + digits) ? rest + digits
                                                                                  : NULL;
}

/* Walks through directories and links that only root could change. False if the path leaves them.
 */
static bool walk(struct gather *g, const char *path, struct source *out)
{
    _cleanup_free_ char *absolute = path[0] == '/' ? NULL : strf("%s/%s", g->bundle_path, path);
    struct err ignored;

    if (path[0] != '/' && !absolute)
        return false;
    return source_look_in(&g->directory, absolute ? absolute : path, out, &ignored) == 0 &&
           !out->exposed;
}

static bool walk_safely(struct gather *g, const char *path, struct source *out)
{
    return walk(g, path, out) && !out->missing;
}

/* Returns true for a path that is missing, and that only root can make. */
static bool is_roots_to_make(struct gather *g, const char *path)
{
    _cleanup_source_ struct source walked = SOURCE_INIT;
    struct stat st;

    return walk(g, path, &walked) && walked.missing && fstat(walked.fd, &st) == 0 &&
           trust_closed(&st);
}

/*
 * Opens a source as the low-level runtime would. If our own walk met no symbolic link, its
 * descriptor and path are used as they are. If it reached another file, or none, the source is
 * exposed.
 */
static int open_source(struct gather *g, const char *path, struct bind_wish *wish,
                       struct bind_source *s)
{
    _cleanup_source_ struct source walked = SOURCE_INIT;
    bool safe = walk_safely(g, path, &walked);
    struct stat st;

    wish->settled = safe && !walked.linked && path_is_clean_absolute(path);
    wish->fd = wish->settled ? steal_fd(&walked.fd) : bind_open(g->bundle, path);
    if (wish->fd < 0)
        return -1;
    if (wish->settled) {
        wish->dev = walked.dev;
        wish->ino = walked.ino;
        wish->directory = walked.directory;
        s->null_device = walked.character == makedev(1, 3);
        return 0;
    }
    if (fstat(wish->fd, &st) < 0)
        return -1;
    wish->dev = st.st_dev;
    wish->ino = st.st_ino;
    s->null_device = S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
    s->exposed = !safe || walked.dev != st.st_dev || walked.ino != st.st_ino;
    return 0;
}

static int set_problem(struct gather *g, struct bind_source *s, const char *text)
{
    s->problem = arena_strndup(g->arena, text, strlen(text));
    return s->problem ? 0 : err_nomem(g->err);
}

/*
 * Finds the origin of a mount that no engine makes by itself. A mount that a user brings may look
 * the same: it then shows no more than the administrator offers.
 */
static int find_origin(struct gather *g, const struct spec_mount *mount, int fd,
                       struct bind_source *s)
{
    struct stat st;

    if (!mount->source || s->exposed || s->opaque || s->engine || s->null_device || s->init ||
        s->pin)
        return 0;
    if (cdi_read(&g->cdi, g->arena, g->err) < 0)
        return -1;
    s->socket = fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
    const struct cdi_mount *found = cdi_find_mount(&g->cdi, mount->source, mount->destination);
    if (found) {
        s->origin = BIND_OF_CDI;
        s->origin_writable = found->writable;
    } else if (strcmp(mount->source, mount->destination) == 0 && driver_path_is(mount->source) &&
               driver_path_is(s->path)) {
        s->origin = BIND_OF_DRIVER;
        s->origin_writable = s->socket;
    }
    return 0;
}

/* Says why a source could not be opened, by errno. */
static void explain_unopened(const struct gather *g, const char *path, struct err *out)
{
    bool missing = errno == ENOENT, magic = errno == ELOOP;

    err_sys(out, "it cannot be looked at");
    if (missing && *path == '/')
        err_set(out, ERR_POLICY, "it does not exist on this host: make it first");
    else if (missing)
        err_set(out, ERR_POLICY,
                "it is not an absolute path, and the bundle %s, where it is looked for, does not "
                "have it: write an absolute path",
                g->bundle_path);
    else if (magic)
        err_set(out, ERR_POLICY,
                "it cannot be looked at, as it leads through a link of /proc or too many links: "
                "name the place itself");
}

/* A rootless engine can make no node: podman binds the host's instead. */
static void find_device(int fd, struct bind_source *s)
{
    struct stat st;

    if (!trust_rootless() || s->exposed || fstat(fd, &st) < 0 ||
        (!S_ISCHR(st.st_mode) && !S_ISBLK(st.st_mode)))
        return;
    s->device = true;
    s->block = S_ISBLK(st.st_mode);
    s->major = major(st.st_rdev);
    s->minor = minor(st.st_rdev);
}

/* Looks at one source; `wish` gets its descriptor, which the caller closes. */
static int gather_source(struct gather *g, const struct spec_mount *mount, struct bind_source *s,
                         struct bind_wish *wish)
{
    const char *path = mount->source ? mount->source : "";
    struct bind_name name = {0};
    struct err why = ERR_INIT;

    s->judged = true;
    if (binds_unpinned(path)) {
        s->pin = path;
        path = binds_unpinned(path);
    }
    patience_step(path);
    if (open_source(g, path, wish, s) < 0) {
        explain_unopened(g, path, &why);
        return set_problem(g, s, why.msg);
    }
    const char *where = wish->settled ? path : NULL;
    if (bind_name_find(wish->fd, where, &g->table, g->arena, &name, &why) < 0)
        return set_problem(g, s, why.msg);
    s->path = name.name;
    s->found = wish->path = name.found;
    const struct engine_place place = engine_find_place(&g->engine, s->path);
    const struct engine_place shown = engine_find_place(&g->engine, s->found);
    s->state = place.state;
    s->engine = place.mounted;
    s->volume = place.volume;
    s->own = engine_mounts(&g->engine, s->found) && engine_mounts(&g->engine, s->path);
    /* A rootless engine's directories are its user's, who chooses the policy as well. */
    s->open = s->own && s->exposed && !trust_rootless() &&
              !(g->own_map &&
                bind_ids_alone(s->found, g->facts->values.value[VAR_CONTAINER], &g->spec->uid_map));
    s->own = s->own && !s->open;
    s->init = !s->exposed && binds_is_init(s->path);
    s->unsteady = engine_is_unsteady(&g->engine, s->found);
    /* A volume, or a part of one, that shows another directory: users reach that one, and not the
     * engine's. */
    if ((s->unsteady || shown.state || shown.mounted) && strcmp(s->path, s->found) != 0) {
        wish->path = s->path;
        wish->settled = false;
    }
    s->exposed = s->exposed || s->unsteady;
    find_device(wish->fd, s);
    const struct mount_entry *opaque =
        binds_find_opaque(&g->engine, &g->table, name.mount, s->path);
    if (opaque) {
        s->opaque = opaque->point;
        s->type = opaque->type;
        s->idmapped = opaque->idmapped;
    }
    if (find_origin(g, mount, wish->fd, s) < 0)
        return -1;
    return binds_find_below(&g->engine, &g->table, g->arena, s, g->err);
}

/* ---- the rules' paths ---- */

/* Names the path of a rule; keeps it as written if it cannot be named, or users could change it. */
static int name_rule(struct gather *g, const char *path, const char **out)
{
    _cleanup_source_ struct source source = SOURCE_INIT;
    struct bind_name name = {0};
    struct err ignored;

    patience_step(path);
    if (source_look(path, &source, &ignored) == 0 && !source.missing &&
        bind_name_find(source.fd, NULL, &g->table, g->arena, &name, &ignored) == 0) {
        *out = name.name;
        return 0;
    }
    *out = arena_strndup(g->arena, path, strlen(path));
    return *out ? 0 : err_nomem(g->err);
}

/* Places a rule for named volumes where the volumes of the calling engine are. */
static int place_volumes(struct gather *g, struct bind_rule_path *out)
{
    const char *path = g->engine.volumes[VOLUME_DIRECTORIES - 1];

    return path ? name_rule(g, path, &out->path) : 0;
}

static int place_rule(struct gather *g, const char *template, struct bind_rule_path *out)
{
    _cleanup_buf_ struct buf path = BUF_INIT;
    _cleanup_buf_ struct buf clean = BUF_INIT;
    struct err why = ERR_INIT;

    buf_putc(&clean, '/');
    if (template_expand(template, &g->facts->values, &path, &why) < 0 ||
        path_clean(path.data, path.len, &clean, &why) < 0) {
        out->problem = arena_strndup(g->arena, why.msg, strlen(why.msg));
        return out->problem ? 0 : err_nomem(g->err);
    }
    return name_rule(g, clean.data, &out->path);
}

static int place_rules(struct gather *g)
{
    size_t count = g->policy->binds.rule_count;

    g->out->rules = arena_alloc(g->arena, (count + 1) * sizeof(*g->out->rules));
    if (!g->out->rules)
        return err_nomem(g->err);
    for (size_t i = 0; i < count; i++) {
        const struct policy_bind_rule *rule = &g->policy->binds.rules[i];
        int rc = rule->named_volumes ? place_volumes(g, &g->out->rules[i])
                                     : place_rule(g, rule->path.text, &g->out->rules[i]);
        if (rc < 0)
            return -1;
    }
    return 0;
}

/* ---- access ---- */

static bool asks_for_access(const struct policy_binds *binds)
{
    for (size_t i = 0; i < binds->rule_count; i++)
        if (binds->rules[i].require_access)
            return true;
    return binds->require_access;
}

static int gather_access(struct gather *g, struct bind_wish *wishes, size_t count)
{
    const struct id_pair *id = &g->facts->process;
    const struct user_ids user = {id->uid, id->gid, g->facts->groups, g->facts->group_count};

    if (!id->known) {
        g->out->nobody = id->why;
        return 0;
    }
    if (bind_ids_judge(g->spec, g->facts, g->arena, &g->out->nobody, g->err) < 0)
        return -1;
    if (g->out->nobody)
        return 0;
    bool own = id->uid == geteuid();
    patience_step("a source of a bind");
    if (!own && binds_try_access(&user, wishes, count, g->err) < 0)
        return -1;
    struct bind_groups groups = {.facts = g->facts};
    for (size_t i = 0; i < count; i++) {
        struct bind_source *s = &g->out->sources[i];
        s->readable = own || wishes[i].readable;
        s->writable = own || wishes[i].writable;
        if (bind_group_find(&groups, wishes[i].fd, g->arena, s, g->err) < 0)
            return -1;
    }
    return 0;
}

/* ---- targets ---- */

static int gather_targets(struct gather *g)
{
    _cleanup_fd_ int root = targets_root(g->spec, g->bundle);
    struct targets targets;

    if (targets_find(g->spec, root, g->arena, &targets, g->err) < 0)
        return -1;
    for (size_t i = 0; i < targets.count; i++)
        if (strcmp(targets.list[i].path, g->spec->list[i].destination) != 0)
            g->out->sources[i].target = targets.list[i].path;
    return 0;
}

/* ---- the container's root ---- */

/*
 * Returns true for the root that podman's storage made for this container. podman mounts it once
 * more, elsewhere, for a container that maps ids: so it is judged by what the mount shows.
 */
static bool is_recorded_root(struct gather *g, int root, const struct engine_layer *layer)
{
    struct bind_name name = {0};
    struct err ignored;

    return bind_name_find(root, NULL, &g->table, g->arena, &name, &ignored) == 0 &&
           engine_stores_root(&g->engine, name.name) && engine_layer_has(layer, name.name);
}

/* Returns 1 for a root that only the engine, or the one who made the bundle, put there; 0; or -1.
 */
static int is_own_root(struct gather *g, int root, const char *path)
{
    _cleanup_source_ struct source walked = SOURCE_INIT;
    struct engine_layer layer;
    char real[PATH_MAX];

    if (fd_path(root, real) < 0)
        return 0;
    if (path_is_beneath(real, g->bundle_path) && strcmp(g->bundle_path, "/") != 0)
        return 1;
    if (!walk_safely(g, path, &walked))
        return 0;
    if (engine_layer_find(&g->engine, g->arena, &layer, g->err) < 0)
        return -1;
    return layer.recorded ? is_recorded_root(g, root, &layer)
                          : engine_stores_root(&g->engine, real);
}

/*
 * Looks at the root as at the source of a mount. It is exposed as well if users can write to it:
 * the low-level runtime makes directories and mounts there by path, as root. A root that is not
 * there is left to the low-level runtime, unless a user could make it in time.
 */
static int gather_root(struct gather *g, struct bind_wish *wish)
{
    struct bind_source *s = &g->out->sources[g->spec->mount_count];
    const char *path = json_text(json_path(g->spec->root, "root", "path", NULL));
    const struct spec_mount root = {.destination = "/", .source = path, .bind = true};
    _cleanup_fd_ int fd = targets_root(g->spec, g->bundle);
    int failure = errno;
    struct err why = ERR_INIT;
    struct stat st;

    if (trust_rootless() || !path || !*path)
        return 0;
    if (fd < 0 && is_roots_to_make(g, path))
        return 0;
    if (fd < 0) {
        errno = failure;
        explain_unopened(g, path, &why);
        s->judged = true;
        g->out->root = s;
        return set_problem(g, s, why.msg);
    }
    int own = is_own_root(g, fd, path);
    if (own)
        return own < 0 ? -1 : 0;
    g->out->root = s;
    if (gather_source(g, &root, s, wish) < 0)
        return -1;
    s->exposed = s->exposed || fstat(fd, &st) < 0 || !trust_closed(&st);
    return 0;
}

/* ---- all of them ---- */

static int gather_sources(struct gather *g, struct bind_wish *wishes)
{
    if (gather_root(g, &wishes[g->spec->mount_count]) < 0)
        return -1;
    bool any = g->out->root;
    for (size_t i = 0; i < g->spec->mount_count; i++) {
        if (!g->spec->list[i].bind)
            continue;
        any = true;
        if (gather_source(g, &g->spec->list[i], &g->out->sources[i], &wishes[i]) < 0)
            return -1;
    }
    if (!any || !asks_for_access(&g->policy->binds))
        return 0;
    return gather_access(g, wishes, g->spec->mount_count + 1);
}

static int find_own_map(struct gather *g)
{
    if (!g->spec->uid_map.count || g->spec->joins_user_namespace || !g->facts->process.known ||
        g->facts->process.uid == 0)
        return 0;
    if (bind_ids_judge(g->spec, g->facts, g->arena, &g->out->other_ids, g->err) < 0)
        return -1;
    g->own_map = !g->out->other_ids;
    return 0;
}

int binds_gather(const struct policy *policy, const struct spec *spec, const struct facts *facts,
                 int bundle, struct arena *arena, struct bind_facts *out, struct err *err)
{
    char bundle_path[PATH_MAX];
    struct gather g = {.policy = policy,
                       .spec = spec,
                       .facts = facts,
                       .bundle = bundle,
                       .bundle_path = bundle_path,
                       .directory = SOURCE_DIRECTORY_INIT,
                       .arena = arena,
                       .out = out,
                       .err = err};
    struct bind_wish *wishes = arena_alloc(arena, (spec->mount_count + 1) * sizeof(*wishes));

    *out = (struct bind_facts){
        .sources = arena_alloc(arena, (spec->mount_count + 1) * sizeof(*out->sources))};
    if (!wishes || !out->sources)
        return err_nomem(err);
    if (fd_path(bundle, bundle_path) < 0)
        return err_sys(err, "the path of the bundle");
    if (mount_table_read(arena, &g.table, err) < 0 ||
        engine_directories_find(spec, bundle_path, facts->values.value[VAR_CONTAINER], arena,
                                &g.engine, err) < 0 ||
        place_rules(&g) < 0 || find_own_map(&g) < 0)
        return -1;
    for (size_t i = 0; i <= spec->mount_count; i++)
        wishes[i].fd = -1;
    int rc = gather_sources(&g, wishes);
    if (rc == 0 && policy->binds.targets_deny.count)
        rc = gather_targets(&g);
    for (size_t i = 0; i <= spec->mount_count; i++)
        cleanup_fd(&wishes[i].fd);
    source_directory_close(&g.directory);
    return rc;
}
