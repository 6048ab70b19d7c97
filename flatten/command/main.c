#include "base/cli/log.h"
#include "flatten/command/commands.h"
#include "flatten/stream/interrupt.h"

#include <sys/resource.h>

static const char details[] =
    "References:\n"
    "  docker-archive:FILE[:NAME]  what docker save writes; FILE may be - and may be compressed\n"
    "  oci:DIR[:TAG]               an OCI image layout\n"
    "  oci-archive:FILE[:TAG]      an OCI image layout in a tar archive\n"
    "  docker://[HOST/]NAME[:TAG]  an image of a registry, by default Docker Hub; or @DIGEST\n"
    "  docker-daemon:NAME          an image of the Docker daemon\n"
    "  containers-storage:NAME     an image of podman\n"
    "  PATH                        a layout or an archive that exists\n"
    "  NAME                        an image of the Docker daemon, or of podman without one\n"
    "\n"
    "Examples:\n"
    "  flatten pytorch-cuda:v2.7                      makes pytorch-cuda:v2.7-flat in Docker\n"
    "  flatten image.tar docker-archive:flat.tar\n"
    "  flatten oci:layout:v1 oci:layout:v1-flat --compression=zstd:9\n"
    "  flatten docker://reg.example.org/torch:2 docker://reg.example.org/torch:2-flat\n"
    "  flatten carve app:1.4                          many layers, stable from version to version\n"
    "  flatten verify image.tar flat.tar\n"
    "  flatten unpack oci:layout:v1 rootfs            the tree in a new directory\n"
    "  flatten analyze image.tar                      what its bytes and its depth cost\n"
    "\n"
    "Exit status: 0 done, 1 verify found a difference, 2 usage, 3 system, 4 analyze found a rule\n"
    "broken, 5 malformed input, 6 a digest does not match, 7 a limit was reached, 8 not "
    "supported.\n";

static const struct command_spec *const commands[] = {&command_squash_spec,  &command_carve_spec,
                                                      &command_verify_spec,  &command_unpack_spec,
                                                      &command_analyze_spec, NULL};

static const struct program_spec program = {
    .name = "flatten",
    .asks = "no image is given:",
    .summary = "squash the layers of container images, exactly",
    .details = details,
    .commands = commands,
    .fallback = &command_squash_spec,
};

static command_run *const runs[] = {command_squash, command_carve, command_verify, command_unpack,
                                    command_analyze};

/* Each layer of each platform has a descriptor: the usual limit of 1024 is low. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char *argv[])
{
    struct err err = ERR_INIT;

    program_fill_standard_descriptors();
    raise_descriptor_limit();
    interrupt_install();
    log_init("flatten", LOG_LEVEL_INFO);
    int status = program_run(&program, runs, argc, argv, &err);
    if (status >= 0)
        return status;
    log_error("%s", err.msg);
    interrupt_die();
    return err_exit_status(err.kind);
}
