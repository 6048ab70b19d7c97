#include "base/cli/program.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void program_fill_standard_descriptors(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int program_print(const struct buf *text, struct err *err)
{
    if (buf_check(text, err) < 0)
        return -1;
    if ((text->len && fwrite(text->data, 1, text->len, stdout) != text->len) || fflush(stdout) != 0)
        return err_sys(err, "standard output");
    return 0;
}

/* A program whose first operand may be anything has no command "help". */
static bool asks_for_help(const struct program_spec *program, int argc, char *const argv[])
{
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return true;
    return argc == 2 && !program->fallback && strcmp(argv[1], "help") == 0;
}

/*
 * Handles --help, --version, --completion and a line without words. Returns 1 if the line was one
 * of these, 0 if not.
 */
static int answer(const struct program_spec *program, int argc, char *const argv[], struct err *err)
{
    static const char completion[] = "--completion=";
    _cleanup_buf_ struct buf out = BUF_INIT;

    if (argc < 2)
        return err_set(err, ERR_USAGE, "%s see '%s --help'", program->asks, program->name);
    if (asks_for_help(program, argc, argv)) {
        options_help_program(program, &out);
    } else if (strcmp(argv[1], "--version") == 0) {
        buf_printf(&out, "%s %s\n", program->name, FLATBED_VERSION);
    } else if (strncmp(argv[1], completion, sizeof(completion) - 1) == 0) {
        if (options_complete(program, argv[1] + sizeof(completion) - 1, &out, err) < 0)
            return -1;
    } else {
        return 0;
    }
    return program_print(&out, err) < 0 ? -1 : 1;
}

int program_run(const struct program_spec *program, command_run *const runs[], int argc,
                char *const argv[], struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;
    bool help = false;
    int skip, answered = answer(program, argc, argv, err);

    if (answered)
        return answered < 0 ? -1 : 0;
    /* "help check" is "check --help". */
    bool words = argc == 3 && !program->fallback && strcmp(argv[1], "help") == 0;
    const struct command_spec *command =
        options_command(program, argc - words, argv + words, &skip, err);
    if (!command)
        return -1;
    for (size_t i = 0; program->commands[i] && !words; i++) {
        if (program->commands[i] != command)
            continue;
        int status = runs[i](argc - skip, argv + skip, &help, err);
        if (!help)
            return status;
    }
    options_help_command(program, command, &out);
    return program_print(&out, err);
}
