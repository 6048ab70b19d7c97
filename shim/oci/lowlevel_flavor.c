#include "shim/host/process/child.h"
#include "shim/oci/lowlevel.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_OUTPUT = 4096 };

/* Sets the flavor and the version if the line, up to its end, says them. */
static bool read_line(const char *line, struct lowlevel_version *out)
{
    static const struct {
        const char *starts;
        enum lowlevel_flavor flavor;
    } flavors[] = {{"runc version ", FLAVOR_RUNC}, {"crun version ", FLAVOR_CRUN}};

    for (size_t i = 0; i < sizeof(flavors) / sizeof(*flavors); i++) {
        size_t len = strlen(flavors[i].starts);
        if (strncmp(line, flavors[i].starts, len) != 0)
            continue;
        out->flavor = flavors[i].flavor;
        snprintf(out->text, sizeof(out->text), "%.*s", (int)strcspn(line + len, " \n"), line + len);
        return true;
    }
    return false;
}

int lowlevel_ask_version(struct lowlevel *low, struct lowlevel_version *out, struct err *err)
{
    char text[MOST_OUTPUT], option[] = "--version";
    char *const argv[] = {low->path, option, NULL};
    int status;

    *out = (struct lowlevel_version){.flavor = FLAVOR_UNKNOWN};
    if (child_output(argv, text, sizeof(text), &status, err) < 0)
        return -1;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (read_line(line, out))
            return 0;
    }
    return err_set(err, ERR_UNSUPPORTED,
                   "%s --version says neither runc nor crun; set runtime.flavor in the policy",
                   low->path);
}

int lowlevel_ask_flavor(struct lowlevel *low, enum lowlevel_flavor *out, struct err *err)
{
    struct lowlevel_version version;
    int rc = lowlevel_ask_version(low, &version, err);

    *out = version.flavor;
    return rc;
}

bool lowlevel_is_runc(const struct lowlevel *low)
{
    _cleanup_free_ char *real = realpath(low->path, NULL);
    const char *name = real ? strrchr(real, '/') + 1 : "";
    _cleanup_fd_ int fd = real ? open(real, O_RDONLY | O_CLOEXEC) : -1;
    char magic[SELFMAG];

    return (strcmp(name, "runc") == 0 || strncmp(name, "runc.", 5) == 0) && fd >= 0 &&
           read(fd, magic, sizeof(magic)) == sizeof(magic) && memcmp(magic, ELFMAG, SELFMAG) == 0;
}

bool lowlevel_follows_links(const struct lowlevel_version *version)
{
    unsigned major, minor, patch, candidate;
    int read = sscanf(version->text, "%u.%u.%u-rc.%u", &major, &minor, &patch, &candidate);

    if (version->flavor != FLAVOR_RUNC || read < 3 || major > 1 || (major == 1 && minor > 2))
        return false;
    if (major == 1 && minor == 2)
        return read == 4 && patch == 0 && candidate < 3;
    return major == 0 || minor == 0 || patch < 14;
}

bool lowlevel_names_groups(const struct lowlevel_version *version)
{
    unsigned major, minor;

    if (version->flavor != FLAVOR_RUNC)
        return false;
    return sscanf(version->text, "%u.%u", &major, &minor) < 2 || major == 0 ||
           (major == 1 && minor < 3);
}
