/* The malloc that flatbed-runtime has where it is linked with musl, under other names. */
#include "unit.h"

#include <errno.h>
#include <limits.h>
#include <stdalign.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

void *heap_malloc(size_t size);
void *heap_calloc(size_t count, size_t each);
void *heap_realloc(void *data, size_t size);
void heap_free(void *data);

enum { SLOTS = 200, TURNS = 200000, LARGE = 300 * 1024 };

struct slot {
    unsigned char *data;
    size_t size;
    unsigned char fill;
};

static size_t some_size(unsigned number)
{
    return number % 50 == 0 ? number % LARGE : number % 5 == 0 ? number % 20000 : number % 300;
}

static void check_fill(const struct slot *slot, size_t size)
{
    for (size_t i = 0; i < size; i++)
        assert_int_equal(slot->data[i], slot->fill);
}

static void one_turn(struct slot *slot, unsigned number)
{
    size_t size = some_size(number >> 4);

    if (number % 3 == 0 && slot->data) {
        check_fill(slot, slot->size);
        heap_free(slot->data);
        *slot = (struct slot){0};
        return;
    }
    if (number % 3 == 1 && !slot->data) {
        slot->data = heap_calloc(size / 4 + 1, 4);
        *slot = (struct slot){.data = slot->data, .size = (size / 4 + 1) * 4};
    } else {
        slot->data = heap_realloc(slot->data, size);
        slot->size = slot->size < size ? slot->size : size;
    }
    assert_non_null(slot->data);
    assert_int_equal((uintptr_t)slot->data % alignof(max_align_t), 0);
    check_fill(slot, slot->size);
    slot->size = slot->size > size ? slot->size : size;
    slot->fill = (unsigned char)(number >> 8);
    memset(slot->data, slot->fill, slot->size);
}

static long pages_in_use(void)
{
    long size = 0;
    FILE *file = fopen("/proc/self/statm", "re");

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld", &size), 1);
    fclose(file);
    return size;
}

static void what_is_in_a_block_stays_until_it_is_freed(void **state)
{
    struct slot slots[SLOTS] = {{0}};
    unsigned number = 1;

    (void)state;
    for (int turn = 0; turn < TURNS; turn++) {
        number = number * 1664525 + 1013904223;
        one_turn(&slots[(number >> 16) % SLOTS], number ^ (number >> 7));
    }
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].data) {
            check_fill(&slots[i], slots[i].size);
            heap_free(slots[i].data);
        }
}

static void what_is_freed_is_used_again(void **state)
{
    void *kept[3];

    (void)state;
    long before = pages_in_use();
    for (int turn = 0; turn < 20000; turn++) {
        for (size_t i = 0; i < 3; i++)
            assert_non_null(kept[i] = heap_malloc(1000 + 500 * i));
        kept[1] = heap_realloc(kept[1], 9000);
        for (size_t i = 0; i < 3; i++)
            heap_free(kept[i]);
        heap_free(heap_malloc(LARGE));
    }
    assert_true(pages_in_use() - before < 1024);
}

static void a_buffer_that_grows_keeps_what_it_has(void **state)
{
    size_t size = 16;
    unsigned char *data = heap_malloc(size);

    (void)state;
    memset(data, 7, size);
    while (size < 8 * 1024 * 1024) {
        data = heap_realloc(data, size * 2);
        assert_non_null(data);
        for (size_t i = 0; i < size; i += size / 16)
            assert_int_equal(data[i], 7);
        assert_int_equal(data[size - 1], 7);
        memset(data + size, 7, size);
        size *= 2;
    }
    heap_free(data);
}

static void nothing_and_too_much(void **state)
{
    volatile size_t most = SIZE_MAX;
    void *data = heap_malloc(0);

    (void)state;
    assert_non_null(data);
    heap_free(data);
    heap_free(NULL);
    errno = 0;
    assert_null(heap_malloc(most));
    assert_int_equal(errno, ENOMEM);
    assert_null(heap_malloc(most / 2));
    assert_null(heap_calloc(most / 2, 3));
    data = heap_malloc(10);
    assert_null(heap_realloc(data, most));
    assert_null(heap_realloc(data, most / 2));
    heap_free(data);
}

static void free_twice(void)
{
    void *data = heap_malloc(100), *behind = heap_malloc(100);

    (void)behind;
    heap_free(data);
    heap_free(data);
}

static void free_what_was_run_over(void)
{
    unsigned char *data = heap_malloc(64);

    memset(data - 16, 'x', 16); /* by who had the memory before */
    heap_free(data);
}

static void free_the_middle(void)
{
    unsigned char *data = heap_calloc(1, 256);

    heap_free(data + 64);
}

static void ends(void (*mistake)(void))
{
    const struct rlimit none = {0};
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        setrlimit(RLIMIT_CORE, &none);
        mistake();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void mistakes_end_the_process(void **state)
{
    (void)state;
    ends(free_twice);
    ends(free_what_was_run_over);
    ends(free_the_middle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_in_a_block_stays_until_it_is_freed),
        cmocka_unit_test(what_is_freed_is_used_again),
        cmocka_unit_test(a_buffer_that_grows_keeps_what_it_has),
        cmocka_unit_test(nothing_and_too_much),
        cmocka_unit_test(mistakes_end_the_process),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
