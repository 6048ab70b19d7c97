/*
 * The commands of flatbed about the host: the description of each (for options_parse and help), and
 * the function that runs it. Those about containers are in container_commands/.
 */
#ifndef SHIM_COMMANDS_H
#define SHIM_COMMANDS_H

#include "base/cli/program.h"

extern const struct command_spec command_check_spec, command_install_spec, command_uninstall_spec,
    command_bench_spec, command_restack_spec, command_doctor_spec, command_zfs_spec,
    command_status_spec, command_monitor_spec, command_stage_spec, command_warm_spec;
command_run command_check, command_install, command_uninstall, command_bench, command_restack,
    command_doctor, command_zfs, command_status, command_monitor, command_stage, command_warm;

#endif
