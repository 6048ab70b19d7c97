#include "shim/host/lock.h"

#include "base/clock.h"

#include <stdbool.h>
#include <sys/file.h>
#include <time.h>

enum { FIRST_PAUSE = 100 * 1000, LONGEST_PAUSE = 5 * 1000 * 1000 }; /* nanoseconds */

int lock_wait(int fd, unsigned milliseconds, struct err *err)
{
    struct timespec pause = {.tv_nsec = FIRST_PAUSE};
    int64_t end = clock_ms() + milliseconds;

    while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return err_sys(err, "flock");
        if (clock_ms() >= end)
            return err_set(err, ERR_LIMIT, "another process has held the lock for %u ms",
                           milliseconds);
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < LONGEST_PAUSE)
            pause.tv_nsec *= 2;
    }
    return 0;
}
