#include "shim/admin/doctor/doctor.h"

#include "base/fdio.h"
#include "shim/admin/engine/engine_runtimes.h"
#include "shim/admin/engine/runtime_program.h"
#include "shim/host/users/user.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP_BYTES = 4 * 1024 * 1024, MEMBERS_SHOWN = 200 };

struct engine_view {
    bool flatbed;         /* one of its runtimes leads there */
    bool flatbed_default; /* the default one does */
};

static struct engine_view view(const struct engine_runtimes *runtimes, const char *engine)
{
    struct engine_view v = {0};

    for (size_t i = 0; i < runtimes->count; i++) {
        const struct engine_runtime *r = &runtimes->list[i];
        if (strcmp(r->engine, engine) != 0 || !engine_runtime_is_flatbed(r))
            continue;
        v.flatbed = true;
        v.flatbed_default = v.flatbed_default || r->is_default;
    }
    return v;
}

/* Docker has a runtime named runc, whatever its configuration says. */
static void examine_runc(const char *engine, struct diagnoses *out)
{
    struct runtime_program runc;

    runtime_program_find("runc", &runc);
    if (strcmp(engine, "docker") != 0 || !runc.found || runc.kind == RUNTIME_FLATBED)
        return;
    struct diagnosis *of = diagnoses_add(out, DIAGNOSIS_ADVICE, "runtime-around", engine,
                                         "'docker run --runtime=runc' goes around the policy");
    diagnosis_mend(out, of, "divert runc: see DIVERTING RUNC in flatbed(8)");
}

static void examine_engine(const char *engine, const struct engine_view *v, struct diagnoses *out)
{
    if (v->flatbed_default) {
        diagnoses_add(out, DIAGNOSIS_OK, "runtime-default", engine,
                      "containers run by flatbed-runtime");
    } else {
        struct diagnosis *of = diagnoses_add(
            out, DIAGNOSIS_ADVICE, "runtime-default", engine,
            "it knows flatbed-runtime, but runs it only for those who ask by --runtime");
        diagnosis_mend(out, of,
                       strcmp(engine, "CRI-O") == 0 ? "default_runtime in crio.conf"
                                                    : "flatbed install %s --default",
                       engine);
    }
    examine_runc(engine, out);
}

/* Returns a field, from 0, of a group in the text of /etc/group; NULL for none, or an empty one. */
static const char *field_of(const char *text, const char *group, int field, size_t *len)
{
    size_t name = strlen(group);

    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, group, name) != 0 || line[name] != ':')
            continue;
        const char *at = line;
        for (int colons = 0; colons < field && at; colons++)
            at = (at = strpbrk(at, ":\n")) && *at == ':' ? at + 1 : NULL;
        *len = at ? strcspn(at, ":\n") : 0;
        return *len ? at : NULL;
    }
    return NULL;
}

/* Appends the names in /etc/passwd of users with that primary group. */
static void add_primary(const char *gid, struct buf *names)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;
    unsigned long wanted = strtoul(gid, NULL, 10);
    struct user user;

    if (file_read(AT_FDCWD, "/etc/passwd", GROUP_BYTES, &text, &ignored) < 0 || !text.data)
        return;
    for (const char *line = text.data; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (user_parse(line, &user) && user.gid == wanted)
            buf_printf(names, "%s%s", names->len ? "," : "", user.name);
}

static void examine_group(struct diagnoses *out)
{
    _cleanup_buf_ struct buf text = BUF_INIT, names = BUF_INIT;
    struct err ignored;
    size_t len;

    if (file_read(AT_FDCWD, "/etc/group", GROUP_BYTES, &text, &ignored) < 0 || !text.data)
        return;
    const char *members = field_of(text.data, "docker", 3, &len);
    if (members)
        buf_append(&names, members, len);
    const char *gid = field_of(text.data, "docker", 2, &len);
    if (gid)
        add_primary(gid, &names);
    if (names.len == 0)
        return;
    struct diagnosis *of =
        diagnoses_add(out, DIAGNOSIS_ADVICE, "group-docker", "/etc/group",
                      "members of group docker: %.*s", MEMBERS_SHOWN, names.data);
    diagnosis_cost(out, of,
                   "a member can do as root what no runtime sees (docker cp, volumes): SECURITY.md "
                   "lists it");
    diagnosis_mend(out, of, "an authorization plugin, or rootless engines");
}

void doctor_engines(const struct policy *policy, struct diagnoses *out)
{
    static const char *const engines[] = {"docker", "containerd", "podman", "CRI-O"};
    _cleanup_engine_runtimes_ struct engine_runtimes runtimes = {0};
    bool any = false;
    struct err ignored;

    if (engine_runtimes_read(&runtimes, &ignored) < 0) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < sizeof(engines) / sizeof(*engines); i++) {
        struct engine_view v = view(&runtimes, engines[i]);
        any = any || v.flatbed;
        if (v.flatbed)
            examine_engine(engines[i], &v, out);
    }
    if (policy && policy->mode == POLICY_ENFORCE && !any) {
        struct diagnosis *of =
            diagnoses_add(out, DIAGNOSIS_WARNING, "policy-unused", policy_default_path,
                          "no engine of this host runs flatbed-runtime");
        diagnosis_cost(out, of, "the policy judges nothing");
        diagnosis_mend(out, of, "flatbed install docker --default");
    }
    examine_group(out);
}
