/*
 * Reads what a container asks for. There are three carriers; the policy says which of them count,
 * in the order of their precedence: the first that names a class of volumes decides on that class.
 *
 *     annotations  flatbed.CLASS = NAME[:ro|:rw][:TARGET],…     flatbed.project = NAME
 *                  flatbed.profile = NAME                       flatbed.off = mounts,tuning
 *                  flatbed.idmap = on           flatbed.stage = off|wait|now
 *                  flatbed.shm = 8g   flatbed.memlock = SIZE|unlimited   flatbed.workers = NUMBER
 *     environment  FLATBED_CLASS, FLATBED_PROJECT, FLATBED_SHM and so on, the same values, but
 *                  FLATBED_WORKERS, which tells a container a number. An image can set them.
 *     mounts       a bind mount of /dev/null on /run/flatbed/request/CLASS/NAME (or project/NAME,
 *                  off/mounts, shm/8g …).
 *                  An image cannot. They are taken out of config.json, and the annotation
 *                  flatbed.requested remembers them for an edit after this one.
 *
 * A request is granted what the policy offers, by whichever carrier it comes. One that cannot be
 * understood is kept, with its problem: the policy's mode decides whether that fails the launch.
 * Pure.
 */
#ifndef SHIM_REQUEST_H
#define SHIM_REQUEST_H

#include "base/arena.h"
#include "shim/oci/spec.h"
#include "shim/policy/policy.h"

#define REQUEST_DIRECTORY "/run/flatbed/request/"

enum {
    REQUEST_VALUE_BYTES = 4096,
    REQUEST_NAMES = 64,    /* in one annotation or variable */
    REQUESTS_IN_ALL = 256, /* of one container */
};

struct request {
    const char *key;                    /* annotation, variable or mount, for messages */
    const struct policy_volume *volume; /* NULL with a problem */
    const char *name;
    bool says_access;
    enum policy_access access;
    const char *target;  /* NULL: where the policy says */
    const char *problem; /* why it cannot be granted, or NULL */
    const char *hint;    /* with a problem: what there is; or NULL */
};

struct tuning_request {
    const char *key; /* NULL: nothing is asked for */
    uint64_t amount; /* as in struct policy_amount; never a share */
};

struct requests {
    const char *project; /* or NULL */
    const char *profile; /* or NULL; profile.h decides whether it is granted */
    const char *profile_key;
    unsigned off;   /* bits of enum policy_opt_out, which the policy offers */
    bool idmap;     /* for the volumes of which the policy says "ask" */
    unsigned stage; /* a bit of enum stage_wish, which a class offers; 0: none is asked for */
    struct tuning_request tuning[TUNING_ASKABLE];
    struct request *list;
    size_t count;

    const size_t *mounts; /* ascending indexes of spec.list: to be taken out */
    size_t mount_count;
    const char *remembered; /* for the annotation request_remembered; NULL: as it is */
};

/* The names in requests: "shm", "memlock", "workers". */
extern const char *const request_tuning_names[TUNING_ASKABLE];

/* The annotation that request mounts leave behind: "CLASS/NAME,…". */
extern const char request_remembered[];

/*
 * Reads the carriers that the policy names. Texts are in the arena or borrowed from policy and
 * document. Fails only without memory.
 */
int requests_read(const struct policy *policy, const struct spec *spec, struct arena *arena,
                  struct requests *out, struct err *err) must_check;

/* Adds a request that cannot be granted. `key` and `problem` are borrowed. */
int requests_deny(struct requests *requests, const char *key, const char *problem,
                  struct arena *arena, struct err *err) must_check;

/*
 * Returns the variable that names a class, in the arena: FLATBED_, upper case, "_" for "-" and ".".
 * NULL without memory.
 */
char *request_variable(const char *class_name, struct arena *arena) must_check;

/*
 * Returns why a user may not choose this target, or NULL if it may be chosen: it must be clean and
 * absolute, and not a place of the system. Static.
 */
const char *request_target_problem(const char *target);

#endif
