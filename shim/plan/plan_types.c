/* Mounts of a type that may show anything: overlays, network file systems, disks. */
#include "shim/plan/plan_parts.h"

#include <string.h>

/* Returns the value of an option "NAME=VALUE" of a mount; NULL: it has none. */
static const char *find_value(const struct json *options, const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < json_count(options); i++) {
        const char *text = json_text(json_at(options, i));
        if (text && strncmp(text, name, len) == 0 && text[len] == '=')
            return text + len + 1;
    }
    return NULL;
}

/* Returns true for the first of the layers: where podman's storage mounts an image. */
static bool is_image(const char *lower)
{
    static const char end[] = "/merged";
    size_t len = strcspn(lower, ":");

    return len >= sizeof(end) - 1 &&
           memcmp(lower + len - (sizeof(end) - 1), end, sizeof(end) - 1) == 0;
}

/* podman makes an overlay for an image, or for a directory with the option O. */
static int deny_overlay(struct planner *p, struct plan_op *op, const struct spec_mount *mount,
                        const char *lower)
{
    const struct policy_place *place = &p->in->policy->binds.place;
    _cleanup_buf_ struct buf way = BUF_INIT, hint = BUF_INIT;

    if (is_image(lower)) {
        op->hint = "copy its files to a named volume, or into the container's image (COPY --from)";
        return plan_decide(p, op, PLAN_DENIED, place,
                           "it is an image (--mount type=image), an overlay, and what an overlay "
                           "shows cannot be judged");
    }
    buf_put_printable(&way, lower, strlen(lower));
    buf_putc(&way, ':');
    buf_put_printable(&way, mount->destination, strlen(mount->destination));
    buf_printf(&hint, "leave out :O (-v %s:ro), or use a named volume", way.data ? way.data : "");
    if (way.failed)
        return err_nomem(p->err);
    if (plan_set_hint(p, op, &hint) < 0)
        return -1;
    return plan_decide(p, op, PLAN_DENIED, place,
                       "it is an overlay (-v %s:O), and what an overlay shows cannot be judged",
                       way.data);
}

int plan_deny_type(struct planner *p, struct plan_op *op, const struct spec_mount *mount)
{
    const char *type = mount->type ? mount->type : "";
    const char *lower =
        strcmp(type, "overlay") == 0 ? find_value(mount->options, "lowerdir") : NULL;

    if (lower)
        return deny_overlay(p, op, mount, lower);
    op->hint = "use a bind mount, a volume or a tmpfs";
    return plan_decide(p, op, PLAN_DENIED, &p->in->policy->binds.place,
                       "what a mount of type '%.32s' shows cannot be judged", type);
}
