#include "shim/gpu/gpu_facts.h"

#include "base/fdio.h"
#include "shim/host/trust.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum { TOML_BYTES = 1024 * 1024, SWARM_NAMES = 16 };

static const char toolkit_config[] = "/etc/nvidia-container-runtime/config.toml";

/* ---- the program that acts later ---- */

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/*
 * True for a hook of NVIDIA's that gives GPUs. Those of a CDI specification only make links, and
 * have names of their own.
 */
static bool hook_gives_gpus(const char *path)
{
    const char *name = name_of(path);

    return strstr(name, "nvidia") && strcmp(name, "nvidia-ctk") != 0 &&
           strcmp(name, "nvidia-cdi-hook") != 0;
}

static const char *find_hook(const struct spec *spec)
{
    const struct json *hooks = json_get(spec->root, "hooks");

    for (size_t i = 0; json_is(hooks, JSON_OBJECT) && i < json_count(hooks); i++) {
        const struct json *list = hooks->members[i].value;
        for (size_t k = 0; json_is(list, JSON_ARRAY) && k < json_count(list); k++) {
            const char *path = json_text(json_get(json_at(list, k), "path"));
            const char *first = json_text(json_at(json_get(json_at(list, k), "args"), 0));
            if (path && hook_gives_gpus(path))
                return path;
            if (first && hook_gives_gpus(first))
                return first;
        }
    }
    return NULL;
}

static bool is_plain_runtime(const char *path)
{
    const char *name = name_of(path);

    return strncmp(name, "runc", 4) == 0 || strncmp(name, "crun", 4) == 0;
}

const char *gpu_facts_later(const struct spec *spec, const char *lowlevel)
{
    const char *hook = find_hook(spec);

    if (hook || !lowlevel)
        return hook;
    _cleanup_free_ char *real = realpath(lowlevel, NULL);
    return is_plain_runtime(lowlevel) && (!real || !strstr(name_of(real), "nvidia")) ? NULL
                                                                                     : lowlevel;
}

/* ---- the toolkit's configuration ---- */

/* Returns the value of `swarm-resource` behind its opening quote, and its length; NULL if there is
 * none. */
static const char *find_swarm(const char *toml, size_t *len)
{
    static const char key[] = "swarm-resource";

    for (const char *line = toml; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *at = line + strspn(line, " \t\"'");
        if (strncmp(at, key, strlen(key)) != 0)
            continue;
        at += strlen(key);
        at += strspn(at, " \t\"'");
        if (*at != '=')
            continue;
        at += 1 + strspn(at + 1, " \t\"'");
        *len = strcspn(at, "\"'\n");
        return at;
    }
    return NULL;
}

const char *const *gpu_facts_swarm(const char *toml, struct arena *arena)
{
    const char **list = arena_alloc(arena, (SWARM_NAMES + 1) * sizeof(*list));
    size_t len = 0, count = 0;
    const char *at = list && toml ? find_swarm(toml, &len) : NULL;

    for (const char *end = at + len; at && at < end && count < SWARM_NAMES; at++) {
        size_t item = strcspn(at, ",\"'\n"), skip = strspn(at, " \t");
        if (skip < item) {
            size_t name = item - skip;
            while (name && strchr(" \t", at[skip + name - 1]))
                name--;
            list[count] = arena_strndup(arena, at + skip, name);
            if (!list[count++])
                return NULL;
        }
        at += item;
    }
    return list;
}

/* ---- gathering ---- */

static int read_request(const struct spec *spec, struct arena *arena, struct gpu_facts *out,
                        struct err *err)
{
    _cleanup_buf_ struct buf toml = BUF_INIT;
    struct err ignored;

    if (file_read(AT_FDCWD, toolkit_config, TOML_BYTES, &toml, &ignored) < 0)
        buf_truncate(&toml, 0);
    const char *const *variables = gpu_facts_swarm(toml.data, arena);
    if (!variables)
        return err_nomem(err);
    return gpu_request_read(spec, variables, arena, &out->request, err);
}

/*
 * Without root there are no rules for devices: nodes are bind mounts, and what the user may open on
 * the host can be opened in the container.
 */
static int find_bound_nodes(const struct spec *spec, struct arena *arena, struct gpu_facts *out,
                            struct err *err)
{
    out->nodes.all = NULL;
    for (size_t i = 0; i < spec->mount_count; i++) {
        const struct spec_mount *m = &spec->list[i];
        struct stat st;
        if (!m->bind || !m->source || stat(m->source, &st) < 0)
            continue;
        if (S_ISCHR(st.st_mode) && gpu_nodes_add(&out->nodes, &out->host, major(st.st_rdev),
                                                 minor(st.st_rdev), arena, err) < 0)
            return -1;
    }
    return 0;
}

/* True if more must be known about this host's GPUs than numbers of drivers. */
static bool needs_cards(const struct gpu_facts *facts)
{
    return facts->nodes.used || facts->nodes.all || facts->request.count;
}

int gpu_facts_gather(const struct spec *spec, const char *lowlevel, struct arena *arena,
                     struct gpu_facts *out, struct err *err)
{
    *out = (struct gpu_facts){.host = GPU_HOST_INIT};
    if (gpu_host_read_majors(&out->host, err) < 0 ||
        gpu_nodes_find(spec, &out->host, arena, &out->nodes, err) < 0 ||
        (trust_rootless() && find_bound_nodes(spec, arena, out, err) < 0))
        return -1;
    out->asked_all = gpu_request_asked_all(spec);
    out->later = gpu_facts_later(spec, lowlevel);
    if (out->later && read_request(spec, arena, out, err) < 0)
        return -1;
    return needs_cards(out) ? gpu_host_read_cards(arena, &out->host, err) : 0;
}
