#include "flatten/stream/interrupt.h"

#include <signal.h>

/* Set by the handler. */
static volatile sig_atomic_t caught;

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

static void note_signal(int number)
{
    caught = number;
}

void interrupt_install(void)
{
    struct sigaction old, action = {.sa_handler = note_signal};

    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    /* write(2) returns EFBIG at a limit on file sizes, and EPIPE when the reader has gone. */
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
}

bool interrupted(void)
{
    return caught != 0;
}

int interrupt_check(struct err *err)
{
    if (!caught)
        return 0;
    return err_set(err, ERR_SYSTEM, "stopped by signal %d", (int)caught);
}

void interrupt_die(void)
{
    if (!caught)
        return;
    signal(caught, SIG_DFL);
    raise(caught);
}
