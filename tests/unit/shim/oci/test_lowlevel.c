/* Low-level runtimes, by their versions. */
#include "tests/unit/lib/unit.h"

#include "shim/oci/lowlevel.h"

#include <stdio.h>

static const struct {
    enum lowlevel_flavor flavor;
    const char *text;
    bool follows, names;
} rows[] = {
    {FLAVOR_RUNC, "0.9.1", true, true},       {FLAVOR_RUNC, "1.0.3", true, true},
    {FLAVOR_RUNC, "1.1.0-rc.1", true, true},  {FLAVOR_RUNC, "1.1.5+ds1", true, true},
    {FLAVOR_RUNC, "1.1.13", true, true},      {FLAVOR_RUNC, "1.1.14", false, true},
    {FLAVOR_RUNC, "1.1.15+ds1", false, true}, {FLAVOR_RUNC, "1.2.0-rc.2", true, true},
    {FLAVOR_RUNC, "1.2.0-rc.3", false, true}, {FLAVOR_RUNC, "1.2.0", false, true},
    {FLAVOR_RUNC, "1.2.9", false, true},      {FLAVOR_RUNC, "1.3.0-rc.1", false, false},
    {FLAVOR_RUNC, "1.3.4", false, false},     {FLAVOR_RUNC, "1.4.1", false, false},
    {FLAVOR_RUNC, "2.0.0", false, false},     {FLAVOR_RUNC, "unknown", false, true},
    {FLAVOR_RUNC, "", false, true},           {FLAVOR_CRUN, "1.1.5", false, false},
};

static void test_what_versions_do(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct lowlevel_version version = {.flavor = rows[i].flavor};
        snprintf(version.text, sizeof(version.text), "%s", rows[i].text);
        if (lowlevel_follows_links(&version) != rows[i].follows ||
            lowlevel_names_groups(&version) != rows[i].names)
            fail_msg("%s", rows[i].text);
    }
}

UNIT_SUITE(test_lowlevel)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_versions_do)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
