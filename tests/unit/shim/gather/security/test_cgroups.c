/* The cgroup and the priorities that a container asks for. */
#include "tests/unit/shim/gather/security/security_unit.h"

/* runc and crun change the limits and the devices of a cgroup that a container joins. */
static void test_roots_and_upwards(void **state)
{
    static const struct {
        const char *path;
        bool denied;
    } rows[] = {
        {"/", true},
        {"//./", true},
        {".", true},
        {"..", true},
        {"/docker/../..", true},
        {"../x", true},
        {"/docker/x/..", true},
        {"..:docker:x", true},
        {"", true}, /* of crun */
        {"/docker/c1", false},
        {"/a..b/...", false},
        {"system.slice:docker:c1", false},
        {"kubepods/burstable/pod1/c1", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_free_ char *config =
            strf("\"linux\":{\"cgroupsPath\":\"%s\"," ORDINARY_RULES "}", rows[i].path);
        check("\"devices\":{\"allow\":[]}", config, NO_FACTS,
              rows[i].denied ? "linux.cgroupsPath: " : NULL);
        check("\"no_new_privileges\":false", config, NO_FACTS, NULL);
    }
    check("\"privileged\":\"deny\"", "\"linux\":{\"cgroupsPath\":\"/\"}", NO_FACTS,
          "is no cgroup of the container's own, past security.privileged");
}

/* The cgroups in which the administrator wants containers to be: there are his limits. */
static void test_parents(void **state)
{
    static const char parents[] =
        "\"cgroups\":{\"parents\":[\"/docker\",\"lab*.slice\",\"/kubepods/*\"]}";
    static const struct {
        const char *path, *refused; /* NULL: allowed */
    } rows[] = {
        {"/docker/c1", NULL},
        {"docker/c1", NULL},
        {"//docker/./c1/", NULL},
        {"/kubepods/burstable/pod1/c1", NULL},
        {"lab-gpu.slice:docker:c1", NULL},
        {"", "is no cgroup of the container's own"},
        {":docker:c1", NULL}, /* the slice of the runtime */
        {"/c1", "in '/'"},
        {"/docker/x/c1", "in '/docker/x'"},
        {"/dockerx/c1", "in '/dockerx'"},
        {"system.slice:docker:c1", "in 'system.slice'"},
        {"/lab.slice/c1", "in '/lab.slice'"},
        {"lab.slice:docker", "in '/'"},
        {"lab.slice:a:b/c1", "in '/lab.slice:a:b'"},
        {"/docker/lab.slice:a:b", NULL},
        {"/", "is no cgroup of the container's own"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_free_ char *config = strf("\"linux\":{\"cgroupsPath\":\"%s\"}", rows[i].path);
        check(parents, config, NO_FACTS, rows[i].refused);
    }
    check(parents, "", NO_FACTS, NULL);
}

#define RDT(members) "\"linux\":{\"intelRdt\":{" members "}," ORDINARY_RULES "}"

/* crun joins the name of a class to /sys/fs/resctrl as it is. */
static void test_cache_classes(void **state)
{
    static const struct {
        const char *config;
        bool denied;
    } rows[] = {
        {RDT("\"closID\":\"../../../etc/cron.d\""), true},
        {RDT("\"closID\":\"/a\""), true},
        {RDT("\"closID\":\"a/b\""), true},
        {RDT("\"closID\":\".\""), true},
        {RDT("\"closID\":\"..\",\"l3CacheSchema\":\"L3:0=f\""), true},
        {RDT("\"closID\":1"), true},
        {RDT("\"closID\":\"a..b\""), false},
        {RDT("\"closID\":\"\""), false},
        {RDT("\"closID\":null"), false},
        {RDT("\"l3CacheSchema\":\"L3:0=f\""), false},
        {"\"linux\":{\"intelRdt\":null," ORDINARY_RULES "}", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        check("\"devices\":{\"allow\":[]}", rows[i].config, NO_FACTS,
              rows[i].denied ? "linux.intelRdt: " : NULL);
        check("\"no_new_privileges\":false", rows[i].config, NO_FACTS, NULL);
    }
    check("\"hooks\":\"deny\"", rows[0].config, NO_FACTS,
          "'../../../etc/cron.d' is a path, past security.hooks: name a class");
}

#define UNIFIED(members)                                                                           \
    "\"linux\":{\"resources\":{\"devices\":[" TAKEN "],\"unified\":{" members "}}}"

/* Both runtimes write each member to the file of that name, as root: cgroup.procs takes any pid. */
static void test_unified(void **state)
{
    static const struct {
        const char *config;
        bool denied;
    } rows[] = {
        {UNIFIED("\"cgroup.procs\":\"1\""), true},
        {UNIFIED("\"memory.max\":\"1\",\"cgroup.threads\":\"1\""), true},
        {UNIFIED("\"cgroup.kill\":\"1\""), true},
        {UNIFIED("\"../cgroup.procs\":\"1\""), true},
        {UNIFIED("\"memory.max\":\"1000000\",\"io.weight\":\"100\",\"hugetlb.2MB.max\":\"1\""),
         false},
        {UNIFIED(""), false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        check("\"devices\":{\"allow\":[]}", rows[i].config, NO_FACTS,
              rows[i].denied ? "linux.resources.unified: " : NULL);
        check("\"no_new_privileges\":false", rows[i].config, NO_FACTS, NULL);
    }
    check("\"privileged\":\"deny\"",
          "\"linux\":{\"resources\":{\"hugepageLimits\":[{\"pageSize\":\"../x\"}]}}", NO_FACTS,
          "linux.resources.hugepageLimits: '../x' is no size of pages, past security.privileged: "
          "leave it out");
    check("\"privileged\":\"deny\"", rows[0].config, NO_FACTS,
          "'cgroup.procs' moves, stops or kills processes of this host, past security.privileged: "
          "leave it out");
}

#define CGROUPS(type, options)                                                                     \
    "\"mounts\":[{\"destination\":\"/c\",\"type\":\"" type                                         \
    "\",\"source\":\"cgroup\",\"options\":[" options "]}]"

/* A mount of cgroup2 in the host's namespace of cgroups sets the options of all of its mounts. */
static void test_options_of_mounts(void **state)
{
    static const struct {
        const char *config, *option; /* NULL: not denied */
    } rows[] = {
        {CGROUPS("cgroup", "\"rprivate\",\"nosuid\",\"noexec\",\"nodev\",\"relatime\",\"ro\""),
         NULL},
        {CGROUPS("cgroup", "\"ro\",\"nsdelegate\",\"memory_recursiveprot\""),
         NULL}, /* containerd */
        {CGROUPS("cgroup2", "\"rw\",\"rbind\""), NULL},
        {CGROUPS("cgroup2", ""), NULL},
        {CGROUPS("tmpfs", "\"favordynmods\""), NULL},
        {CGROUPS("cgroup", "\"ro\",\"favordynmods\""), "favordynmods"},
        {CGROUPS("cgroup2", "\"memory_localevents\""), "memory_localevents"},
        {CGROUPS("cgroup", "\"bind\",\"none\""), "none"},
        {CGROUPS("cgroup", "\"release_agent=/x\""), "release_agent=/x"},
        {CGROUPS("cgroup", "\"ro,favordynmods\""), "ro,favordynmods"},
        {CGROUPS("cgroup2", "1"), ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const char *option = rows[i].option;
        _cleanup_free_ char *message = strf(
            "mounts: the option '%s' of the mount on /c would change all cgroups of this host, "
            "past security.hooks: leave it out",
            option ? option : "");
        check("\"hooks\":\"deny\"", rows[i].config, NO_FACTS, option ? message : NULL);
        check("\"no_new_privileges\":false", rows[i].config, NO_FACTS, NULL);
    }
}

static void test_realtime(void **state)
{
    static const char limit[] =
        "\"process\":{\"rlimits\":[{\"type\":\"RLIMIT_RTPRIO\",\"soft\":0,\"hard\":99}]}";
    static const char resources[] = "\"linux\":{\"resources\":{\"cpu\":{\"realtimeRuntime\":1}}}";

    (void)state;
    check("\"realtime\":\"deny\"", limit, NO_FACTS,
          "before all other processes of this host, by RLIMIT_RTPRIO above 0 (--ulimit rtprio)");
    check("\"realtime\":\"deny\"", resources, NO_FACTS, "--cpu-rt-runtime");
    check("\"realtime\":\"deny\"", "\"process\":{}", NO_FACTS, NULL);
    check("\"realtime\":\"allow\"", limit, NO_FACTS, NULL);
    check("\"hooks\":\"deny\"", limit, NO_FACTS, NULL);
}

UNIT_SUITE(test_cgroups)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roots_and_upwards), cmocka_unit_test(test_parents),
        cmocka_unit_test(test_cache_classes),     cmocka_unit_test(test_unified),
        cmocka_unit_test(test_options_of_mounts), cmocka_unit_test(test_realtime),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
