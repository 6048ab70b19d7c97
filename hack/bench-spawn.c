/*
 * Times commands, interleaved so that noise hits all alike, each round beginning with another one:
 *
 *     bench-spawn ROUNDS [-r FROM TO] LABEL WORD… [-- [-r FROM TO] LABEL WORD…]…
 *
 * -r copies a file before each run of the command, outside of the time that is taken. One line a
 * command: LABEL, then the median and the 95th percentile in microseconds, separated by tabs.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_COMMANDS = 16 };

struct command {
    const char *from, *to; /* or NULL */
    const char *label;
    char **argv;
    double *times;
};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void copy_file(const char *from, const char *to)
{
    struct stat st;
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    if (in < 0 || out < 0 || fstat(in, &st) < 0 ||
        sendfile(out, in, NULL, (size_t)st.st_size) != st.st_size)
        die(to);
    close(in);
    close(out);
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double time_once(const struct command *c, const posix_spawn_file_actions_t *quiet)
{
    int status;
    pid_t pid;

    if (c->from)
        copy_file(c->from, c->to);
    double start = seconds();
    if (posix_spawn(&pid, c->argv[0], quiet, NULL, c->argv, environ) != 0)
        die(c->argv[0]);
    if (waitpid(pid, &status, 0) < 0)
        die("waitpid");
    double end = seconds();
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "bench-spawn: %s failed (status %#x)\n", c->label, (unsigned)status);
        exit(1);
    }
    return (end - start) * 1e6;
}

static int parse(char **words, struct command *commands)
{
    int count = 0;

    while (*words && count < MOST_COMMANDS) {
        struct command *c = &commands[count++];
        if (strcmp(words[0], "-r") == 0 && words[1] && words[2]) {
            c->from = words[1];
            c->to = words[2];
            words += 3;
        }
        c->label = *words ? *words++ : "?";
        c->argv = words;
        while (*words && strcmp(*words, "--") != 0)
            words++;
        if (words == c->argv) {
            fprintf(stderr, "bench-spawn: '%s' has no command\n", c->label);
            exit(2);
        }
        if (*words)
            *words++ = NULL;
    }
    return count;
}

/* Each round begins with another command, as the first one finds the caches of the last round. */
static void run_round(struct command *commands, int count, int round,
                      const posix_spawn_file_actions_t *quiet)
{
    for (int i = 0; i < count; i++) {
        struct command *c = &commands[(round + i) % count];
        c->times[round] = time_once(c, quiet);
    }
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

int main(int argc, char *argv[])
{
    struct command commands[MOST_COMMANDS] = {0};
    posix_spawn_file_actions_t quiet;
    int rounds = argc > 2 ? atoi(argv[1]) : 0;

    if (rounds < 1) {
        fputs("usage: bench-spawn ROUNDS [-r FROM TO] LABEL WORD... [-- ...]\n", stderr);
        return 2;
    }
    int count = parse(argv + 2, commands);
    if (posix_spawn_file_actions_init(&quiet) != 0 ||
        posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) != 0)
        die("posix_spawn");
    for (int c = 0; c < count; c++)
        if (!(commands[c].times = calloc((size_t)rounds, sizeof(double))))
            die("calloc");
    for (int r = 0; r < rounds; r++)
        run_round(commands, count, r, &quiet);
    for (int c = 0; c < count; c++) {
        qsort(commands[c].times, (size_t)rounds, sizeof(double), ascending);
        printf("%s\t%.1f\t%.1f\n", commands[c].label, commands[c].times[rounds / 2],
               commands[c].times[rounds * 95 / 100]);
        free(commands[c].times);
    }
    posix_spawn_file_actions_destroy(&quiet);
    return 0;
}
