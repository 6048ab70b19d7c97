/* Versions with holes by which a container, or a user, becomes root on the host. */
#include "shim/admin/doctor/doctor.h"

#include "shim/admin/engine/runtime_program.h"
#include "shim/host/process/child.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The month in which the table was last compared with the advisories. */
static const char table_date[] = "2026-11";

struct version {
    unsigned major, minor, patch;
};

enum { BRANCHES = 5, HOLES = 6 }; /* the end of each list is zeros */

struct hole {
    const char *cve, *what;
    struct version fixed[BRANCHES]; /* in each branch */
};

struct program {
    const char *name, *package; /* Debian's */
    const char *label;          /* before the version, in what --version prints */
    struct hole holes[HOLES];
};

static const struct program programs[] = {
    {"runc",
     "runc",
     "runc version ",
     {{"CVE-2024-21626", "a container reaches the host by a leaked descriptor", {{1, 1, 12}}},
      {"CVE-2024-45310",
       "mounts below a user's directory make directories elsewhere on the host",
       {{1, 1, 14}}},
      {"CVE-2025-31133",
       "a container writes to files of /proc that should be masked",
       {{1, 2, 8}, {1, 3, 3}, {1, 4, 0}}},
      {"CVE-2026-119101",
       "a restore from a checkpoint mounts a directory of the host that the image chose",
       {{1, 3, 7}, {1, 4, 4}, {1, 5, 3}}}}},
    {"crun",
     "crun",
     "crun version ",
     {{"CVE-2022-27650", "processes get inheritable capabilities", {{1, 4, 4}}},
      {"CVE-2026-88264", "an image makes files of root anywhere on the host", {{1, 30, 0}}},
      {"CVE-2026-88265", "a container writes to a file that is mounted read-only", {{1, 30, 0}}},
      {"CVE-2026-115520",
       "a restore from a checkpoint mounts a directory of the host that the image chose",
       {{1, 31, 0}}}}},
    {"containerd",
     "containerd",
     "containerd",
     {{"CVE-2024-40635",
       "a user number that is too large becomes root in the container",
       {{1, 6, 38}, {1, 7, 27}, {2, 0, 4}}},
      {"CVE-2024-25621",
       "local users can search its directories",
       {{1, 7, 29}, {2, 0, 7}, {2, 1, 5}, {2, 2, 0}}},
      {"CVE-2026-53488",
       "a label of an image becomes a command that root runs (Kubernetes)",
       {{1, 7, 33}, {2, 0, 10}, {2, 1, 9}, {2, 2, 5}, {2, 3, 2}}}}},
    {"dockerd",
     "docker.io",
     "Docker version ",
     {{"CVE-2024-41110",
       "a request without a body goes around authorization plugins",
       {{23, 0, 15}, {25, 0, 6}, {26, 1, 5}, {27, 1, 1}}},
      {"CVE-2026-34040",
       "a request that is too long goes around authorization plugins",
       {{29, 3, 1}}},
      {"CVE-2026-41567",
       "'docker cp' into a container runs a program of the container as root",
       {{29, 5, 1}}},
      {"CVE-2026-17106", "a layer writes files outside of its directory", {{29, 7, 0}}}}},
    {"nvidia-container-runtime",
     "nvidia-container-toolkit",
     "version ",
     {{"CVE-2024-0132", "an image reaches the host's files while its GPUs are added", {{1, 16, 2}}},
      {"CVE-2025-23359",
       "an image reaches the host's files, after a fix that was not whole",
       {{1, 17, 4}}},
      {"CVE-2025-23266", "an image's environment reaches a hook that root runs", {{1, 17, 8}}}}},
};

/* Reads the first number with a dot behind the label. */
static bool read_version(const char *text, const char *label, struct version *out)
{
    const char *at = strstr(text, label);

    for (at = at ? at + strlen(label) : NULL; at && *at && *at != '\n'; at++)
        if (isdigit((unsigned char)*at) &&
            sscanf(at, "%5u.%5u.%5u", &out->major, &out->minor, &out->patch) >= 2)
            return true;
    return false;
}

static int compare_branches(const struct version *a, const struct version *b)
{
    if (a->major != b->major)
        return a->major < b->major ? -1 : 1;
    return (a->minor > b->minor) - (a->minor < b->minor);
}

