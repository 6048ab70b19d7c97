/* Answers of children, and how long they are waited for. */
#include "tests/unit/lib/unit.h"

#include "shim/host/process/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

static void pause_ms(long milliseconds)
{
    const struct timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1000000};

    nanosleep(&pause, NULL);
}

/* Asks a child for a byte, which it gives after a while. */
static ssize_t ask_slow(long milliseconds, struct channel *channel)
{
    char byte = 'a';
    pid_t pid = channel_fork(channel);

    assert_true(pid >= 0);
    if (pid == 0) {
        pause_ms(milliseconds);
        _exit(write(channel->fd, &byte, 1) != 1);
    }
    ssize_t n = channel_read(channel, &byte, 1);
    int saved = errno;
    channel_end(channel);
    errno = saved;
    return n;
}

static void test_answer(void **state)
{
    struct channel channel;

    (void)state;
    assert_int_equal(ask_slow(0, &channel), 1);
    assert_false(channel.silent);
}

static void test_descriptor(void **state)
{
    struct channel channel;
    char byte;

    (void)state;
    if (channel_fork(&channel) == 0)
        channel_send(open("/dev/zero", O_RDONLY | O_CLOEXEC), &channel);
    int fd = channel_receive(&channel);
    assert_true(fd >= 0);
    assert_int_equal(read(fd, &byte, 1), 1);
    close(fd);
    if (channel_fork(&channel) == 0)
        channel_send(open("/dev/null/x", O_RDONLY | O_CLOEXEC), &channel);
    assert_int_equal(channel_receive(&channel), -1);
    assert_int_equal(errno, ENOTDIR);
}

/* The child ends without an answer, and has no standard descriptors. */
static void test_end(void **state)
{
    struct channel channel;
    char byte;

    (void)state;
    if (channel_fork(&channel) == 0)
        _exit(fcntl(STDOUT_FILENO, F_GETFD) < 0 ? 0 : write(channel.fd, "x", 1) != 1);
    assert_int_equal(channel_read(&channel, &byte, 1), 0);
    channel_end(&channel);
    assert_false(channel.silent);
}

/* Changes the limits of the whole process: the last test. */
static void test_budget(void **state)
{
    struct channel channel;

    (void)state;
    channel_set_budget(5000);
    assert_int_equal(ask_slow(300, &channel), 1);
    channel_set_budget(200);
    assert_int_equal(ask_slow(60000, &channel), -1);
    assert_int_equal(errno, ETIMEDOUT);
    assert_true(channel.silent);
    assert_int_equal(ask_slow(60000, &channel), -1);
    channel_wait_on();
    assert_int_equal(ask_slow(300, &channel), 1);
}

UNIT_SUITE(test_channel)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answer),
        cmocka_unit_test(test_descriptor),
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_budget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
