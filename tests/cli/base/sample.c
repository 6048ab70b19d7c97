/* The sample program: prints the parsed command line. Its options are in
 * tests/unit/lib/sample_options.h. */
#include "tests/unit/lib/sample_options.h"

#include "base/cleanup.h"
#include "base/cli/log.h"

#include <stdio.h>
#include <string.h>

static void show(const char *name, const char *value)
{
    if (value)
        printf("%s=%s\n", name, value);
}

static int run(int argc, char **argv, struct err *err)
{
    const char *completion = argc == 2 ? argv[1] : "";
    const struct command_spec *command;
    struct sample_options o = {0};
    struct operands operands = {0};
    _cleanup_buf_ struct buf out = BUF_INIT;
    bool help;
    int skip;

    if (strncmp(completion, "--completion=", 13) == 0) {
        if (options_complete(&sample_program, completion + 13, &out, err) < 0)
            return -1;
        fputs(out.data, stdout);
        return 0;
    }
    command = options_command(&sample_program, argc, argv, &skip, err);
    if (!command)
        return -1;
    int rc = options_parse(command, argc - skip, argv + skip, &o, &operands, &help, err);
    if (rc == 0 && help) {
        options_help_command(&sample_program, command, &out);
        fputs(out.data, stdout);
    } else if (rc == 0) {
        printf("%s%s%s\n", command->name, o.quiet ? " quiet" : "", o.force ? " force" : "");
        show("output", o.output);
        show("format", o.format);
        show("label", o.label);
        for (int i = 0; i < operands.count; i++)
            show("operand", operands.list[i]);
    }
    free(operands.list);
    return rc;
}

int main(int argc, char **argv)
{
    struct err err = ERR_INIT;

    log_init(sample_program.name, LOG_LEVEL_INFO);
    if (run(argc, argv, &err) == 0)
        return 0;
    log_error("%s", err.msg);
    return err_exit_status(err.kind);
}