static bool is_later(const struct version *a, const struct version *b)
{
    int branch = compare_branches(a, b);

    return branch > 0 || (branch == 0 && a->patch > b->patch);
}

/* Branches between and before those of the list have no fix; later ones began with it. */
static bool is_fixed(const struct version *v, const struct hole *hole)
{
    bool later = true;

    for (size_t i = 0; i < BRANCHES && hole->fixed[i].major; i++) {
        int branch = compare_branches(v, &hole->fixed[i]);
        if (branch == 0)
            return v->patch >= hole->fixed[i].patch;
        later = later && branch > 0;
    }
    return later;
}

/* Returns the fixed version of the same branch, or of the next one that has a fix. */
static const struct version *next_fixed(const struct version *v, const struct hole *hole)
{
    size_t i = 0;

    while (i + 1 < BRANCHES && hole->fixed[i + 1].major && compare_branches(v, &hole->fixed[i]) > 0)
        i++;
    return &hole->fixed[i];
}

/* Distributions mend older versions, and say so in the changelog of the package. */
static bool is_mended(const struct program *p, const char *cve)
{
    char text[64], path[128], name[32];
    char program[] = "/usr/bin/zgrep", quiet[] = "-q", fixed[] = "-F";
    char *const argv[] = {program, quiet, fixed, name, path, NULL};
    struct err ignored;
    int status;

    snprintf(name, sizeof(name), "%s", cve);
    snprintf(path, sizeof(path), "/usr/share/doc/%s/changelog.Debian.gz", p->package);
    return child_output(argv, text, sizeof(text), &status, &ignored) == 0 && status == 0;
}

/* Returns true if the program's version is known. */
static bool ask(const struct program *p, char *path, struct version *out)
{
    char text[4096], option[] = "--version";
    char *const argv[] = {path, option, NULL};
    struct err ignored;
    int status;

    return child_output(argv, text, sizeof(text), &status, &ignored) == 0 &&
           read_version(text, p->label, out);
}

/* The holes of a program, for one diagnosis. */
struct found_holes {
    size_t count;
    struct buf names, costs;
    const struct version *fixed; /* the first without all of them */
};

static void found_holes_free(struct found_holes *found)
{
    buf_free(&found->names);
    buf_free(&found->costs);
}

static void find_holes(const struct program *p, const struct version *v, struct found_holes *out)
{
    for (size_t i = 0; i < HOLES && p->holes[i].cve; i++) {
        const struct hole *hole = &p->holes[i];
        if (is_fixed(v, hole) || is_mended(p, hole->cve))
            continue;
        const struct version *fixed = next_fixed(v, hole);
        buf_printf(&out->names, "%s%s", out->count ? ", " : "", hole->cve);
        buf_printf(&out->costs, "%s%s", out->count ? "; " : "", hole->what);
        if (!out->fixed || is_later(fixed, out->fixed))
            out->fixed = fixed;
        out->count++;
    }
}

static void say_holes(const struct program *p, const char *path, const struct version *v,
                      const struct found_holes *found, struct diagnoses *out)
{
    const char *names = found->names.data ? found->names.data : "";
    const char *costs = found->costs.data ? found->costs.data : "";
    struct diagnosis *of = diagnoses_add(out, DIAGNOSIS_WARNING, "version", path, "%u.%u.%u has %s",
                                         v->major, v->minor, v->patch, names);

    diagnosis_cost(out, of, "%s", costs);
    diagnosis_mend(out, of,
                   "update %s to %u.%u.%u or later, or to a package of the distribution with these "
                   "fixes",
                   p->package, found->fixed->major, found->fixed->minor, found->fixed->patch);
}

static void examine(const struct program *p, struct diagnoses *out)
{
    _cleanup_(found_holes_free) struct found_holes found = {.names = BUF_INIT, .costs = BUF_INIT};
    struct runtime_program program;
    struct version v = {0};

    runtime_program_find(p->name, &program);
    if (!program.found || !ask(p, program.path, &v))
        return;
    find_holes(p, &v, &found);
    if (found.count)
        say_holes(p, program.path, &v, &found, out);
    else
        diagnoses_add(out, DIAGNOSIS_OK, "version", program.path,
                      "%u.%u.%u has none of the holes known in %s", v.major, v.minor, v.patch,
                      table_date);
}

void doctor_versions(struct diagnoses *out)
{
    if (!diagnoses_want(out, "version"))
        return;
    for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
        examine(&programs[i], out);
}
