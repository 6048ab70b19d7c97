/*
 * The values of templates for one container, and the owners of what is created for it.
 *
 * {container} is the id that the engine gave to the runtime, {container_name} the name that it
 * gave, if any; else the day and the beginning of the id. {image} and {namespace} come from
 * annotations that engines set; where users may set annotations too (docker and podman run), users
 * choose them, as they choose {hostname} and {project}.
 */
#ifndef SHIM_FACTS_H
#define SHIM_FACTS_H

#include "shim/policy/template.h"
#include "shim/request/identity.h"
#include "shim/request/request.h"

struct facts {
    struct template_values values;
    struct id_pair process; /* as the runtime's user namespace sees it */
    const gid_t *groups;    /* the process's supplementary ones, seen likewise; in the arena */
    size_t group_count;
    struct id_pair inside;   /* the process, by the container's own ids */
    unsigned stage_wish;     /* requests.stage */
    const char *metrics;     /* the file of counters that the policy names, or NULL */
    struct id_pair identity; /* looked up only where the policy uses it */
};

/*
 * Gathers them. `bundle` is the open directory of config.json, whose time is the day of the
 * container. Texts are in the arena or borrowed. A value that cannot be found out is missing,
 * with the reason. Fails only without memory, or if /proc/self/uid_map cannot be read.
 */
int facts_gather(const struct policy *policy, const struct spec *spec, const char *container,
                 int bundle, const struct requests *requests, struct arena *arena,
                 struct facts *out, struct err *err) must_check;

/* Returns the reference of the image that the engine put into an annotation, or NULL. */
const char *facts_image(const struct spec *spec);

/* Returns the Kubernetes namespace that the engine put into an annotation, or NULL. */
const char *facts_namespace(const struct spec *spec);

/* Returns an image reference as one path component: "/", ":" and "@" become "_". NULL without
 * memory. */
const char *facts_image_component(const char *reference, struct arena *arena);

#endif
