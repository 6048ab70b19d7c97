/* The load of the disks of the stores, while doctor looks at other things. */
#include "shim/admin/doctor/doctor.h"

#include "base/fdio.h"
#include "shim/admin/doctor/disk/disk_load.h"
#include "shim/admin/doctor/disk/seconds.h"
#include "shim/admin/doctor/store/store.h"
#include "shim/admin/engine/engine_stores.h"

#include <fcntl.h>
#include <sys/sysmacros.h>
#include <time.h>

enum { PERIOD = 2, STATS_BYTES = 4 * 1024 * 1024 };
enum { BUSY = 80 /* per cent */, SLOW = 20 /* ms */, FEW_REQUESTS = 20, IMPORTED = 5000 };

static void read_stats(struct buf *out)
{
    struct err ignored;

    if (file_read(AT_FDCWD, "/proc/diskstats", STATS_BYTES, out, &ignored) < 0)
        buf_free(out);
}

void doctor_busy_begin(struct busy_disks *disks, const struct diagnoses *d)
{
    if (!diagnoses_want(d, "store-busy"))
        return;
    read_stats(&disks->before);
    disks->start = seconds_now();
}

static void judge(const char *path, const struct disk_load *load, double seconds,
                  struct diagnoses *out)
{
    bool much = load->busy >= BUSY && load->await >= SLOW && load->requests >= FEW_REQUESTS;
    struct diagnosis *of =
        diagnoses_add(out, much ? DIAGNOSIS_WARNING : DIAGNOSIS_OK, "store-busy", path,
                      "its disk was busy for %.0f %% of %.1f s, and a read or write took %.1f ms",
                      load->busy, seconds, load->await);

    if (!much)
        return;
    diagnosis_cost(out, of, "an import of %d files that are not cached waits about %.0f s",
                   IMPORTED, load->await * IMPORTED / 1000);
    diagnosis_mend(out, of,
                   "'iotop -o' names the programs, 'flatbed copyups' the containers that write; "
                   "datasets and logs on another disk than the store");
}

/* Judges the disk of a store, unless it was judged for another one. */
static void examine_store(const char *path, const struct busy_disks *disks, const char *after,
                          dev_t *judged, struct diagnoses *out)
{
    const struct file_system_look look = {.path = path};
    double seconds = disks->end - disks->start;
    struct file_system_seen seen;
    struct disk_load load;

    if (!store_look(&look, &seen, out) || seen.error || major(seen.is.disk) == 0)
        return;
    for (; *judged; judged++)
        if (*judged == seen.is.disk)
            return;
    *judged = seen.is.disk;
    if (disk_load_between(disks->before.data, after, seconds, seen.is.disk, &load))
        judge(path, &load, seconds, out);
}

static void wait_until(double end)
{
    double left = end - seconds_now();
    const struct timespec rest = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};

    if (left > 0)
        nanosleep(&rest, NULL);
}

void doctor_busy_end(struct busy_disks *disks, const char *const *more, size_t more_count,
                     struct diagnoses *out)
{
    _cleanup_arena_ struct arena arena = {0};
    _cleanup_buf_ struct buf after = BUF_INIT;
    const char *const roots[] = {engine_docker_root(&arena), engine_containerd_root(&arena),
                                 engine_podman_root(&arena)};
    enum { ROOTS = sizeof(roots) / sizeof(*roots) };
    dev_t *judged = arena_alloc(&arena, (ROOTS + more_count + 1) * sizeof(*judged));

    if (!disks->before.data || !judged)
        return;
    for (size_t i = 0; i <= ROOTS + more_count; i++)
        judged[i] = 0;
    wait_until(disks->start + PERIOD);
    read_stats(&after);
    disks->end = seconds_now();
    for (size_t i = 0; after.data && i < ROOTS + more_count; i++)
        examine_store(i < ROOTS ? roots[i] : more[i - ROOTS], disks, after.data, judged, out);
}

void busy_disks_free(struct busy_disks *disks)
{
    buf_free(&disks->before);
}
