#include "shim/request/facts.h"

#include "base/hex.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum {
    ID_DIGITS = 64,
    SHORT_DIGITS = 12
}; /* of an ID that an engine chose; as docker ps shows it */

/*
 * CRI-O hands on each annotation of a pod (internal/factory/container), also those with
 * containerd's keys, and sets its keys after them. containerd hands on only what pod_annotations
 * lists.
 */
static bool is_users_word(const struct spec *spec, const char *key)
{
    static const char containerd[] = "io.kubernetes.cri.";
    const char *manager = spec_annotation(spec, "io.container.manager");

    return manager && strcmp(manager, "cri-o") == 0 &&
           strncmp(key, containerd, sizeof(containerd) - 1) == 0;
}

static const char *first_annotation(const struct spec *spec, const char *const *keys)
{
    for (; *keys; keys++) {
        if (is_users_word(spec, *keys))
            continue;
        const char *value = spec_annotation(spec, *keys);
        if (value && *value)
            return value;
    }
    return NULL;
}

const char *facts_image_component(const char *reference, struct arena *arena)
{
    char *copy = arena_strndup(arena, reference, strlen(reference));

    for (char *p = copy; p && *p; p++)
        if (strchr("/:@", *p))
            *p = '_';
    return copy;
}

const char *facts_image(const struct spec *spec)
{
    static const char *const keys[] = {"io.kubernetes.cri.image-name",
                                       "io.kubernetes.cri-o.ImageName",
                                       "org.opencontainers.image.ref.name", NULL};

    return first_annotation(spec, keys);
}

const char *facts_namespace(const struct spec *spec)
{
    static const char *const keys[] = {"io.kubernetes.cri.sandbox-namespace",
                                       "io.kubernetes.pod.namespace", NULL};

    return first_annotation(spec, keys);
}

/*
 * Returns "POD_CONTAINER" of Kubernetes, the name that nerdctl gives, or NULL: Docker and podman
 * tell a runtime no name.
 */
static const char *engine_name(const struct spec *spec, struct arena *arena, struct err *err)
{
    static const char *const pods[] = {"io.kubernetes.cri.sandbox-name", "io.kubernetes.pod.name",
                                       NULL};
    static const char *const containers[] = {"io.kubernetes.cri.container-name",
                                             "io.kubernetes.container.name", NULL};
    const char *pod = first_annotation(spec, pods);
    const char *container = first_annotation(spec, containers);

    if (!pod || !container)
        return spec_annotation(spec, "nerdctl/name");
    const char *kept = arena_printf(arena, "%s_%s", pod, container);
    if (!kept)
        err_nomem(err);
    return kept;
}

/*
 * Returns the day on which config.json was written and the beginning of the ID: the same at each
 * look at a container, also when it is explained on another day. NULL without memory.
 */
static const char *day_and_id(const char *id, int bundle, struct arena *arena)
{
    struct stat st;
    struct tm day;
    char text[64];
    time_t written = fstatat(bundle, "config.json", &st, 0) == 0 ? st.st_mtime : time(NULL);

    if (!gmtime_r(&written, &day))
        return arena_strndup(arena, id, SHORT_DIGITS);
    size_t len = strftime(text, sizeof(text), "%Y-%m-%d_", &day);
    len += (size_t)snprintf(text + len, sizeof(text) - len, "%.*s", SHORT_DIGITS, id);
    return arena_strndup(arena, text, len);
}

static int gather_name(const struct policy *policy, const struct spec *spec, const char *id,
                       int bundle, struct arena *arena, struct facts *f, struct err *err)
{
    const char **value = &f->values.value[VAR_CONTAINER_NAME];

    if (!(policy->vars & 1u << VAR_CONTAINER_NAME) || !id)
        return 0;
    err->kind = ERR_NONE;
    *value = engine_name(spec, arena, err);
    if (err->kind != ERR_NONE)
        return -1;
    if (*value && template_name_valid(*value, strlen(*value)))
        return 0;
    *value = hex_is(id, ID_DIGITS) ? day_and_id(id, bundle, arena) : id;
    return *value ? 0 : err_nomem(err);
}

