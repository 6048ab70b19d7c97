/* The "user" section. */
#include "shim/policy/read/sections/sections.h"
#include "shim/policy/template.h"

#include <string.h>

static int read_passwd(struct decoder *d, const struct json *value, void *target)
{
    struct policy_user *user = target;

    user->passwd_place = decode_place(d, value);
    if (decode_bool(d, value, &user->passwd) < 0)
        return -1;
    if (user->passwd) /* the name in the entry */
        d->policy->vars |= 1u << VAR_USER;
    return 0;
}

static int read_home(struct decoder *d, const struct json *value, void *target)
{
    static const unsigned allowed = TEMPLATE_COMPONENTS & ~(1u << VAR_NAME);
    struct policy_user *user = target;
    unsigned used;

    if (decode_text(d, value, &user->home) < 0)
        return -1;
    if (template_check(user->home.text, allowed, &used, d->err) < 0)
        return decode_wrap(d, value);
    d->policy->vars |= used;
    if (user->home.text[0] != '/')
        return decode_fail(d, value, "'%s' is not an absolute path", user->home.text);
    if (strpbrk(user->home.text, ":\n"))
        return decode_fail(d, value, "a line of /etc/passwd cannot hold '%s'", user->home.text);
    return 0;
}

static int read_groups(struct decoder *d, const struct json *value, void *target)
{
    static const char *const names[] = {"none", "user"};
    struct policy_user *user = target;
    int groups;

    user->groups_place = decode_place(d, value);
    if (decode_choice(d, value, names, 2, &groups) < 0)
        return -1;
    user->groups = groups;
    return 0;
}

int decode_user(struct decoder *d, const struct json *value, void *target)
{
    static const struct decode_key keys[] = {
        {"passwd", read_passwd}, {"home", read_home}, {"groups", read_groups}};
    struct policy *policy = target;

    return decode_object(d, value, keys, 3, &policy->user);
}
