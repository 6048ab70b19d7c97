/* Low-level runtimes, by their versions. */
#include "tests/unit/lib/unit.h"

#include "shim/oci/lowlevel.h"

#include <stdio.h>

static void test_follows_links(void **state)
{
    static const struct {
        enum lowlevel_flavor flavor;
        const char *text;
        bool follows;
    } rows[] = {
        {FLAVOR_RUNC, "1.0.3", true},      {FLAVOR_RUNC, "1.1.0-rc.1", true},
        {FLAVOR_RUNC, "1.1.5+ds1", true},  {FLAVOR_RUNC, "1.1.13", true},
        {FLAVOR_RUNC, "1.1.14", false},    {FLAVOR_RUNC, "1.1.15+ds1", false},
        {FLAVOR_RUNC, "1.2.0-rc.2", true}, {FLAVOR_RUNC, "1.2.0-rc.3", false},
        {FLAVOR_RUNC, "1.2.0", false},     {FLAVOR_RUNC, "1.3.4", false},
        {FLAVOR_RUNC, "2.0.0", false},     {FLAVOR_RUNC, "unknown", false},
        {FLAVOR_RUNC, "", false},          {FLAVOR_CRUN, "1.1.5", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct lowlevel_version version = {.flavor = rows[i].flavor};
        snprintf(version.text, sizeof(version.text), "%s", rows[i].text);
        if (lowlevel_follows_links(&version) != rows[i].follows)
            fail_msg("%s", rows[i].text);
    }
}

static void test_names_groups(void **state)
{
    static const struct {
        enum lowlevel_flavor flavor;
        const char *text;
        bool names;
    } rows[] = {
        {FLAVOR_RUNC, "1.0.3", true},  {FLAVOR_RUNC, "1.1.15+ds1", true},
        {FLAVOR_RUNC, "1.2.9", true},  {FLAVOR_RUNC, "1.3.0-rc.1", false},
        {FLAVOR_RUNC, "1.4.1", false}, {FLAVOR_RUNC, "2.0.0", false},
        {FLAVOR_RUNC, "0.9", true},    {FLAVOR_RUNC, "unknown", true},
        {FLAVOR_RUNC, "", true},       {FLAVOR_CRUN, "1.1.5", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct lowlevel_version version = {.flavor = rows[i].flavor};
        snprintf(version.text, sizeof(version.text), "%s", rows[i].text);
        if (lowlevel_names_groups(&version) != rows[i].names)
            fail_msg("%s", rows[i].text);
    }
}

UNIT_SUITE(test_lowlevel)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_follows_links),
                                       cmocka_unit_test(test_names_groups)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
