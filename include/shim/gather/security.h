/*
 * What a container would be on the host, beyond its mounts: the facts that the policy's "security"
 * judges (plan.h) and that config.json alone does not tell.
 */
#ifndef SHIM_SECURITY_H
#define SHIM_SECURITY_H

#include "shim/gather/security_devices.h"
#include "shim/request/facts.h"

struct security_facts {
    bool host_root;                /* the container's process is root on the host */
    bool host_root_later;          /* it may become that by a capability of its own */
    unsigned host_namespaces;      /* bits: those that it shares with the host */
    struct device_numbers devices; /* of the host's files that "devices" allows */
    const char *let_through;       /* those of seccomp.deny that its filter allows; "" if none */
    const char *filter_problem;    /* why that cannot be told, or NULL */
    struct json *profile;          /* seccomp.profile, where it must be put in; in the document */
};

/* Looks it up; `doc` gets the values that may be put in. */
int security_gather(const struct policy *policy, const struct spec *spec, const struct facts *facts,
                    struct json_doc *doc, struct arena *arena, struct security_facts *out,
                    struct err *err) must_check;

/* The capabilities that the policy leaves to a container, or to a privileged one. Pure. */
uint64_t security_capabilities(const struct policy_security *security, bool privileged);

#endif
