#include "base/path.h"
#include "shim/gather/security/security_devices.h"
#include "shim/gpu/gpu_host.h"
#include "shim/oci/device.h"
#include "shim/plan/security/plan_security.h"
#include "shim/plan/security/security_deny.h"

#include <string.h>
#include <sys/stat.h>

static const char *type_of(const struct json *device)
{
    const char *type = json_text(json_get(device, "type"));

    return type ? type : "a";
}

/* True for a block device. crun reads the first letter only; runc refuses a longer word. */
static bool is_block(const struct json *device)
{
    return type_of(device)[0] == 'b';
}

static bool has_number(const struct device_number *list, size_t count, bool block, int64_t major,
                       int64_t minor)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].block == block && list[i].major == major && list[i].minor == minor)
            return true;
    return false;
}

/* True for devices that engines give to every container. */
static bool is_ordinary(bool block, int64_t major, int64_t minor)
{
    static const struct device_number ordinary[] = {
        {false, 1, 3}, {false, 1, 5}, {false, 1, 7}, /* null, zero, full */
        {false, 1, 8}, {false, 1, 9},                /* random, urandom */
        {false, 5, 0}, {false, 5, 2},                /* tty, ptmx */
    };

    return (!block && major == 136) || /* terminals */
           has_number(ordinary, sizeof(ordinary) / sizeof(*ordinary), block, major, minor);
}

bool plan_allows_device(const struct planner *p, bool block, int64_t major, int64_t minor)
{
    const struct security_facts *facts = p->in->security;

    if (p->in->gpus && gpu_host_owns(&p->in->gpus->host, block, major))
        return true; /* judged by "gpus" */
    return is_ordinary(block, major, minor) ||
           has_number(facts->devices.list, facts->devices.count, block, major, minor);
}

static bool device_allowed(const struct planner *p, const struct json *device)
{
    return plan_allows_device(p, is_block(device), device_part(device, "major"),
                              device_part(device, "minor"));
}

static bool only_makes_nodes(const struct json *rule)
{
    const char *access = json_text(json_get(rule, "access"));

    return access && *access && access[strspn(access, "m")] == '\0';
}

/*
 * Where ids are mapped podman writes no rules for devices, and leaves it to the low-level runtime
 * what nodes in images can be opened. The rules that podman writes for other containers are put in.
 */
static int put_rules(struct planner *p)
{
    const struct policy_list *allowed = &p->in->policy->security.devices;
    const char *other = p->in->security->ids_other;

    if (other)
        return deny_advising(p, "security.devices", &allowed->place,
                             "the container has no rules for devices, and they are only put in for "
                             "ids of its own: %s",
                             other);
    struct plan_op *op = security_push(p, PLAN_DEVICES, "security.devices");
    return op ? plan_decide(p, op, PLAN_DOWNGRADED, &allowed->place,
                            "the container has no rules for devices: all but its own are forbidden")
              : -1;
}

/* Engines allow each container the console, which is the host's: its own /dev/console is a
 * terminal.
 */
static int take_console(struct planner *p)
{
    const struct policy_list *allowed = &p->in->policy->security.devices;
    struct plan_op *op = security_push(p, PLAN_CONSOLE, "security.devices");

    return op ? plan_decide(p, op, PLAN_DOWNGRADED, &allowed->place,
                            "the console of this host is taken out of the rules for devices")
              : -1;
}

/* Returns the number of a rule's "major" or "minor" as text, in `out`; "*" for any. */
static const char *part_text(const struct json *rule, const char *key, char out[24])
{
    int64_t part = device_part(rule, key);

    if (part < 0)
        return "*";
    snprintf(out, 24, "%lld", (long long)part);
    return out;
}

static int judge_rules(struct planner *p)
{
    const struct policy_list *allowed = &p->in->policy->security.devices;
    const struct json *rules = device_rules(p->in->spec);
    bool console = false;

    /* A rootless engine has no cgroup for rules. It writes none, or with --device those that allow
     * a device alone. Its user can make no node, and nodes of an image do not open in a user
     * namespace. */
    if (p->in->rootless && !json_count(rules))
        return 0;
    if (p->in->security->maps_ids && !json_count(rules))
        return put_rules(p);
    if (!p->in->rootless && security_all_devices(p->in->spec))
        return deny(p, "security.devices", &allowed->place,
                    "the container could use all devices of this host");
    for (size_t i = 0; i < json_count(rules); i++) {
        const struct json *rule = json_at(rules, i);
        if (!device_rule_allows(rule) || only_makes_nodes(rule) || security_rule_for_all(rule) ||
            device_allowed(p, rule))
            continue;
        if (security_rule_is_console(rule)) {
            console = true;
            continue;
        }
        char major[24], minor[24];
        return deny(p, "security.devices", &allowed->place,
                    "the container could use the device %s %s:%s", type_of(rule),
                    part_text(rule, "major", major), part_text(rule, "minor", minor));
    }
    return console ? take_console(p) : 0;
}

/*
 * True if the low-level runtime makes the node in a file system of the container. It makes nodes by
 * path and as root, after the mounts: in a user's mount, or behind a link of the image, that would
 * be on the host, and the user could put a link in the node's place before it gets its owner.
 */
static bool is_in_dev(const struct spec *spec, const char *path)
{
    _cleanup_buf_ struct buf clean = BUF_INIT;
    struct err ignored = ERR_INIT;

    buf_putc(&clean, '/');
    if (!path || *path != '/' || path_clean(path, strlen(path), &clean, &ignored) < 0 ||
        !path_is_beneath(clean.data, "/dev") || strcmp(clean.data, "/dev") == 0)
        return false;
    for (size_t i = 0; i < spec->mount_count; i++)
        if (spec->list[i].bind && path_is_beneath(clean.data, spec->list[i].destination))
            return false;
    return true;
}

/* crun adds the type to fileMode for mknod(2): bits of a type in it make another type. */
static bool is_mode_of_type(const struct json *device)
{
    const struct json *value = json_get(device, "fileMode");
    mode_t own = is_block(device) ? S_IFBLK : strcmp(type_of(device), "p") == 0 ? S_IFIFO : S_IFCHR;
    int64_t mode;

    if (!value || json_is(value, JSON_NULL))
        return true;
    return json_i64(value, &mode) && mode >= 0 && ((mode & S_IFMT) == 0 || (mode & S_IFMT) == own);
}

int security_judge_devices(struct planner *p)
{
    const struct policy_list *allowed = &p->in->policy->security.devices;
    const struct json *list = device_nodes(p->in->spec);

    if (!allowed->given)
        return 0;
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *device = json_at(list, i);
        const char *path = json_text(json_get(device, "path"));
        if (!is_in_dev(p->in->spec, path) &&
            deny_advising(p, "security.devices", &allowed->place,
                          "the node %.200s is not in the container's own /dev: name a path in /dev",
                          path ? path : "without a path") < 0)
            return -1;
        if (!is_mode_of_type(device) &&
            deny_advising(p, "security.devices", &allowed->place,
                          "the node %.200s has a fileMode that is not of its type: leave it out",
                          path ? path : "without a path") < 0)
            return -1;
        if (strcmp(type_of(device), "p") == 0 || device_allowed(p, device))
            continue;
        if (deny(p, "security.devices", &allowed->place, "%.200s (%s %lld:%lld) is not allowed",
                 path ? path : "a device", type_of(device), (long long)device_part(device, "major"),
                 (long long)device_part(device, "minor")) < 0)
            return -1;
    }
    return judge_rules(p);
}
