/* Priorities before all other processes of the host, as config.json asks for them. */
#include "tests/unit/lib/shim_unit.h"

#include "shim/privilege/realtime.h"

static void assert_prints(void (*print)(const struct json *, struct buf *), const char *text,
                          const char *expected)
{
    _cleanup_json_ struct json_doc *doc = shim_document(text);
    _cleanup_buf_ struct buf out = BUF_INIT;

    print(json_root(doc), &out);
    if (strcmp(out.data ? out.data : "", expected) != 0)
        fail_msg("%s: '%s', not '%s'", text, out.data ? out.data : "", expected);
}

#define LIMIT(type, soft, hard) "{\"type\":\"RLIMIT_" type "\",\"soft\":" soft ",\"hard\":" hard "}"
#define LIMITS(list)            "{\"rlimits\":[" list "]}"
#define RTPRIO                  "RLIMIT_RTPRIO above 0 (--ulimit rtprio)"
#define NICE                    "RLIMIT_NICE above 20 (--ulimit nice)"

static void test_limits(void **state)
{
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {"{}", ""},
        {"{\"rlimits\":null}", ""},
        {LIMITS(LIMIT("RTPRIO", "0", "0") "," LIMIT("NICE", "20", "20")), ""},
        {LIMITS(LIMIT("RTTIME", "9", "9") "," LIMIT("NOFILE", "9", "9")), ""},
        {LIMITS(LIMIT("RTPRIO", "1", "0")), RTPRIO},
        {LIMITS(LIMIT("RTPRIO", "0", "1")), RTPRIO},
        {LIMITS(LIMIT("RTPRIO", "0", "18446744073709551615")), RTPRIO},
        {LIMITS(LIMIT("RTPRIO", "0", "-1")), RTPRIO}, /* crun: strtoull(3) */
        {LIMITS(LIMIT("RTPRIO", "0", "1e1")), RTPRIO},
        {LIMITS(LIMIT("RTPRIO", "0", "\"0\"")), RTPRIO},
        {LIMITS("{\"type\":\"RLIMIT_RTPRIO\",\"hard\":7}"), RTPRIO},
        {LIMITS(LIMIT("NICE", "20", "21")), NICE},
        {LIMITS(LIMIT("NICE", "40", "20")), NICE},
        {LIMITS(LIMIT("NICE", "0", "18446744073709551615")), NICE},
        {LIMITS(LIMIT("RTPRIO", "0", "0") "," LIMIT("RTPRIO", "9", "9")), RTPRIO},
        {LIMITS(LIMIT("NICE", "40", "40") "," LIMIT("RTPRIO", "9", "9")), RTPRIO ", " NICE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        assert_prints(realtime_print_process, rows[i].text, rows[i].expected);
}

#define SCHEDULER(members) "{\"scheduler\":{" members "}}"
#define DISKS(members)     "{\"ioPriority\":{" members "}}"

static void test_schedulers(void **state)
{
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {"{\"scheduler\":null,\"ioPriority\":null}", ""},
        {SCHEDULER("\"policy\":\"SCHED_OTHER\",\"nice\":19"), ""},
        {SCHEDULER("\"policy\":\"SCHED_BATCH\",\"nice\":0"), ""},
        {SCHEDULER("\"policy\":\"SCHED_IDLE\""), ""},
        {SCHEDULER("\"policy\":\"SCHED_OTHER\",\"nice\":-1"), "process.scheduler"},
        {SCHEDULER("\"policy\":\"SCHED_OTHER\",\"nice\":4294967276"), "process.scheduler"},
        {SCHEDULER("\"policy\":\"SCHED_FIFO\",\"priority\":1"), "process.scheduler"},
        {SCHEDULER("\"policy\":\"SCHED_RR\""), "process.scheduler"},
        {SCHEDULER("\"policy\":\"SCHED_DEADLINE\",\"runtime\":9"), "process.scheduler"},
        {SCHEDULER("\"policy\":\"SCHED_EXT\""), "process.scheduler"},
        {SCHEDULER("\"priority\":1"), "process.scheduler"},
        {"{\"scheduler\":\"SCHED_FIFO\"}", "process.scheduler"},
        {DISKS("\"class\":\"IOPRIO_CLASS_BE\",\"priority\":0"), ""},
        {DISKS("\"class\":\"IOPRIO_CLASS_IDLE\""), ""},
        {DISKS("\"class\":\"IOPRIO_CLASS_RT\",\"priority\":7"), "process.ioPriority"},
        {DISKS("\"priority\":7"), "process.ioPriority"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        assert_prints(realtime_print_process, rows[i].text, rows[i].expected);
}

#define RESOURCES(members) "{\"resources\":{" members "}}"

static void test_cgroups(void **state)
{
    static const char runtime[] = "cpu.realtimeRuntime (--cpu-rt-runtime)";
    static const char partition[] = "cpuset.cpus.partition (--cgroup-conf)";
    static const char disks[] = "io.prio.class (--cgroup-conf)";
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {RESOURCES("\"cpu\":{\"shares\":9,\"realtimeRuntime\":0,\"realtimePeriod\":0}"), ""},
        {RESOURCES("\"cpu\":{\"realtimeRuntime\":1}"), runtime},
        {RESOURCES("\"cpu\":{\"realtimeRuntime\":-1}"), runtime},
        {RESOURCES("\"cpu\":{\"realtimePeriod\":9}"), "cpu.realtimePeriod (--cpu-rt-period)"},
        {RESOURCES("\"unified\":{\"io.prio.class\":\"idle\",\"cpu.max\":\"max\"}"), ""},
        {RESOURCES("\"unified\":{\"io.prio.class\":\"promote-to-rt\"}"), disks},
        {RESOURCES("\"unified\":{\"io.prio.class\":\"none-to-rt\\n\"}"), disks},
        {RESOURCES("\"unified\":{\"cpuset.cpus.partition\":\"member\"}"), ""},
        {RESOURCES("\"unified\":{\"cpuset.cpus.partition\":\"root\"}"), partition},
        {RESOURCES("\"unified\":{\"cpuset.cpus.partition\":\"isolated\"}"), partition},
        {RESOURCES("\"unified\":{\"cpuset.cpus.partition\":1}"), partition},
        {RESOURCES("\"unified\":{\"cpuset.cpus.exclusive\":\"0\"}"),
         "cpuset.cpus.exclusive (--cgroup-conf)"},
        {"{\"intelRdt\":null}", ""},
        {"{\"intelRdt\":{}}", "linux.intelRdt (cache of the processor)"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        assert_prints(realtime_print_linux, rows[i].text, rows[i].expected);
}

UNIT_SUITE(test_realtime)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_schedulers),
        cmocka_unit_test(test_cgroups),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
