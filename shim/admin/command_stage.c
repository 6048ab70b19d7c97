#include "shim/admin/commands.h"

#include "base/cli/columns.h"
#include "base/cli/log.h"
#include "shim/admin/stage/stage_change.h"
#include "shim/admin/stage/stage_follow.h"
#include "shim/admin/stage/stage_report.h"
#include "shim/admin/stage/stage_target.h"
#include "shim/host/trust.h"
#include "shim/policy/read/policy_read.h"
#include "shim/stage/cache/stage_cache.h"
#include "shim/stage/stage.h"

#include <string.h>
#include <unistd.h>

enum { MEMORY_LIMIT = 256 * 1024 * 1024 };

struct stage_command {
    const char *policy, *user;
    bool wait, status, drop, pin, unpin, json;
};

#define FIELD(name) offsetof(struct stage_command, name)
static const struct option_spec stage_options[] = {
    {"wait", 'w', OPTION_FLAG, FIELD(wait), NULL, NULL, "return when the copy is there"},
    {"status", 0, OPTION_FLAG, FIELD(status), NULL, NULL,
     "list all copies; the default without a source"},
    {"drop", 0, OPTION_FLAG, FIELD(drop), NULL, NULL, "remove the copies of the source"},
    {"pin", 0, OPTION_FLAG, FIELD(pin), NULL, NULL, "never evict the copies of the source"},
    {"unpin", 0, OPTION_FLAG, FIELD(unpin), NULL, NULL, "evict them again when room is short"},
    {"user", 'u', OPTION_TEXT, FIELD(user), "USER", NULL,
     "the user for {user}, who also reads what root may not"},
    {"policy", 0, OPTION_FILE, FIELD(policy), "FILE", NULL,
     "the policy, instead of /etc/flatbed/policy.json"},
    {"json", 0, OPTION_FLAG, FIELD(json), NULL, NULL, "print it as JSON"},
    {0},
};

const struct command_spec command_stage_spec = {
    .program = "flatbed",
    .name = "stage",
    .operands = "[CLASS[=NAME] | SOURCE]",
    .summary = "Copy a dataset to the local disk before the first container, or list the copies.",
    .details =
        "Classes of the policy with \"stage\" have their sources copied to a local disk, and\n"
        "containers get the copy. This does it ahead: CLASS=NAME is what flatbed.CLASS=NAME asks\n"
        "for, SOURCE its directory, or oci://... in a registry. The copy is made in the\n"
        "background; with --wait, the command ends when it is there, with status 1 if there is\n"
        "none.\n",
    .options = stage_options,
    .max_operands = 1,
    .completes = OPERANDS_FILES,
};

static int print_document(struct json_doc *doc, struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;

    if (json_write(doc, &out, err) < 0)
        return -1;
    buf_putc(&out, '\n');
    return program_print(&out, err);
}

/* ---- status ---- */

static int print_status(const struct stage_command *c, const struct policy *policy,
                        struct arena *arena, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = json_new_object(err);
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct stage_report report;

    if (!doc || stage_report_read(policy, arena, &report, err) < 0)
        return -1;
    if (c->json) {
        stage_report_json(&report, doc, json_root(doc));
        return print_document(doc, err);
    }
    if (stage_report_print(&report, columns_of_terminal(STDOUT_FILENO), arena, &out, err) < 0)
        return -1;
    return program_print(&out, err);
}

/* ---- one source ---- */

static int change_copies(const struct stage_command *c, struct stage_target *target,
                         struct arena *arena, struct err *err)
{
    enum stage_change change = c->drop ? STAGE_DROP : c->pin ? STAGE_PIN : STAGE_UNPIN;
    static const char *const done[] = {"dropped", "pinned", "unpinned"};
    struct err ignored;
    size_t count;

    (void)!stage_target_open(target, arena, &ignored); /* for its real path, if it is there */
    if (stage_change_copies(target, change, arena, &count, err) < 0)
        return -1;
    if (!count)
        return err_set(err, ERR_USAGE, "%s: there is no copy", target->path);
    if (!c->json)
        log_info("%s: %s", target->path, done[change]);
    return 0;
}

static int print_offer(const struct stage_command *c, const struct stage_target *target,
                       const struct stage_offer *offer, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = json_new_object(err);

    if (!c->json) {
        log_info("%s: %s", target->path, offer->note);
        return 0;
    }
    if (!doc)
        return -1;
    struct json *top = json_root(doc);
    json_set(doc, top, "source", json_string(doc, target->real));
    json_set(doc, top, "state", json_string(doc, stage_word(offer)));
    json_set(doc, top, "note", json_string(doc, offer->note));
    if (offer->tree)
        json_set(doc, top, "copy", json_string(doc, offer->tree));
    return print_document(doc, err);
}

static int copy_source(const struct stage_command *c, struct stage_target *target,
                       struct arena *arena, struct err *err)
{
    struct stage_offer offer;
    bool show = !c->json && isatty(STDERR_FILENO);

    if (stage_target_open(target, arena, err) < 0 ||
        stage_follow(target, c->wait, show, arena, &offer, err) < 0)
        return -1;
    int rc = print_offer(c, target, &offer, err);
    bool none = offer.entry.state != STAGE_READY && offer.entry.state != STAGE_COPYING;
    stage_offer_close(&offer);
    return rc < 0 ? -1 : none;
}

static int run(const struct stage_command *c, const char *operand, struct err *err)
{
    _cleanup_policy_ struct policy *policy = policy_new(err);
    _cleanup_arena_ struct arena arena = {.limit = MEMORY_LIMIT};
    _cleanup_stage_target_ struct stage_target target = STAGE_TARGET_INIT;

    if (trust_rootless())
        return err_set(err, ERR_UNSUPPORTED, "only root can look into the caches");
    if (!policy || policy_open(policy, c->policy, err) < 0 || policy_decode(policy, err) < 0)
        return -1;
    if (!operand)
        return print_status(c, policy, &arena, err);
    if (stage_target_find(policy, operand, c->user, &arena, &target, err) < 0)
        return -1;
    return c->drop || c->pin || c->unpin ? change_copies(c, &target, &arena, err)
                                         : copy_source(c, &target, &arena, err);
}

int command_stage(int argc, char *const argv[], bool *help, struct err *err)
{
    struct stage_command c = {0};
    struct operands operands = {0};
    int rc = options_parse(&command_stage_spec, argc, argv, &c, &operands, help, err);

    if (rc == 0 && !*help) {
        const char *operand = operands.count ? operands.list[0] : NULL;
        int actions = c.wait + c.status + c.drop + c.pin + c.unpin;
        if (actions > 1)
            rc = err_set(err, ERR_USAGE, "give one of --wait, --status, --drop, --pin, --unpin");
        else if (operand ? c.status : actions > c.status)
            rc = err_set(err, ERR_USAGE,
                         operand ? "--status lists all copies: give it no source"
                                 : "which source? Give CLASS=NAME, or a directory");
        else
            rc = run(&c, operand, err);
    }
    free(operands.list);
    return rc;
}
