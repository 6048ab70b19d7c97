#include "shim/audit/audit.h"

#include "shim/audit/metrics.h"
#include "shim/host/trust.h"
#include "shim/host/users/user.h"

#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const struct policy *subject_policy(const struct audit_subject *s)
{
    return s->judgement && s->judgement->policy ? s->judgement->policy : s->policy;
}

/* Returns the user's name, without asking databases on the network for it. */
static const char *user_name(const struct facts *facts, struct user *user)
{
    const char *name = facts->values.value[VAR_USER];

    if (name || !facts->identity.known)
        return name;
    return user_is_local(facts->identity.uid, user) ? user->name : NULL;
}

static void fill_record(const struct audit_subject *s, struct user *user, struct audit_record *r)
{
    const struct judgement *j = s->judgement;

    *r = (struct audit_record){
        .command = s->call->command,
        .container = s->call->id,
        .bundle = s->call->bundle,
        .engine = audit_engine(s->call, s->spec),
        .mode = subject_policy(s)->mode,
    };
    clock_gettime(CLOCK_REALTIME, &r->time);
    if (s->spec) {
        r->image = facts_image(s->spec);
        r->namespace_name = facts_namespace(s->spec);
        r->process = identity_process(s->spec);
    }
    if (!j)
        return;
    r->profile = j->profile ? j->profile->name : NULL;
    r->uid_known = j->facts.identity.known;
    r->uid = j->facts.identity.uid;
    r->user = user_name(&j->facts, user);
    r->off = j->requests.off;
    r->decision = s->decision;
}

/* Compares the free room of the store with "alerts". The root of an overlay tells that of its upper
 * directory. */
static void measure_store(const struct policy_alerts *alerts, const struct audit_subject *s,
                          struct audit_record *r)
{
    const char *root = s->spec ? json_text(json_path(s->spec->root, "root", "path", NULL)) : NULL;
    struct statvfs room;

    if (!root || !r->bundle || (!alerts->store_free.bytes && !alerts->store_free.percent))
        return;
    _cleanup_free_ char *path = *root == '/' ? strdup(root) : strf("%s/%s", r->bundle, root);
    if (!path || statvfs(path, &room) < 0)
        return;
    uint64_t size = (uint64_t)room.f_blocks * room.f_frsize;
    uint64_t least = policy_least_free(&alerts->store_free, size);
    r->free = (uint64_t)room.f_bavail * room.f_frsize;
    r->least_free = r->free < least ? least : 0;
}

/* Returns 1 if there is a file to write to and it could not be written. */
static int write_to_file(const struct policy_audit *audit, const struct audit_record *record,
                         struct err *err)
{
    _cleanup_buf_ struct buf line = BUF_INIT;

    if (!audit->file.text)
        return 0;
    return audit_line(record, AUDIT_LINE, &line, err) < 0 ||
           audit_file_append(audit, &line, err) < 0;
}

int audit_decision(const struct audit_subject *subject, enum audit_verdict verdict,
                   const struct err *why, struct err *err)
{
    const struct policy_audit *audit = &subject_policy(subject)->audit;
    struct err failure = ERR_INIT, unmeasured = ERR_INIT;
    struct audit_record record;
    struct user user;

    if (!audit->file.text && !audit->metrics.text && !audit->syslog &&
        (!why || verdict == AUDIT_DENIED))
        return 0;
    fill_record(subject, &user, &record);
    record.verdict = verdict;
    if (verdict != AUDIT_DENIED)
        measure_store(&audit->alerts, subject, &record);
    if (why)
        *(verdict == AUDIT_DENIED ? &record.error : &record.warning) = why->msg;
    bool files = (audit->file.text || audit->metrics.text) && !trust_rootless();
    bool failed = files && write_to_file(audit, &record, &failure);
    if (failed && audit->required && verdict != AUDIT_DENIED) {
        *err = failure;
        return err_wrap(err, "the audit, which the policy requires, cannot be written");
    }
    if (audit->syslog || failed || record.warning || record.least_free)
        audit_syslog(&record, failed ? failure.msg : NULL);
    if (files && audit->metrics.text &&
        metrics_update(audit->metrics.text, &record, failed, &unmeasured) < 0)
        audit_syslog_warning(unmeasured.msg);
    return 0;
}

void audit_refusal(const struct audit_subject *subject, const struct err *why)
{
    struct err ignored;

    if (audit_decision(subject, AUDIT_DENIED, why, &ignored) < 0)
        return;
}
