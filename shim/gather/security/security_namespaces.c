#include "shim/gather/security/security_namespaces.h"

#include "base/path.h"
#include "shim/mount/pin.h"
#include "shim/mount/source.h"

#include <stdio.h>
#include <string.h>

/* The file of a process in /proc: "/proc/PID/ns/FILE". */
struct process_file {
    unsigned process;
    char file[32];
};

/* The runtime specification and the policy use the same names, but for two. */
static bool is_namespace(const struct json *entry, enum namespace_kind kind)
{
    const char *type = json_text(json_get(entry, "type"));

    if (!type)
        return false;
    if (kind == NAMESPACE_NET)
        return strcmp(type, "network") == 0;
    if (kind == NAMESPACE_MNT)
        return strcmp(type, "mount") == 0;
    return strcmp(type, namespace_names[kind]) == 0;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* True if the file is that namespace of the process "1" or "self". */
static bool is_namespace_of(const struct stat *st, const char *process, enum namespace_kind kind)
{
    char path[64];
    struct stat own;

    snprintf(path, sizeof(path), "/proc/%s/ns/%s", process, namespace_names[kind]);
    return stat(path, &own) == 0 && is_same_file(st, &own);
}

static bool is_hosts(const struct stat *st, enum namespace_kind kind)
{
    return is_namespace_of(st, "1", kind) || is_namespace_of(st, "self", kind);
}

bool namespace_is_host(const char *path, enum namespace_kind kind)
{
    struct stat st;

    return stat(path, &st) < 0 || is_hosts(&st, kind);
}

/* Reads the path of a process's namespace, or the path where an earlier edit had it held. */
static bool read_process_file(const char *path, struct process_file *out)
{
    int end = 0;

    if (sscanf(path, "/proc/%9u/ns/%31[a-z_]%n", &out->process, out->file, &end) < 2)
        sscanf(path, PIN_DIRECTORY "/namespace-%9u-%31[a-z_]%n", &out->process, out->file, &end);
    return end && !path[end];
}

/* False for a path where a user could put another namespace before the runtime opens it. */
static bool is_steady(const char *path)
{
    _cleanup_source_ struct source source = SOURCE_INIT;
    struct err ignored;

    return path_is_clean_absolute(path) && source_look(path, &source, &ignored) == 0 &&
           !source.missing && !source.exposed;
}

/* Adds the namespace of a process to those that are held. Returns 1 if it is the host's, and -1
 * without memory. */
static int add_joined(struct json *entry, enum namespace_kind kind, const struct process_file *from,
                      struct joined_namespace *list, struct arena *arena,
                      struct security_facts *out)
{
    const char *path = arena_printf(arena, "/proc/%u/ns/%s", from->process, from->file);
    const char *hold =
        arena_printf(arena, PIN_DIRECTORY "/namespace-%u-%s", from->process, from->file);
    struct stat st;

    if (!path || !hold)
        return -1;
    if (stat(path, &st) < 0 || is_hosts(&st, kind))
        return 1;
    list[out->joined_count++] = (struct joined_namespace){.entry = entry,
                                                          .kind = kind,
                                                          .path = path,
                                                          .hold = hold,
                                                          .dev = st.st_dev,
                                                          .ino = st.st_ino};
    return 0;
}

/*
 * Judges one entry of that kind. A kind may have several: runc refuses them, and crun before 1.18
 * joins them all.
 */
static int judge_entry(struct json *entry, enum namespace_kind kind, struct joined_namespace *list,
                       struct arena *arena, struct security_facts *out)
{
    const char *path = json_text(json_get(entry, "path"));
    struct process_file file;

    if (!path || !*path)
        return 0;
    /* The kernel lets nobody bind an older mount namespace in a newer one (mnt_ns_loop). */
    if (kind != NAMESPACE_MNT && read_process_file(path, &file)) {
        int rc = add_joined(entry, kind, &file, list, arena, out);
        out->host_namespaces |= rc > 0 ? 1u << kind : 0;
        return rc < 0 ? -1 : 0;
    }
    if (namespace_is_host(path, kind))
        out->host_namespaces |= 1u << kind;
    else if (!is_steady(path))
        out->loose_namespaces |= 1u << kind;
    return 0;
}

/* With system_paths, a container may have no writable cgroups of the host's cgroup namespace. */
static bool is_judged(const struct policy_security *s, enum namespace_kind kind)
{
    return s->namespaces.file || (kind == NAMESPACE_CGROUP && s->system_paths.deny);
}

int security_find_namespaces(const struct policy_security *s, const struct spec *spec,
                             struct arena *arena, struct security_facts *out, struct err *err)
{
    const struct json *all = json_path(spec->root, "linux", "namespaces", NULL);
    struct joined_namespace *list = arena_alloc(arena, (json_count(all) + 1) * sizeof(*list));

    if (!list)
        return err_nomem(err);
    out->joined = list;
    for (int kind = 0; kind < NAMESPACE_KINDS; kind++) {
        bool own = !is_judged(s, (enum namespace_kind)kind);
        for (size_t i = 0; i < json_count(all); i++) {
            struct json *entry = json_at(all, i);
            if (!is_judged(s, (enum namespace_kind)kind) ||
                !is_namespace(entry, (enum namespace_kind)kind))
                continue;
            own = true;
            if (judge_entry(entry, (enum namespace_kind)kind, list, arena, out) < 0)
                return err_nomem(err);
        }
        if (!own)
            out->host_namespaces |= 1u << kind;
    }
    return 0;
}
