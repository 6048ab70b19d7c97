#include "shim/admin/watch/trace/tracer.h"

#include "shim/admin/watch/trace/program.h"
#include "shim/admin/watch/trace/tracepoints.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { RING_BYTES = 16 * 1024 * 1024, PENDING_MOST = 65536 };

/* bpf_probe_read_user_str() is for programs under a license that goes with the kernel's. */
static const char license[] = "Dual BSD/GPL";

static int bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
    return (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/* Keeps a descriptor to be closed. Returns it; a negative one becomes an error. */
static int own(struct tracer *t, int fd, const char *what, struct err *err)
{
    if (fd < 0)
        return err_set(err, ERR_UNSUPPORTED, "%s: %s", what, strerror(errno));
    t->owned[t->count++] = fd;
    return fd;
}

static int make_map(struct tracer *t, enum bpf_map_type type, uint32_t key, uint32_t value,
                    uint32_t most, struct err *err)
{
    union bpf_attr attr = {0};

    attr.map_type = type;
    attr.key_size = key;
    attr.value_size = value;
    attr.max_entries = most;
    return own(t, bpf(BPF_MAP_CREATE, &attr), "the kernel refuses a map of BPF", err);
}

static int load_program(struct tracer *t, const struct program *p, struct err *err)
{
    union bpf_attr attr = {0};

    attr.prog_type = BPF_PROG_TYPE_TRACEPOINT;
    attr.insns = (uint64_t)(uintptr_t)p->list;
    attr.insn_cnt = (uint32_t)p->count;
    attr.license = (uint64_t)(uintptr_t)license;
    return own(t, bpf(BPF_PROG_LOAD, &attr), "the kernel refuses a program of BPF", err);
}

/* Runs the program at a tracepoint. The event of one processor is enough for all of them. */
static int attach(struct tracer *t, long number, int program, struct err *err)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .config = (uint64_t)number};
    int fd = own(t, (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC),
                 "the kernel refuses an event of a tracepoint", err);

    if (fd < 0)
        return -1;
    if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) < 0 || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
        return err_set(err, ERR_UNSUPPORTED, "the kernel refuses a program at a tracepoint: %s",
                       strerror(errno));
    return 0;
}

_Static_assert(4 + 3 * TRACEPOINT_CALLS <= TRACER_DESCRIPTORS, "room for each descriptor");

static int map_ring(struct tracer *t, struct err *err)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, t->ring, 0);
    /* The kernel maps the data twice, one behind the other: a record is never in two parts. */
    void *data = mmap(NULL, page + 2UL * RING_BYTES, PROT_READ, MAP_SHARED, t->ring, (off_t)page);

    t->consumer = consumer == MAP_FAILED ? NULL : consumer;
    t->data = data == MAP_FAILED ? NULL : data;
    return t->consumer && t->data
               ? 0
               : err_set(err, ERR_UNSUPPORTED, "the ring buffer: %s", strerror(errno));
}

static int attach_call(struct tracer *t, int tracefs, const struct tracepoint_call *c,
                       const struct tracer_filter *filter, int leaving, struct err *err)
{
    long enter = tracepoint_number(tracefs, "enter", c->name);
    long exit = tracepoint_number(tracefs, "exit", c->name);
    struct program p;

    if (enter < 0 || exit < 0)
        return 0; /* the kernel does not have this call */
    program_enter(&p, filter, t->pending, c);
    int entering = load_program(t, &p, err);
    if (entering < 0 || attach(t, exit, leaving, err) < 0 || attach(t, enter, entering, err) < 0)
        return -1;
    return 1;
}

static int attach_all(struct tracer *t, const struct tracer_filter *filter, struct err *err)
{
    _cleanup_fd_ int tracefs = tracepoints_open(err);
    struct program p;
    int attached = 0;

    if (tracefs < 0)
        return -1;
    program_exit(&p, t->pending, t->ring, t->lost);
    int leaving = load_program(t, &p, err);
    if (leaving < 0)
        return -1;
    for (size_t i = 0; i < TRACEPOINT_CALLS; i++) {
        int rc = attach_call(t, tracefs, &tracepoint_calls[i], filter, leaving, err);
        if (rc < 0)
            return -1;
        attached += rc;
    }
    return attached
               ? 0
               : err_set(err, ERR_UNSUPPORTED, "the kernel has no tracepoints of system calls");
}

/*
 * Programs see the host's numbers of threads: in another namespace of process ids /proc has no such
 * threads, or others of that number. The number of the host's is the kernel's PROC_PID_INIT_INO.
 */
static bool is_on_host(void)
{
    enum { PID_NAMESPACE_OF_HOST = 0xEFFFFFFCU };
    struct stat st;

    return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == PID_NAMESPACE_OF_HOST;
}

int tracer_open(struct tracer *t, const struct tracer_filter *filter, struct err *err)
{
    if (!is_on_host())
        return err_set(err, ERR_UNSUPPORTED,
                       "this is not the host's namespace of process ids (--pid=host)");
    t->pending = make_map(t, BPF_MAP_TYPE_LRU_HASH, sizeof(uint64_t),
                          sizeof(struct program_pending), PENDING_MOST, err);
    if (t->pending < 0)
        return -1;
    t->ring = make_map(t, BPF_MAP_TYPE_RINGBUF, 0, 0, RING_BYTES, err);
    if (t->ring < 0)
        return -1;
    t->lost = make_map(t, BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(uint64_t), 1, err);
    if (t->lost < 0 || map_ring(t, err) < 0)
        return -1;
    return attach_all(t, filter, err);
}

void tracer_read(struct tracer *t, tracer_taker *take, void *ctx)
{
    unsigned long *consumer = t->consumer;
    const unsigned long *producer = t->data;
    const char *data = (const char *)t->data + sysconf(_SC_PAGESIZE);
    unsigned long at = __atomic_load_n(consumer, __ATOMIC_RELAXED);

    while (at < __atomic_load_n(producer, __ATOMIC_ACQUIRE)) {
        const char *place = data + (at & (RING_BYTES - 1));
        uint32_t head = __atomic_load_n((const uint32_t *)(const void *)place, __ATOMIC_ACQUIRE);
        uint32_t len = head & ~(uint32_t)(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
        if (head & BPF_RINGBUF_BUSY_BIT)
            break;
        if (len == sizeof(struct watch_record) && !(head & BPF_RINGBUF_DISCARD_BIT))
            take((const struct watch_record *)(const void *)(place + BPF_RINGBUF_HDR_SZ), ctx);
        at += (len + BPF_RINGBUF_HDR_SZ + 7UL) & ~7UL;
        __atomic_store_n(consumer, at, __ATOMIC_RELEASE);
    }
}

uint64_t tracer_lost(const struct tracer *t)
{
    uint32_t key = 0;
    uint64_t value = 0;
    union bpf_attr attr = {0};

    attr.map_fd = (uint32_t)t->lost;
    attr.key = (uint64_t)(uintptr_t)&key;
    attr.value = (uint64_t)(uintptr_t)&value;
    return bpf(BPF_MAP_LOOKUP_ELEM, &attr) == 0 ? value : 0;
}

void tracer_close(struct tracer *t)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (t->consumer)
        munmap(t->consumer, page);
    if (t->data)
        munmap(t->data, page + 2UL * RING_BYTES);
    while (t->count)
        close(t->owned[--t->count]);
    *t = (struct tracer)TRACER_INIT;
}
