#include "flatten/command/squash/progress.h"

#include "base/fdio.h"
#include "flatten/stream/relay.h"

#include <pthread.h>
#include <sys/ioctl.h>
#include <time.h>

struct progress {
    _Atomic uint64_t done;
    uint64_t total;
    struct timespec start;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool over, drawn;
    struct worker *worker;
};

/* The clock of the host can be set back while flatten works. */
static const clockid_t progress_clock = CLOCK_MONOTONIC;

static struct timespec time_now(void)
{
    struct timespec t;

    clock_gettime(progress_clock, &t);
    return t;
}

static double seconds_since(const struct timespec *start)
{
    struct timespec t = time_now();

    return (double)(t.tv_sec - start->tv_sec) + (double)(t.tv_nsec - start->tv_nsec) / 1e9;
}

/* Bytes that are read twice count twice; the share never exceeds 1. */
void progress_line(uint64_t done, uint64_t total, double seconds, struct buf *out)
{
    double share = done < total ? (double)done / (double)total : 1;
    double rate = seconds > 0 ? (double)done / seconds : 0;

    buf_printf(out, "%3.0f %%  %.2f of %.2f GB", share * 100, share * (double)total / 1e9,
               (double)total / 1e9);
    if (seconds < 1 || rate <= 0)
        return;
    double left = (1 - share) * (double)total / rate;
    unsigned long whole = left < 360000 ? (unsigned long)(left + 0.5) : 360000;
    buf_printf(out, "  %.0f MB/s  %lu:%02lu left", rate / 1e6, whole / 60, whole % 60);
}

/* Errors are ignored: the work goes on without the line. */
static void write_line(const struct buf *line)
{
    struct err ignored;

    if (!line->failed && fd_write_all(STDERR_FILENO, line->data, line->len, &ignored) < 0)
        return;
}

/* A line that wraps could not be overwritten. An unknown width is taken for 80 columns. */
static size_t terminal_width(void)
{
    struct winsize size;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col - 1U : 80;
}

static void draw_line(struct progress *p)
{
    _cleanup_buf_ struct buf line = BUF_INIT;
    size_t longest = terminal_width();

    progress_line(atomic_load(&p->done), p->total, seconds_since(&p->start), &line);
    if (line.len > longest)
        buf_truncate(&line, longest);
    buf_puts(&line, "\033[K\r");
    write_line(&line);
    p->drawn = true;
}

static void erase_line(struct progress *p)
{
    _cleanup_buf_ struct buf line = BUF_INIT;

    if (!p->drawn)
        return;
    buf_puts(&line, "\r\033[K");
    write_line(&line);
    p->drawn = false;
}

static void draw_progress(void *ctx)
{
    enum { STEP_NS = 200 * 1000 * 1000, SECOND_NS = 1000 * 1000 * 1000 };
    struct progress *p = ctx;

    pthread_mutex_lock(&p->lock);
    while (!p->over) {
        struct timespec next = time_now();
        next.tv_nsec += STEP_NS;
        next.tv_sec += next.tv_nsec / SECOND_NS;
        next.tv_nsec %= SECOND_NS;
        pthread_cond_timedwait(&p->ended, &p->lock, &next);
        if (!p->over)
            draw_line(p);
    }
    erase_line(p);
    pthread_mutex_unlock(&p->lock);
}

static void init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, progress_clock);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

struct progress *progress_new(bool wanted, uint64_t total, struct err *err)
{
    struct progress *p = calloc(1, sizeof(*p));

    if (!p) {
        err_nomem(err);
        return NULL;
    }
    p->total = total;
    p->start = time_now();
    pthread_mutex_init(&p->lock, NULL);
    init_condition(&p->ended);
    if (wanted && isatty(STDERR_FILENO) && !(p->worker = worker_start(draw_progress, p, err))) {
        progress_free(p);
        return NULL;
    }
    return p;
}

void progress_free(struct progress *p)
{
    pthread_mutex_lock(&p->lock);
    p->over = true;
    pthread_cond_broadcast(&p->ended);
    pthread_mutex_unlock(&p->lock);
    if (p->worker)
        worker_join(p->worker);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->ended);
    free(p);
}

_Atomic uint64_t *progress_counter(struct progress *p)
{
    return &p->done;
}

void progress_hide(struct progress *p)
{
    pthread_mutex_lock(&p->lock);
    erase_line(p);
    pthread_mutex_unlock(&p->lock);
}
