/*
 * Finds which hooks of config.json are allowed where the policy's "hooks" is "deny" or a list. A
 * hook is a program that the low-level runtime executes as root on the host, so it must be one of
 * these, with the arguments that are known:
 *
 *   dockerd and BuildKit       /proc/PID/exe libnetwork-setkey -exec-root=DIR ID ID, where PID runs
 * dockerd nerdctl                    …/nerdctl … internal oci-hook EVENT NVIDIA's toolkit
 * nvidia-container-runtime-hook prestart, nvidia-ctk hook SUB …, nvidia-cdi-hook SUB … a CDI
 * specification        path and arguments as it has them (cdi.h) the policy "hooks": {"allow":
 * [{"path", "args"}]}
 *
 * podman has no hooks of its own. Of the first three only the name of the program counts. The
 * program must be a file that only root can write or replace, the hook must have no members but
 * path, args, env and timeout, and its environment must not choose other programs or libraries.
 */
#ifndef SHIM_HOOKS_H
#define SHIM_HOOKS_H

#include "shim/gather/security/security.h"

/* A hook as config.json has it. */
struct hook {
    const char *path;
    const struct json *args, *env; /* array or NULL */
};

/* Gathers a fact for each hook, in the arena. Fails only without memory. */
int hooks_gather(const struct policy_security *policy, const struct spec *spec, struct arena *arena,
                 struct security_facts *out, struct err *err) must_check;

/*
 * Sets *out to a view of a hook. Returns the reason why it cannot be allowed, or NULL. Static text.
 * Pure.
 */
const char *hook_read(const struct json *entry, struct hook *out);

/* Returns true for the arguments that an engine or NVIDIA's toolkit gives a program of that name.
 * Pure. */
bool hook_is_known(const struct hook *hook);

/* Returns true for dockerd's hook, but for its program. Pure. */
bool hook_is_dockers(const struct hook *hook);

/* Returns true if the rule allows the hook, but for its program. Pure. */
bool hook_matches(const struct hook *hook, const struct policy_hook *rule);

#endif
