#include "shim/host/lock.h"

#include <stdbool.h>
#include <sys/file.h>
#include <time.h>

enum { FIRST_PAUSE = 100 * 1000, LONGEST_PAUSE = 5 * 1000 * 1000 }; /* nanoseconds */

static bool is_over(const struct timespec *start, unsigned milliseconds)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    long passed =
        (now.tv_sec - start->tv_sec) * 1000 + (now.tv_nsec - start->tv_nsec) / (1000 * 1000);
    return passed >= (long)milliseconds;
}

int lock_wait(int fd, unsigned milliseconds, struct err *err)
{
    struct timespec start, pause = {.tv_nsec = FIRST_PAUSE};

    clock_gettime(CLOCK_MONOTONIC, &start);
    while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return err_sys(err, "flock");
        if (is_over(&start, milliseconds))
            return err_set(err, ERR_LIMIT, "another process has held the lock for %u ms",
                           milliseconds);
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < LONGEST_PAUSE)
            pause.tv_nsec *= 2;
    }
    return 0;
}
