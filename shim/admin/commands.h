/*
 * The commands of flatbed: the description of each (for options_parse and help), and the function
 * that runs it.
 */
#ifndef SHIM_COMMANDS_H
#define SHIM_COMMANDS_H

#include "base/cli/program.h"

extern const struct command_spec command_check_spec, command_explain_spec, command_install_spec,
    command_uninstall_spec, command_bench_spec, command_restack_spec, command_gc_spec,
    command_doctor_spec, command_copyups_spec, command_stale_spec, command_zfs_spec,
    command_status_spec, command_monitor_spec, command_start_time_spec, command_watch_spec,
    command_stage_spec, command_warm_spec;
command_run command_check, command_explain, command_install, command_uninstall, command_bench,
    command_restack, command_gc, command_doctor, command_copyups, command_stale, command_zfs,
    command_status, command_monitor, command_start_time, command_watch, command_stage, command_warm;

#endif
