#include "shim/host/process/patience.h"

#include "base/cli/log.h"
#include "base/clock.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SHOWN = 400 }; /* bytes of a path */

static struct {
    pthread_mutex_t mutex; /* of all below */
    bool runs;             /* the thread does */
    const char *what;      /* NULL: nothing is looked after */
    int silence;           /* seconds until a step is named */
    char path[SHOWN];
    unsigned long long steps;
    time_t step, word; /* when the last ones were */
} work = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static time_t clock_now(void)
{
    return clock_ms() / 1000;
}

/* Says a word if it is time. Called with the mutex. */
static void say(time_t now)
{
    bool silent = now - work.step >= work.silence, told = work.word > work.step;

    if (!work.what || (now - work.word < PATIENCE_USUAL && (!silent || told)))
        return;
    work.word = now;
    if (silent)
        log_warning("%s: %s has not answered for %lld s; waiting for it", work.what,
                    work.path[0] ? work.path : "this host", (long long)(now - work.step));
    else
        log_info("%s: %llu directories read so far", work.what, work.steps);
}

static void *watch(void *unused)
{
    bool on = true;

    while (on) {
        sleep(1);
        pthread_mutex_lock(&work.mutex);
        say(clock_now());
        on = work.runs = work.what != NULL;
        pthread_mutex_unlock(&work.mutex);
    }
    return unused;
}

/* Starts the thread, which takes no signals. Without it there are no words. */
static void start(void)
{
    pthread_t thread;
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    work.runs = pthread_create(&thread, NULL, watch, NULL) == 0 && pthread_detach(thread) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void patience_begin(const char *what, int seconds)
{
    pthread_mutex_lock(&work.mutex);
    work.what = what;
    work.silence = seconds;
    work.path[0] = '\0';
    work.steps = 0;
    work.step = work.word = clock_now();
    if (!work.runs)
        start();
    pthread_mutex_unlock(&work.mutex);
}

void patience_step(const char *path)
{
    pthread_mutex_lock(&work.mutex);
    if (work.what) {
        snprintf(work.path, sizeof(work.path), "%s", path);
        work.steps++;
        work.step = clock_now();
    }
    pthread_mutex_unlock(&work.mutex);
}

void patience_end(void)
{
    pthread_mutex_lock(&work.mutex);
    work.what = NULL;
    pthread_mutex_unlock(&work.mutex);
}
