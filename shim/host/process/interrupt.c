#include "shim/host/process/interrupt.h"

#include <stddef.h>

static const int held_signals[] = {SIGINT, SIGTERM, SIGHUP};

void interrupts_hold(sigset_t *before)
{
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(held_signals) / sizeof(*held_signals); i++)
        sigaddset(&set, held_signals[i]);
    sigprocmask(SIG_BLOCK, &set, before);
}

bool interrupts_pending(void)
{
    sigset_t pending;

    if (sigpending(&pending) < 0)
        return false;
    for (size_t i = 0; i < sizeof(held_signals) / sizeof(*held_signals); i++)
        if (sigismember(&pending, held_signals[i]) > 0)
            return true;
    return false;
}
