/* The commands of flatbed about containers and what they leave. */
#ifndef SHIM_CONTAINER_COMMANDS_H
#define SHIM_CONTAINER_COMMANDS_H

#include "base/cli/program.h"

extern const struct command_spec command_copyups_spec, command_explain_spec, command_gc_spec,
    command_stale_spec, command_start_time_spec, command_watch_spec;
command_run command_copyups, command_explain, command_gc, command_stale, command_start_time,
    command_watch;

#endif
