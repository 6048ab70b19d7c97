#include "base/log.h"
#include "flatten/commands.h"
#include "flatten/interrupt.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char details[] =
    "References:\n"
    "  docker-archive:FILE[:NAME]  what docker save writes; FILE may be - and may be compressed\n"
    "  oci:DIR[:TAG]               an OCI image layout\n"
    "  docker-daemon:NAME          an image of the Docker daemon\n"
    "  PATH                        a layout or an archive that exists\n"
    "  NAME                        an image of the Docker daemon\n"
    "\n"
    "Examples:\n"
    "  flatten pytorch-cuda:v2.7                      makes pytorch-cuda:v2.7-flat in Docker\n"
    "  flatten image.tar docker-archive:flat.tar\n"
    "  flatten oci:layout:v1 oci:layout:v1-flat --compression=zstd:9\n"
    "  flatten verify image.tar flat.tar\n"
    "  flatten analyze image.tar                      what its bytes and its depth cost\n"
    "\n"
    "Exit status: 0 done, 1 verify found a difference, 2 usage, 3 system, 4 analyze found a rule\n"
    "broken, 5 malformed input, 6 a digest does not match, 7 a limit was reached, 8 not "
    "supported.\n";

static const struct command_spec *const commands[] = {&command_squash_spec, &command_verify_spec,
                                                      &command_analyze_spec, NULL};

static const struct program_spec program = {
    .name = "flatten",
    .summary = "squash the layers of container images, exactly",
    .details = details,
    .commands = commands,
    .fallback = &command_squash_spec,
};

static command_run *const runs[] = {command_squash, command_verify, command_analyze};

static int print(struct buf *text, struct err *err)
{
    if (buf_check(text, err) < 0)
        return -1;
    if (fwrite(text->data, 1, text->len, stdout) != text->len || fflush(stdout) != 0)
        return err_sys(err, "standard output");
    return 0;
}

/* --help, --version, --completion: what the program answers itself. 1 if it was one of them. */
static int answer_globals(int argc, char *const argv[], struct err *err)
{
    static const char completion[] = "--completion=";
    _cleanup_buf_ struct buf out = BUF_INIT;

    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        options_help_program(&program, &out);
        if (argc < 2)
            return err_set(err, ERR_USAGE, "which image? see 'flatten --help'");
    } else if (strcmp(argv[1], "--version") == 0) {
        buf_puts(&out, "flatten " FLATBED_VERSION "\n");
    } else if (strncmp(argv[1], completion, sizeof(completion) - 1) == 0) {
        if (options_complete(&program, argv[1] + sizeof(completion) - 1, &out, err) < 0)
            return -1;
    } else {
        return 0;
    }
    return print(&out, err) < 0 ? -1 : 1;
}

static int run(int argc, char *const argv[], struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;
    bool help = false;
    int skip, answered = answer_globals(argc, argv, err);

    if (answered)
        return answered < 0 ? -1 : 0;
    const struct command_spec *command = options_command(&program, argc, argv, &skip, err);
    if (!command)
        return -1;
    for (size_t i = 0; commands[i]; i++) {
        if (commands[i] != command)
            continue;
        int status = runs[i](argc - skip, argv + skip, &help, err);
        if (!help)
            return status;
    }
    options_help_command(&program, command, &out);
    return print(&out, err);
}

/* With a standard descriptor closed, the next file opened would get its number, and our words. */
static void fill_standard_descriptors(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char *argv[])
{
    struct err err = ERR_INIT;

    fill_standard_descriptors();
    interrupt_install();
    log_init("flatten", LOG_LEVEL_INFO);
    int status = run(argc, argv, &err);
    if (status >= 0)
        return status;
    log_error("%s", err.msg);
    interrupt_die();
    return err_exit_status(err.kind);
}
