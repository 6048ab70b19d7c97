/* The commands of flatten: what each offers (for options_parse and help), and how it runs. */
#ifndef FLATTEN_COMMANDS_H
#define FLATTEN_COMMANDS_H

#include "base/err.h"
#include "base/options.h"

/*
 * Runs with the words after the command's name. The exit status, or -1 with an error that `main`
 * prints and turns into one. *help: the user asked for help, nothing was done.
 */
typedef int command_run(int argc, char *const argv[], bool *help, struct err *err);

extern const struct command_spec command_squash_spec, command_verify_spec, command_analyze_spec;
command_run command_squash, command_verify, command_analyze;

#endif
