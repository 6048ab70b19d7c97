/* The first process of a container, by the files of runc and crun. */
#include "tests/unit/lib/unit.h"

#include "base/buf.h"
#include "shim/oci/launch_mark.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/fb-container.XXXXXX";

static int make_root(void **state)
{
    (void)state;
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
    _cleanup_free_ char *line = strf("rm -rf %s", root);

    (void)state;
    return line ? system(line) : -1;
}

static void put(const char *id, const char *name, const char *text)
{
    _cleanup_free_ char *directory = strf("%s/%s", root, id),
                        *path = strf("%s/%s", directory, name);

    (void)mkdir(directory, 0755);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

static void test_files_of_runtimes(void **state)
{
    struct err err = ERR_INIT;
    struct process p;

    (void)state;
    put("runc", "state.json",
        "{\"init_process_pid\": 4711, \"init_process_start\": 17, \"created\": 1}");
    put("crun", "status", "{\"pid\": 4712, \"process-start-time\": 18, \"bundle\": \"/b\"}");
    assert_works(container_process(root, "runc", &p, &err), err);
    assert_true(p.pid == 4711 && p.start == 17);
    assert_works(container_process(root, "crun", &p, &err), err);
    assert_true(p.pid == 4712 && p.start == 18);
    assert_fails(container_process(root, "none", &p, &err), err, ERR_SYSTEM);
    put("both", "state.json", "{\"init_process_pid\": 1, \"init_process_start\": 1}");
    put("both", "status", "{\"pid\": 2, \"process-start-time\": 2}");
    assert_fails(container_process(root, "both", &p, &err), err, ERR_POLICY);
}

static void test_damaged_files(void **state)
{
    static const char *const texts[] = {
        "",
        "{}",
        "[]",
        "{\"pid\": 0}",
        "{\"pid\": -1}",
        "{\"pid\": \"1\"}",
        "{\"pid\": 4294967296, \"process-start-time\": 1}",
        "{\"pid\": 1}",
    };
    struct err err = ERR_INIT;
    struct process p;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        put("damaged", "status", texts[i]);
        assert_fails(container_process(root, "damaged", &p, &err), err, ERR_FORMAT);
    }
}

UNIT_SUITE(test_container)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_of_runtimes),
        cmocka_unit_test(test_damaged_files),
    };

    return cmocka_run_group_tests(tests, make_root, remove_root);
}
