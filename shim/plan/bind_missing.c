#include "shim/plan/bind_missing.h"

#include "shim/plan/mount_restriction.h"

/* Returns true for a bind that may not do all that its source allows. */
static bool is_restricted(const struct plan_bind *b)
{
    return b->alone || b->access == ACCESS_RO || (b->rule && b->rule->options.count);
}

size_t bind_put_missing(struct plan_bind *bind, const struct json *options, bool deny_propagation,
                        struct buf *out)
{
    size_t count = 0;

    if (bind->access == ACCESS_RO && mount_is_writable(options)) {
        buf_puts(out, "ro");
        count++;
    }
    for (size_t i = 0; bind->rule && i < bind->rule->options.count; i++) {
        const char *option = bind->rule->options.items[i];
        if (!mount_restriction_holds(mount_restriction_find(option), options))
            buf_printf(out, "%s%s", count++ ? ", " : "", option);
    }
    if (bind->alone && mount_is_recursive(options))
        buf_printf(out, "%sbind without what is mounted below", count++ ? ", " : "");
    bind->is_private = (deny_propagation || is_restricted(bind)) && !mount_is_private(options);
    if (bind->is_private)
        buf_printf(out, "%sprivate, without what is mounted later", count++ ? ", " : "");
    return count;
}
