/*
 * Says what a policy makes of a container, and does none of it: the judgement of judge.h, and
 * whether the sources of its volumes can be used. The low-level runtime is not asked what it can
 * do.
 */
#ifndef SHIM_EXPLAIN_H
#define SHIM_EXPLAIN_H

#include "shim/plan/decision/describe.h"
#include "shim/plan/judge.h"
#include "shim/request/identity.h"

struct explanation {
    const struct policy *policy; /* with the overrides of the profile that matches */
    const char *id, *config;
    struct spec spec;
    struct judgement judgement;
    struct decision decision; /* the plan and its outcomes */
    struct id_pair owner;     /* of the container */
    const char *owner_name;   /* or NULL */
    bool judged;              /* false: there is no policy, or it is off */
    bool refused;             /* it would not start */
    struct description *ops;
    const char **by;   /* of each: "policy", "request", "user", "engine" or "container" */
    const char **gpus; /* that it may use, in words */
    size_t op_count, gpu_count;
    const char *warm; /* what its start reads ahead, or records; NULL: the policy has no "warm" */
};

/* The container to explain. */
struct explain_subject {
    struct json_doc *doc;    /* its config.json */
    int bundle;              /* the open directory that holds that */
    const char *id, *config; /* its ID, and the path of config.json */
    bool created;            /* it was created: what was made of it then is looked up */
};

/*
 * Judges one container. The explanation borrows all arguments and the arena, and must not be moved.
 */
int explain_container(const struct policy *policy, const struct explain_subject *subject,
                      struct arena *arena, struct explanation *out, struct err *err) must_check;

/*
 * Appends the explanation as text; `colour` with escape sequences; `terminal` is the width in
 * columns to fold to, or 0.
 */
int explain_print(const struct explanation *e, bool colour, size_t terminal, struct buf *out,
                  struct err *err) must_check;

/* The same as one object of JSON and a newline. */
int explain_json(const struct explanation *e, struct buf *out, struct err *err) must_check;

#endif
