#include "flatten/exchange/arrival.h"

#include "flatten/stream/interrupt.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The page that both processes map. */
struct page {
    _Atomic uint32_t changed; /* counts changes: the readers' futex */
    _Atomic uint32_t failed;  /* 1: the next two members are set */
    uint32_t failed_blob;
    struct err failure;
    _Atomic uint64_t have[]; /* bytes of each blob */
};

struct arrival {
    atomic_uint refs;
    int fd;      /* owned; -1 in the reader */
    size_t size; /* of the page, bytes */
    struct page *page;
};

static size_t page_size(size_t count)
{
    return sizeof(struct page) + count * sizeof(uint64_t);
}

static struct arrival *map_page(int fd, size_t count, int rights, struct err *err)
{
    struct arrival *a = malloc(sizeof(*a));

    if (!a) {
        err_nomem(err);
        return NULL;
    }
    *a = (struct arrival){.refs = 1, .fd = -1, .size = page_size(count)};
    a->page = mmap(NULL, a->size, rights, MAP_SHARED, fd, 0);
    if (a->page == MAP_FAILED) {
        err_sys(err, "the page that tells how far blobs have come");
        free(a);
        return NULL;
    }
    return a;
}

struct arrival *arrival_ref(struct arrival *a)
{
    if (a)
        atomic_fetch_add(&a->refs, 1);
    return a;
}

void arrival_unref(struct arrival *a)
{
    if (atomic_fetch_sub(&a->refs, 1) > 1)
        return;
    munmap(a->page, a->size);
    cleanup_fd(&a->fd);
    free(a);
}

/* ---- in the keeper ---- */

/* A page that shrinks would end this process with SIGBUS. */
static int seal_page(int fd, struct err *err)
{
    const int size = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

    /* Kernels before 5.1 lack this seal; without it, the reader can write to its own page. */
    if (fcntl(fd, F_ADD_SEALS, size | F_SEAL_FUTURE_WRITE) < 0 && fcntl(fd, F_ADD_SEALS, size) < 0)
        return err_sys(err, "memfd");
    return 0;
}

/* Opens a file that is not executable, as vm.memfd_noexec=2 asks for; kernels have it from 6.3. */
static int open_page(void)
{
    enum { NOEXEC_SEAL = 8 };
    const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int fd = memfd_create("arrival", flags | NOEXEC_SEAL);

    return fd < 0 && errno == EINVAL ? memfd_create("arrival", flags) : fd;
}

struct arrival *arrival_new(size_t count, struct err *err)
{
    _cleanup_fd_ int fd = open_page();

    /* Without memory for the page, this fails, instead of SIGBUS where it is used. */
    if (fd < 0 || fallocate(fd, 0, 0, (off_t)page_size(count)) < 0) {
        err_sys(err, "memfd");
        return NULL;
    }
    _cleanup_arrival_ struct arrival *a = map_page(fd, count, PROT_READ | PROT_WRITE, err);
    if (!a || seal_page(fd, err) < 0)
        return NULL;
    a->fd = steal_fd(&fd);
    return steal_ptr(&a);
}

int arrival_fd(const struct arrival *a)
{
    return a->fd;
}

static void wake_readers(struct page *p)
{
    atomic_fetch_add(&p->changed, 1);
    syscall(SYS_futex, &p->changed, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void arrival_advance(struct arrival *a, size_t blob, uint64_t bytes)
{
    atomic_store(&a->page->have[blob], bytes);
    wake_readers(a->page);
}

void arrival_fail(struct arrival *a, size_t blob, const struct err *why)
{
    a->page->failure = *why;
    a->page->failed_blob = (uint32_t)blob;
    atomic_store(&a->page->failed, 1);
    wake_readers(a->page);
}

/* ---- in the reader ---- */

struct arrival *arrival_open(int fd, size_t count, struct err *err)
{
    off_t size = lseek(fd, 0, SEEK_END);

    if (size < 0 || (uint64_t)size < page_size(count)) {
        err_set(err, ERR_FORMAT, "an answer without the place of its blobs");
        return NULL;
    }
    return map_page(fd, count, PROT_READ, err);
}

/*
 * Sleeps until the page changes from `seen`, or a signal comes. A signal that came just before is
 * noticed after a second.
 */
static void await_change(struct page *p, uint32_t seen)
{
    const struct timespec second = {.tv_sec = 1};

    syscall(SYS_futex, &p->changed, FUTEX_WAIT, seen, &second, NULL, 0);
}

int arrival_await(const struct arriving *blob, uint64_t bytes, struct err *err)
{
    struct page *p = blob->all ? blob->all->page : NULL;

    while (p) {
        uint32_t seen = atomic_load(&p->changed);
        if (atomic_load(&p->have[blob->blob]) >= bytes)
            return 0;
        if (atomic_load(&p->failed)) {
            *err = p->failure;
            return -1;
        }
        if (interrupt_check(err) < 0)
            return -1;
        await_change(p, seen);
    }
    return 0;
}

bool arrival_failed(const struct arriving *blob, struct err *err)
{
    const struct page *p = blob->all ? blob->all->page : NULL;

    if (!p || !atomic_load(&p->failed) || p->failed_blob != blob->blob)
        return false;
    *err = p->failure;
    return true;
}
