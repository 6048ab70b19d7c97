/* What registry.c and registry_retry.c share. */
#ifndef FLATTEN_REGISTRY_INTERNAL_H
#define FLATTEN_REGISTRY_INTERNAL_H

#include "flatten/registry.h"
#include "flatten/registry_auth.h"

struct registry {
    struct registry_ref ref;
    struct registry_options options;
    struct registry_auth *auth;
    struct certificates certificates;
    char *mount_from;
    char *base;    /* "https://HOST[:PORT]" */
    bool answered; /* it is there: when nobody listens, that may pass */
    atomic_bool stop;
};

#endif
