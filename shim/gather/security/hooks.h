/*
 * Finds which hooks of config.json are allowed where the policy's "hooks" is "deny" or a list. A
 * hook is a program that the low-level runtime executes as root on the host, so it must be one of
 * these, with the arguments that are known:
 *
 * - dockerd's and BuildKit's: /proc/PID/exe libnetwork-setkey -exec-root=DIR ID ID, where PID runs
 *   dockerd
 * - nerdctl's: nerdctl OPTION=VALUE... internal oci-hook EVENT, without options that name
 * directories
 * - NVIDIA's toolkit's: nvidia-container-runtime-hook prestart, nvidia-ctk hook SUBCOMMAND ... and
 *   nvidia-cdi-hook SUBCOMMAND ..., with the options that the toolkit gives itself (hook_forms.c)
 * - flatbed-runtime's own (shim/apply/nested.h)
 * - one of a CDI specification: stage, path and arguments as it has them (cdi.h)
 * - one of the policy: "hooks": {"allow": [{"path", "args"}]}
 *
 * podman has no hooks of its own, and its users can give it any (--hooks-dir). nerdctl and the
 * toolkit are told by the name of the program, in a directory of the system's programs. The program
 * must be a file that only root can write or replace, the hook must have no members but path, args,
 * env and timeout, and its environment must not choose other programs or libraries.
 */
#ifndef SHIM_HOOKS_H
#define SHIM_HOOKS_H

#include "shim/gather/security/security.h"

/* A hook as config.json has it. */
struct hook {
    const char *stage; /* "prestart", "createContainer" ... */
    const char *path;
    const struct json *args, *env; /* array or NULL */
};

/* Gathers a fact for each hook, in the arena. Fails only without memory. */
int hooks_gather(const struct policy_security *policy, const struct spec *spec, struct arena *arena,
                 struct security_facts *out, struct err *err) must_check;

/*
 * Sets *out to a view of a hook of that stage. Returns the reason why it cannot be allowed, or
 * NULL. Static text. Pure.
 */
const char *hook_read(const char *stage, const struct json *entry, struct hook *out);

/* Returns true for the stage, place and arguments that nerdctl or NVIDIA's toolkit gives a program
 * of that name. Pure. */
bool hook_is_known(const struct hook *hook);

/* Returns true for a hook that flatbed-runtime puts in, but for its program. Pure. */
bool hook_is_own(const struct hook *hook);

/* Returns true for dockerd's hook, but for its program. Pure. */
bool hook_is_dockers(const struct hook *hook);

/* Returns true if the rule allows the hook, but for its program. Pure. */
bool hook_matches(const struct hook *hook, const struct policy_hook *rule);

#endif
