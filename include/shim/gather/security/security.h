/*
 * Gathers what a container would be on the host, beyond its mounts: the facts that the policy's
 * "security" judges (plan.h) and that config.json alone does not show.
 */
#ifndef SHIM_SECURITY_H
#define SHIM_SECURITY_H

#include "shim/gather/security/namespaces.h"
#include "shim/gather/security/security_devices.h"
#include "shim/request/facts.h"

/* A hook of config.json. */
struct hook_fact {
    const struct json *entry;
    const char *problem; /* why it is not allowed, or NULL; static */
};

struct security_facts {
    bool host_root;     /* the container's process would be root on the host */
    bool own_ids;       /* its ids are those of a user namespace, and known */
    bool groups_judged; /* the process's groups are those of the host, and judged */
    bool group_mapped;  /* group_problem is because of the container's user namespace */
    bool maps_ids;      /* config.json has an id map of its own: podman then writes no rules for
                           devices */
    unsigned host_namespaces;  /* bits of enum namespace_kind: shared with the host */
    unsigned loose_namespaces; /* bits: joined by a path where a user could put the host's */
    const struct joined_namespace *joined; /* by the path of a process, which could enter others */
    size_t joined_count;
    /* Ambient capabilities by which it acts as root on the host, in words; or NULL. */
    const char *root_by;
    /* "uid 5" or "gid 5": the id in the container that is root's on the host; or NULL. */
    const char *root_inside;
    const char *ids_problem; /* why the ids are not known, or NULL */
    const char *ids_other;   /* why the ids of its map are another owner's (bind_ids.h), or NULL */
    const char *group_problem; /* why its group is not its user's own, or NULL: "the group 42 …" */
    const uint32_t *groups_other; /* those of process.user.additionalGids that are not, as there */
    size_t groups_other_count;
    const char *groups_words;      /* these, in words */
    struct device_numbers devices; /* of the host's files that "devices" allows */
    const char *let_through; /* system calls of seccomp.deny that the filter allows; "" if none */
    const char *filter_problem; /* why the filter cannot be judged, or NULL */
    struct hook_fact *hooks;    /* all of them, if the policy does not keep them */
    size_t hook_count;
    struct json *profile; /* seccomp.profile, if it must be put in; in the document; else NULL */
};

/*
 * Gathers the facts, with those on the container's ids in `facts`. `doc` gets the values that may
 * be put in; texts are in the arena. Fails only without memory: a filter that cannot be judged is
 * `filter_problem`.
 */
int security_gather(const struct policy *policy, const struct spec *spec, const struct facts *facts,
                    struct json_doc *doc, struct arena *arena, struct security_facts *out,
                    struct err *err) must_check;

/* Returns the bits of the capabilities that the policy leaves to a container, or to a privileged
 * one. Pure. */
uint64_t security_capabilities(const struct policy_security *security, bool privileged);

/*
 * Leaves those supplementary groups in the facts that the plan leaves to the process: it is tried
 * what these open, and not what a group would that is taken away.
 */
int security_settle_groups(const struct policy_security *s, const struct spec *spec,
                           struct facts *facts, struct arena *arena, struct err *err) must_check;

#endif
