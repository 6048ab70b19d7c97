/* The line volume_path of a containers.conf. */
#include "tests/unit/lib/shim_unit.h"

#include "shim/gather/engine/engine_volumes.h"

static void test_the_line(void **state)
{
    static const struct {
        const char *text, *path;
    } rows[] = {
        {"[engine]\nvolume_path = \"/srv/volumes\"\n", "/srv/volumes"},
        {"[engine]\nvolume_path='/srv/volumes'", "/srv/volumes"},
        {"# x\n[containers]\nx = 1\n\n [ engine ] # y\n\tvolume_path\t= \"/v\" # z\n", "/v"},
        {"[engine]\nruntime = \"crun\"\n[engine.runtimes]\nx = []\n", NULL},
        {"[engine]\n#volume_path = \"/v\"\n", NULL},
        {"[engine]\nvolume_path_x = \"/v\"\n", NULL},
        {"[engine]\nvolume_path = \"\"\n", NULL},
        {"[engine]\nvolume_path = \"v\"\n", NULL},
        {"[engine]\nvolume_path = \"/v/../w\"\n", NULL},
        {"[engine]\nvolume_path = \"/v\n\"\n", NULL},
        {"[engine]\nvolume_path = /v\n", NULL},
        {"[engine]\nvolume_path", NULL},
        {"[engine.runtimes]\nvolume_path = \"/v\"\n", NULL},
        {"[engines]\nvolume_path = \"/v\"\n", NULL},
        {"[containers]\nvolume_path = \"/v\"\n", NULL},
        {"volume_path = \"/v\"\n", NULL},
        {"", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_arena_ struct arena arena = {0};
        const char *path = engine_volumes_read(rows[i].text, &arena);
        if (!path != !rows[i].path || (path && strcmp(path, rows[i].path) != 0))
            fail_msg("row %zu: %s", i, path ? path : "none");
    }
}

UNIT_SUITE(test_engine_volumes)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_line)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
