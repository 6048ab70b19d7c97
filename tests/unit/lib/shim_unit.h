/* Policies and documents from text, for the shim's tests. */
#ifndef TESTS_SHIM_UNIT_H
#define TESTS_SHIM_UNIT_H

#include "tests/unit/lib/unit.h"

#include "base/json/json.h"
#include "shim/policy/read/policy_read.h"

static const struct json_options shim_policy_options = {.comments = true, .unique_keys = true};

/* Adds a file called `path`. Returns 0 or -1, as policy_add. */
static inline int shim_add_text(struct policy *policy, const char *path, const char *text,
                                struct err *err)
{
    struct json_doc *doc = json_parse(text, strlen(text), &shim_policy_options, err);

    if (!doc)
        fail_msg("%s: %s", text, err->msg);
    return policy_add(policy, path, doc, err);
}

/* Returns the policy of a valid text. "version" is added. */
static inline struct policy *shim_policy(const char *sections)
{
    struct err err = ERR_INIT;
    struct policy *policy = policy_new(&err);
    char *text = strf("{\"version\":1%s%s}", *sections ? "," : "", sections);

    assert_non_null(policy);
    assert_non_null(text);
    assert_works(shim_add_text(policy, "policy.json", text, &err), err);
    assert_works(policy_decode(policy, &err), err);
    free(text);
    return policy;
}

/* Returns the error of an invalid text. */
static inline struct err shim_policy_error(const char *text)
{
    struct err err = ERR_INIT;
    _cleanup_policy_ struct policy *policy = policy_new(&err);

    assert_non_null(policy);
    if (shim_add_text(policy, "p.json", text, &err) == 0 && policy_decode(policy, &err) == 0)
        fail_msg("%s: accepted", text);
    return err;
}

struct shim_wrong {
    const char *text, *message; /* a part of it */
};

/* Asserts that each text is refused with its message. */
static inline void shim_assert_wrong(const struct shim_wrong *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct err err = shim_policy_error(list[i].text);
        if (!strstr(err.msg, list[i].message))
            fail_msg("%s: '%s' instead of '%s'", list[i].text, err.msg, list[i].message);
        assert_int_equal(err.kind, ERR_POLICY);
    }
}

static inline struct json_doc *shim_document(const char *text)
{
    struct err err = ERR_INIT;
    struct json_doc *doc = json_parse(text, strlen(text), NULL, &err);

    if (!doc)
        fail_msg("%s: %s", text, err.msg);
    return doc;
}

#endif
