#include "shim/admin/commands.h"

#include "base/cli/columns.h"
#include "shim/admin/status/status.h"

#include <unistd.h>

enum { STATUS_POLICY = 1 }; /* the exit status of a policy with errors */

struct status_command {
    bool json;
};

static const struct option_spec status_options[] = {
    {"json", 0, OPTION_FLAG, offsetof(struct status_command, json), NULL, NULL, "print it as JSON"},
    {0},
};

const struct command_spec command_status_spec = {
    .program = "flatbed",
    .name = "status",
    .operands = "",
    .summary = "Show at a glance what flatbed does on this host.",
    .details =
        "The version; the policy, and whether it has errors; for each engine that is installed,\n"
        "its runtime that is flatbed-runtime, whether that is the default, and the runtimes that\n"
        "go around the policy; the trees of restack. Reads configurations, and asks no engine.\n"
        "Exit status 0: containers can start, 1: the policy has errors.\n",
    .options = status_options,
    .completes = OPERANDS_NONE,
};

static int show_status(const struct status_command *c, struct err *err)
{
    _cleanup_status_ struct status status = {0};
    _cleanup_buf_ struct buf out = BUF_INIT;

    if (status_read(&status, err) < 0)
        return -1;
    if (!c->json)
        status_print(&status, columns_of_terminal(STDOUT_FILENO), &out);
    else if (status_json(&status, &out, err) < 0)
        return -1;
    if (program_print(&out, err) < 0)
        return -1;
    return status_is_well(&status) ? 0 : STATUS_POLICY;
}

int command_status(int argc, char *const argv[], bool *help, struct err *err)
{
    struct status_command c = {0};
    struct operands operands = {0};
    int rc = options_parse(&command_status_spec, argc, argv, &c, &operands, help, err);

    if (rc == 0 && !*help)
        rc = show_status(&c, err);
    free(operands.list);
    return rc;
}
