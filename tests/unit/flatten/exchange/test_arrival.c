#include "flatten/exchange/arrival.h"

#include "tests/unit/lib/unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOBS = 3, STEPS = 20000 };

/* A page as both processes see it. */
struct ends {
    struct arrival *keeper, *reader;
};

static struct ends make(void)
{
    struct err err = ERR_INIT;
    struct ends e = {.keeper = arrival_new(BLOBS, &err)};

    assert_non_null(e.keeper);
    e.reader = arrival_open(arrival_fd(e.keeper), BLOBS, &err);
    assert_non_null(e.reader);
    return e;
}

static void clear(struct ends *e)
{
    arrival_unref(e->keeper);
    arrival_unref(e->reader);
}

static void test_bytes_that_are_there(void **state)
{
    struct ends e = make();
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < BLOBS; i++)
        assert_works(arrival_await(&(struct arriving){e.reader, i}, 0, &err), err);
    arrival_advance(e.keeper, 1, 1000);
    assert_works(arrival_await(&(struct arriving){e.reader, 1}, 1, &err), err);
    assert_works(arrival_await(&(struct arriving){e.reader, 1}, 1000, &err), err);
    clear(&e);
}

static void test_a_blob_that_does_not_arrive(void **state)
{
    const struct arriving whole = {0};
    struct err err = ERR_INIT;

    (void)state;
    assert_works(arrival_await(&whole, UINT64_MAX, &err), err);
    assert_false(arrival_failed(&whole, &err));
    assert_null(arrival_ref(NULL));
}

static void test_failure(void **state)
{
    struct ends e = make();
    struct err err = ERR_INIT, why = ERR_INIT;

    (void)state;
    arrival_advance(e.keeper, 0, 500);
    err_set(&why, ERR_DIGEST, "another content");
    arrival_fail(e.keeper, 2, &why);
    /* Bytes that arrived before the failure can be read; no further bytes of any blob come. */
    assert_works(arrival_await(&(struct arriving){e.reader, 0}, 500, &err), err);
    for (size_t i = 0; i < BLOBS; i++) {
        struct arriving blob = {e.reader, i};
        err = (struct err)ERR_INIT;
        assert_fails(arrival_await(&blob, 501, &err), err, ERR_DIGEST);
        assert_string_equal(err.msg, "another content");
        err = (struct err)ERR_INIT;
        assert_int_equal(arrival_failed(&blob, &err), i == 2);
        assert_int_equal(err.kind, i == 2 ? ERR_DIGEST : ERR_NONE);
    }
    clear(&e);
}

static void *advance(void *ctx)
{
    struct ends *e = ctx;

    for (uint64_t i = 1; i <= STEPS; i++)
        for (size_t blob = 0; blob < BLOBS; blob++)
            arrival_advance(e->keeper, blob, i * (blob + 1));
    return NULL;
}

/* Each step is waited for: a wake-up that gets lost hangs the test. */
static void test_waiting(void **state)
{
    struct ends e = make();
    struct err err = ERR_INIT;
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, advance, &e), 0);
    for (uint64_t i = 1; i <= STEPS; i++)
        for (size_t blob = 0; blob < BLOBS; blob++)
            assert_works(arrival_await(&(struct arriving){e.reader, blob}, i * (blob + 1), &err),
                         err);
    pthread_join(thread, NULL);
    clear(&e);
}

/* In another process, as in flatten. */
static void test_waiting_for_another_process(void **state)
{
    struct ends e = make();
    struct err err = ERR_INIT;
    int status;

    (void)state;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (arrival_await(&(struct arriving){e.reader, 1}, 10, &err) < 0)
            _exit(2);
        _exit(arrival_await(&(struct arriving){e.reader, 1}, 11, &err) < 0 ? 0 : 1);
    }
    arrival_advance(e.keeper, 0, 100);
    arrival_advance(e.keeper, 1, 10);
    arrival_fail(e.keeper, 0, &(struct err){.kind = ERR_SYSTEM, .msg = "gone"});
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    clear(&e);
}

static void test_references(void **state)
{
    struct ends e = make();
    struct err err = ERR_INIT;

    (void)state;
    arrival_advance(e.keeper, 0, 7);
    struct arriving one = {arrival_ref(e.reader), 0};
    clear(&e);
    assert_works(arrival_await(&one, 7, &err), err);
    arrival_unref(one.all);
}

/* The receiver of the descriptor can neither change the page nor end the keeper with SIGBUS. */
static void test_the_page_is_read_only(void **state)
{
    struct ends e = make();
    int fd = arrival_fd(e.keeper);
    struct err err = ERR_INIT;

    (void)state;
    assert_int_equal(ftruncate(fd, 0), -1);
    assert_int_equal(ftruncate(fd, 1 << 20), -1);
    assert_int_equal(pwrite(fd, "x", 1, 0), -1);
    assert_ptr_equal(mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
    void *page = mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(page, MAP_FAILED);
    assert_int_equal(mprotect(page, 1, PROT_READ | PROT_WRITE), -1);
    munmap(page, 1);
    assert_int_equal(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), -1);
    arrival_advance(e.keeper, 0, 3);
    assert_works(arrival_await(&(struct arriving){e.reader, 0}, 3, &err), err);
    clear(&e);
}

static void test_a_page_that_is_too_small(void **state)
{
    _cleanup_fd_ int file = memfd_create("small", MFD_CLOEXEC);
    struct ends e = make();
    struct err err = ERR_INIT;

    (void)state;
    assert_null(arrival_open(file, BLOBS, &err));
    assert_int_equal(err.kind, ERR_FORMAT);
    assert_null(arrival_open(arrival_fd(e.keeper), BLOBS + 1, &err));
    assert_int_equal(err.kind, ERR_FORMAT);
    clear(&e);
}

UNIT_SUITE(test_arrival)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_that_are_there),
        cmocka_unit_test(test_a_blob_that_does_not_arrive),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_waiting),
        cmocka_unit_test(test_waiting_for_another_process),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_the_page_is_read_only),
        cmocka_unit_test(test_a_page_that_is_too_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
