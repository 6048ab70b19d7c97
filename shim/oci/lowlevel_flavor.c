#include "shim/host/child.h"
#include "shim/oci/lowlevel.h"

#include <string.h>

enum { MOST_OUTPUT = 4096 };

static enum lowlevel_flavor flavor_of(const char *text)
{
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "runc version ", 13) == 0)
            return FLAVOR_RUNC;
        if (strncmp(line, "crun version ", 13) == 0)
            return FLAVOR_CRUN;
    }
    return FLAVOR_UNKNOWN;
}

int lowlevel_ask_flavor(struct lowlevel *low, enum lowlevel_flavor *out, struct err *err)
{
    char text[MOST_OUTPUT], option[] = "--version";
    char *const argv[] = {low->path, option, NULL};
    int status;

    if (child_output(argv, text, sizeof(text), &status, err) < 0)
        return -1;
    *out = flavor_of(text);
    if (*out == FLAVOR_UNKNOWN)
        return err_set(err, ERR_UNSUPPORTED,
                       "%s --version says neither runc nor crun; set runtime.flavor in the policy",
                       low->path);
    return 0;
}
