#include "shim/admin/monitor/ready/ready.h"

#include "shim/admin/monitor/ready/mark.h"
#include "shim/admin/monitor/ready/process.h"

#include <stdlib.h>
#include <time.h>

static void find_start(const struct policy_alerts *limits, time_t before,
                       const struct first_process *process, struct start_wish *wish)
{
    struct start *s = &wish->start;
    double started = process_started(process), at = 0;

    if (before && !wish->alerted && (double)before > started + (double)limits->start_seconds)
        return;
    enum mark_answer answer =
        mark_find(&limits->ready, wish->container, process->pid, started, &at);
    double end = answer == MARK_SET ? at : process_clock(CLOCK_REALTIME);
    s->known = answer != MARK_UNKNOWN;
    s->ready = answer == MARK_SET || answer == MARK_PASSED;
    s->ready_at = answer == MARK_SET ? (time_t)at : 0;
    s->seconds = answer != MARK_PASSED && end > started ? (uint64_t)(end - started) : 0;
}

int starts_find(const struct policy_alerts *limits, time_t before, struct start_wish *wishes,
                size_t count, struct err *err)
{
    struct first_process *processes = calloc(count ? count : 1, sizeof(*processes));

    if (!processes)
        return err_nomem(err);
    int rc = processes_find(wishes, count, processes, err);
    for (size_t i = 0; i < count && rc == 0; i++)
        if (processes[i].pid)
            find_start(limits, before, &processes[i], &wishes[i]);
    free(processes);
    return rc;
}
