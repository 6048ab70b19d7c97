/*
 * What a container would be on the host, beyond its mounts: the facts that the policy's "security"
 * judges (plan.h) and that config.json alone does not tell.
 */
#ifndef SHIM_SECURITY_H
#define SHIM_SECURITY_H

#include "shim/request/facts.h"

struct device_number {
    bool block;
    unsigned major, minor;
};

struct security_facts {
    bool host_root;                /* the container's process is root on the host */
    bool host_root_later;          /* it may become that by a capability of its own */
    unsigned host_namespaces;      /* bits: those that it shares with the host */
    struct device_number *devices; /* of the host's files that "devices" allows */
    size_t device_count;
    const char *let_through;    /* those of seccomp.deny that its filter allows; "" if none */
    const char *filter_problem; /* why that cannot be told, or NULL */
    struct json *profile;       /* seccomp.profile, where it must be put in; in the document */
};

/* Looks it up; `doc` gets the values that may be put in. */
int security_gather(const struct policy *policy, const struct spec *spec, const struct facts *facts,
                    struct json_doc *doc, struct arena *arena, struct security_facts *out,
                    struct err *err) must_check;

/*
 * A privileged container, to this policy: it may have CAP_SYS_ADMIN (its bounding set has it), and
 * use all devices of the host, or all of its disks (the last rule for all, or for all of a type, of
 * linux.resources.devices allows them, or there is none). Docker, podman and Kubernetes mean the
 * same by the word, and more. Pure.
 */
bool security_is_privileged(const struct spec *spec);

/* The capabilities that the policy leaves to a container, or to a privileged one. Pure. */
uint64_t security_capabilities(const struct policy_security *security, bool privileged);

/*
 * True unless linux.resources.devices takes all devices away, and gives neither them nor all block
 * devices back. Pure.
 */
bool security_all_devices(const struct spec *spec);

/*
 * True for a rule for all devices (to cgroup v1, "a" means all whatever numbers follow), or all
 * block devices. Pure.
 */
bool security_rule_for_all(const struct json *rule);

/* The list of linux.devices, or NULL. */
const struct json *security_devices(const struct spec *spec);

/* Reads a member "major" or "minor"; -1 (any) where there is none, or null. */
int64_t security_device_part(const struct json *device, const char *key);

#endif
