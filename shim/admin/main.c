/* flatbed: the administrator's tool. */
#include "base/cli/log.h"
#include "shim/admin/commands.h"
#include "shim/admin/container_commands/container_commands.h"

#include <locale.h>
#include <stddef.h>

static const char details[] =
    "Examples:\n"
    "  flatbed install docker --dry-run                show the change as a diff\n"
    "  flatbed install docker --default\n"
    "  flatbed check --draft new-policy.json\n"
    "  flatbed explain --config bundle/config.json --annotation flatbed.data=imagenet\n"
    "  flatbed explain 3f2a                            a running container, by the start of its "
    "ID\n"
    "  flatbed status                                  engines, policy and trees at a glance\n"
    "  flatbed doctor                                  what of this host is not right\n"
    "  flatbed copyups train-7                         what a container wrote above its image\n"
    "  flatbed watch train-7 --for 60 --misses         names that a container looks for in vain\n"
    "  flatbed stale                                   directories that no engine knows any more\n"
    "  flatbed monitor --dry-run                       alerts by the limits of the policy\n"
    "  flatbed zfs advice models=/tank/models          properties of ZFS that cost time or room\n"
    "  flatbed bench --dir /var/lib/docker             the cost of overlay mounts here\n"
    "  flatbed start-time torch:2.7 -- python -c 'import torchvision'\n"
    "                                                  how long it takes, and what helps\n"
    "  flatbed stage data=imagenet --wait              a dataset on the local disk, before the "
    "job\n"
    "  flatbed warm torch:2.7                          read ahead what its containers read first\n"
    "  flatbed restack --build torch:2.7               one layer for containers of an image\n"
    "\n"
    "Exit status: 0 done; 1 the policy has errors or would refuse the container, stale or zfs\n"
    "left something out, or the command of start-time failed; 2 usage; 3 system; 4 start-time is\n"
    "beyond --limit; 5 malformed input; 7 a limit was reached; 8 not supported; 9 policy;\n"
    "of doctor: 10 the host has warnings, 11 errors.\n";

static const struct command_spec *const commands[] = {
    &command_check_spec,     &command_explain_spec,    &command_install_spec,
    &command_uninstall_spec, &command_bench_spec,      &command_restack_spec,
    &command_gc_spec,        &command_doctor_spec,     &command_copyups_spec,
    &command_stale_spec,     &command_zfs_spec,        &command_status_spec,
    &command_monitor_spec,   &command_start_time_spec, &command_watch_spec,
    &command_stage_spec,     &command_warm_spec,       NULL,
};

static const struct program_spec program = {
    .name = "flatbed",
    .asks = "which command?",
    .summary = "set flatbed-runtime up, and show what it does",
    .details = details,
    .commands = commands,
};

static command_run *const runs[] = {
    command_check,   command_explain, command_install, command_uninstall,  command_bench,
    command_restack, command_gc,      command_doctor,  command_copyups,    command_stale,
    command_zfs,     command_status,  command_monitor, command_start_time, command_watch,
    command_stage,   command_warm,
};

int main(int argc, char *argv[])
{
    struct err err = ERR_INIT;

    program_fill_standard_descriptors();
    /* Sets the locale for the width of characters; without it columns may not line up. */
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        setlocale(LC_CTYPE, "");
    log_init("flatbed", LOG_LEVEL_INFO);
    int status = program_run(&program, runs, argc, argv, &err);
    if (status >= 0)
        return status;
    log_error("%s", err.msg);
    return err_exit_status(err.kind);
}
