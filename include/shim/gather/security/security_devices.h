/* Devices: what linux.devices and linux.resources.devices of config.json give, and the device files
 * of the host. */
#ifndef SHIM_SECURITY_DEVICES_H
#define SHIM_SECURITY_DEVICES_H

#include "shim/oci/spec.h"
#include "shim/policy/policy.h"

struct device_number {
    bool block; /* else a character device */
    unsigned major, minor;
};

struct device_numbers {
    struct device_number *list;
    size_t count;
};

/*
 * Finds the numbers of the host's device files that the globs name, in the arena. A directory that
 * does not exist has none. Fails only without memory.
 */
int security_find_devices(const struct policy_list *globs, struct arena *arena,
                          struct device_numbers *out, struct err *err) must_check;

/*
 * Returns true for a container that this policy calls privileged: it may have CAP_SYS_ADMIN (its
 * bounding set has it), and use all devices of the host, or all of its disks (the last rule for
 * all, or for all of a type, of linux.resources.devices allows them, or there is none). Docker,
 * podman and Kubernetes mean the same by the word, and more. Pure.
 */
bool security_is_privileged(const struct spec *spec);

/*
 * Returns true unless linux.resources.devices takes all devices away, and gives neither them nor
 * all block devices back. Pure.
 */
bool security_all_devices(const struct spec *spec);

/*
 * Returns true for a rule of linux.resources.devices for all devices (to cgroup v1, "a" means all
 * whatever numbers follow), or for all block devices. Pure.
 */
bool security_rule_for_all(const struct json *rule);

/* Returns true for a rule that allows the console of the host, 5:1. Pure. */
bool security_rule_is_console(const struct json *rule);

#endif