static int gather_image(const struct spec *spec, struct arena *arena, struct facts *f,
                        struct err *err)
{
    const char *reference = facts_image(spec);

    f->values.missing[VAR_IMAGE] = "the engine does not tell a runtime the image's name";
    if (!reference)
        return 0;
    f->values.value[VAR_IMAGE] = facts_image_component(reference, arena);
    return f->values.value[VAR_IMAGE] ? 0 : err_nomem(err);
}

static const char *number_text(unsigned number, struct arena *arena)
{
    char text[16];
    int len = snprintf(text, sizeof(text), "%u", number);

    return arena_strndup(arena, text, (size_t)len);
}

/* A name that cannot be found out denies only what needs it. */
static int gather_user_name(struct arena *arena, struct facts *f, struct err *err)
{
    if (identity_user_name(f->identity.uid, arena, &f->values.value[VAR_USER], err) == 0)
        return 0;
    if (err->kind != ERR_POLICY)
        return -1;
    f->values.missing[VAR_USER] = arena_strndup(arena, err->msg, strlen(err->msg));
    return f->values.missing[VAR_USER] ? 0 : err_nomem(err);
}

static int gather_identity(const struct policy *policy, const struct spec *spec,
                           struct arena *arena, struct facts *f, struct err *err)
{
    static const unsigned uses = 1u << VAR_USER | 1u << VAR_UID | 1u << VAR_GID;

    if (!(policy->vars & uses) && !policy->uses_identity)
        return 0;
    if (identity_find(policy, spec, &f->identity, err) < 0) {
        /* Denies what needs it, with this reason. */
        f->identity = (struct id_pair){.why = arena_strndup(arena, err->msg, strlen(err->msg))};
        if (!f->identity.why)
            return err_nomem(err);
    }
    for (int var = VAR_USER; var <= VAR_GID; var++)
        f->values.missing[var] = f->identity.why;
    if (!f->identity.known)
        return 0;
    f->values.value[VAR_UID] = number_text(f->identity.uid, arena);
    f->values.value[VAR_GID] = number_text(f->identity.gid, arena);
    if (!f->values.value[VAR_UID] || !f->values.value[VAR_GID])
        return err_nomem(err);
    return policy->vars & 1u << VAR_USER ? gather_user_name(arena, f, err) : 0;
}

static int gather_groups(const struct spec *spec, struct arena *arena, struct facts *f,
                         struct err *err)
{
    gid_t *groups = arena_alloc(arena, (spec->group_count + 1) * sizeof(*groups));

    if (!groups)
        return err_nomem(err);
    f->groups = groups;
    f->group_count = identity_groups(spec, groups);
    return 0;
}

int facts_gather(const struct policy *policy, const struct spec *spec, const char *container,
                 int bundle, const struct requests *requests, struct arena *arena,
                 struct facts *out, struct err *err)
{
    *out = (struct facts){
        .process = identity_process(spec),
        .stage_wish = requests->stage,
        .metrics = policy->audit.metrics.text,
        .inside = {.known = spec->process != NULL,
                   .uid = spec->uid,
                   .gid = spec->gid,
                   .why = "the container has no process"},
    };
    out->values.value[VAR_CONTAINER] = container;
    out->values.value[VAR_PROJECT] = requests->project;
    out->values.missing[VAR_PROJECT] = "name the project with the annotation flatbed.project=NAME";
    out->values.value[VAR_HOSTNAME] = spec->hostname && *spec->hostname ? spec->hostname : NULL;
    out->values.missing[VAR_HOSTNAME] = "config.json has no hostname";
    out->values.value[VAR_NAMESPACE] = facts_namespace(spec);
    out->values.missing[VAR_NAMESPACE] = "the container is not one of a Kubernetes pod";
    out->values.missing[VAR_NAME] = "the volume was asked for without a name";
    if (gather_groups(spec, arena, out, err) < 0 || gather_image(spec, arena, out, err) < 0 ||
        gather_name(policy, spec, container, bundle, arena, out, err) < 0)
        return -1;
    return gather_identity(policy, spec, arena, out, err);
}
