/* Priorities before all other processes of the host. */
#include "shim/plan/security/security_deny.h"
#include "shim/privilege/realtime.h"

int security_judge_realtime(struct planner *p)
{
    const struct policy_switch *realtime = &p->in->policy->security.realtime;
    _cleanup_buf_ struct buf asked = BUF_INIT;

    if (!realtime->deny)
        return 0;
    realtime_print_process(p->in->spec->process, &asked);
    realtime_print_linux(json_get(p->in->spec->root, "linux"), &asked);
    if (asked.failed)
        return err_nomem(p->err);
    if (!asked.len)
        return 0;
    return deny_advising(p, "security.realtime", &realtime->place,
                         "the container could run before all other processes of this host, by %s: "
                         "leave this out",
                         asked.data);
}
