/* The commands of flatten: what each offers (for options_parse and help), and how it runs. */
#ifndef FLATTEN_COMMANDS_H
#define FLATTEN_COMMANDS_H

#include "base/program.h"

extern const struct command_spec command_squash_spec, command_verify_spec, command_analyze_spec;
command_run command_squash, command_verify, command_analyze;

#endif
