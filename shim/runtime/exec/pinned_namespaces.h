/*
 * The namespaces that the low-level runtime enters for an exec, as they are now. It opens them by
 * /proc/PID/ns of the container's first process, which can be in others by then: where it can make
 * user namespaces, in a mount namespace with what its user likes on each path. runc looks there by
 * name, as root, for the working directory, groups, its own rights (/proc/self/setgroups,
 * /proc/sys/kernel/cap_last_cap) and more.
 *
 * So create keeps the member "namespaces" of the rules for a container whose filter lets it make
 * user namespaces, unless it has one of its own. For an exec this process then gets a mount
 * namespace with a directory of links to descriptors on /proc/PID/ns. They stay open when it
 * becomes the runtime, which closes them for the container's process.
 */
#ifndef SHIM_PINNED_NAMESPACES_H
#define SHIM_PINNED_NAMESPACES_H

#include "base/json/json.h"
#include "shim/oci/call.h"
#include "shim/oci/spec.h"

/* Adds the rule to a state that has others. `spec` is the container as it will be created. */
int pinned_namespaces_keep(const struct spec *spec, struct json_doc *state,
                           struct err *err) must_check;

/*
 * Pins the namespaces of the call's container, if the rules (NULL: none) have that one. What is
 * mounted on this host afterwards is seen as before. ERR_POLICY: the first process has made its
 * mount namespace itself.
 */
int pinned_namespaces_hold(const struct json *rules, const struct call *call,
                           struct err *err) must_check;

#endif
