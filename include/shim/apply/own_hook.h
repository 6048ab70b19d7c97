/*
 * Hooks of config.json by which the low-level runtime calls this program again
 * (runtime-spec, config.md#posix-platform-hooks). PROGRAM OPTION WORD… is the command line.
 */
#ifndef SHIM_OWN_HOOK_H
#define SHIM_OWN_HOOK_H

#include "shim/oci/spec.h"

/* A hook of flatbed-runtime: no two have the same option. */
struct own_hook {
    const char *stage;  /* the member of `hooks` */
    const char *option; /* the first argument behind the program */
};

/* In the container's mounts, before its process starts: compares them (nested_hook.h). */
extern const struct own_hook own_hook_mounts;
/* On the host, before the container's process starts: denies it the host's console. */
extern const struct own_hook own_hook_console;

/* The index of the first argument behind the option. */
enum { OWN_HOOK_WORDS = 2 };

/*
 * Puts the hook before all others of its stage, in the place of an earlier one; takes it out if it
 * is not `wanted`. The words are copied. Sets *changed if that changes anything.
 */
int own_hook_put(const struct own_hook *hook, const struct spec *spec, struct json_doc *doc,
                 bool wanted, const char *const *words, size_t count, bool *changed,
                 struct err *err) must_check;

#endif
