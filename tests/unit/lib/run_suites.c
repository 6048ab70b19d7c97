#include "tests/unit/lib/run_suites.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool suite_is_wanted(const struct suite *suite, char **words)
{
    for (size_t i = 0; words[i]; i++)
        if (strstr(suite->name, words[i]))
            return true;
    return !words[0];
}

/* Runs in a child process: a suite may change the directory, limits, signals and statics. */
static bool suite_passes(const struct suite *suite)
{
    int status;

    printf("== %s\n", suite->name);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        exit(suite->run() == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
    if (pid < 0 || waitpid(pid, &status, 0) < 0) {
        perror(suite->name);
        return false;
    }
    if (WIFSIGNALED(status))
        fprintf(stderr, "%s: killed by %s\n", suite->name, strsignal(WTERMSIG(status)));
    return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    size_t run = 0, failed = 0;

    (void)argc;
    for (size_t i = 0; i < suite_count; i++) {
        if (!suite_is_wanted(&suites[i], argv + 1))
            continue;
        run++;
        if (!suite_passes(&suites[i])) {
            fprintf(stderr, "FAILED: %s\n", suites[i].name);
            failed++;
        }
    }
    if (run == 0)
        fprintf(stderr, "%s: no suite has such a name\n", argv[0]);
    return run > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
