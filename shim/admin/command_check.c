#include "shim/admin/commands.h"

#include "base/cli/columns.h"
#include "shim/admin/check/lint.h"
#include "shim/host/process/patience.h"
#include "shim/policy/read/policy_read.h"

#include <stdio.h>

struct check_command {
    bool draft, strict, policy_only, json, quiet;
};

#define FIELD(name) offsetof(struct check_command, name)
static const struct option_spec check_options[] = {
    {"draft", 0, OPTION_FLAG, FIELD(draft), NULL, NULL,
     "also read files that users other than root could have written, with a warning"},
    {"strict", 0, OPTION_FLAG, FIELD(strict), NULL, NULL, "let warnings count as errors"},
    {"policy-only", 0, OPTION_FLAG, FIELD(policy_only), NULL, NULL,
     "look for nothing on this host: for a policy of other hosts"},
    {"json", 0, OPTION_FLAG, FIELD(json), NULL, NULL, "print the findings as JSON"},
    {"quiet", 'q', OPTION_FLAG, FIELD(quiet), NULL, NULL, "print nothing; the exit status tells"},
    {0},
};

const struct command_spec command_check_spec = {
    .program = "flatbed",
    .name = "check",
    .operands = "[FILE]",
    .summary = "Find errors in a policy, and rules that cannot be meant.",
    .details =
        "Reads the policy as flatbed-runtime does, with the files of its \".d\" directory, and\n"
        "looks for what it names on this host. Without FILE: /etc/flatbed/policy.json.\n"
        "Exit status 0: containers can start, 1: the policy has errors.\n",
    .options = check_options,
    .max_operands = 1,
    .completes = OPERANDS_FILES,
};

/* Collects the findings. A policy that does not load is the only one. */
static int collect_findings(const struct check_command *c, struct policy *policy, const char *path,
                            struct findings *findings, struct err *err)
{
    struct err distrust = ERR_INIT;

    policy->draft = c->draft;
    policy->distrust = &distrust;
    bool loaded = policy_open(policy, path, err) == 0;
    if (!loaded && err->kind == ERR_SYSTEM) /* missing, or not readable */
        return -1;
    if (distrust.kind != ERR_NONE)
        findings_add(findings, FINDING_WARNING, "distrusted", NULL,
                     "flatbed-runtime would reject it: %s", distrust.msg);
    if (!loaded || policy_decode(policy, err) < 0) {
        findings_add_error(findings, err);
    } else if (policy->file_count == 0) {
        findings_add(findings, FINDING_NOTE, "no-policy", NULL,
                     "there is no %s: containers start as if without flatbed-runtime",
                     policy_default_path);
    } else {
        lint_policy(policy, findings);
        if (!c->policy_only) {
            patience_begin("check", 2);
            lint_host(policy, findings);
            patience_end();
        }
        lint_reach(policy, findings);
        if (!c->policy_only)
            lint_engines(policy, findings);
    }
    return findings->failed ? err_nomem(err) : 0;
}

static int print_json(const struct policy *policy, const struct findings *findings, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = json_new_object(err);
    _cleanup_buf_ struct buf out = BUF_INIT;

    if (!doc)
        return -1;
    struct json *files = json_array(doc), *list = json_array(doc);
    for (size_t i = 0; i < policy->file_count; i++)
        json_append(doc, files, json_string(doc, policy->files[i].path));
    for (size_t i = 0; i < findings->count; i++)
        json_append(doc, list, finding_json(&findings->list[i], doc));
    json_set(doc, json_root(doc), "files", files);
    json_set(doc, json_root(doc), "findings", list);
    json_set(doc, json_root(doc), "errors",
             json_number(doc, findings_count(findings, FINDING_ERROR)));
    json_set(doc, json_root(doc), "warnings",
             json_number(doc, findings_count(findings, FINDING_WARNING)));
    if (json_write(doc, &out, err) < 0)
        return -1;
    buf_putc(&out, '\n');
    return program_print(&out, err);
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static int print_text(const struct policy *policy, const struct findings *findings, struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;
    size_t errors = findings_count(findings, FINDING_ERROR);
    size_t warnings = findings_count(findings, FINDING_WARNING);

    for (size_t i = 0; i < findings->count; i++)
        finding_print(&findings->list[i], columns_colour(STDOUT_FILENO), &out);
    buf_printf(&out, "%zu file%s, %zu error%s, %zu warning%s\n", policy->file_count,
               plural(policy->file_count), errors, plural(errors), warnings, plural(warnings));
    return program_print(&out, err);
}

static int check(const struct check_command *c, const char *path, struct err *err)
{
    _cleanup_findings_ struct findings findings = {0};
    _cleanup_policy_ struct policy *policy = policy_new(err);

    if (!policy || collect_findings(c, policy, path, &findings, err) < 0)
        return -1;
    if (c->json ? print_json(policy, &findings, err) < 0
                : !c->quiet && print_text(policy, &findings, err) < 0)
        return -1;
    enum finding_level worst = c->strict ? FINDING_WARNING : FINDING_ERROR;
    for (size_t i = 0; i < findings.count; i++)
        if (findings.list[i].level >= worst)
            return 1;
    return 0;
}

int command_check(int argc, char *const argv[], bool *help, struct err *err)
{
    struct check_command c = {0};
    struct operands operands = {0};
    int rc = options_parse(&command_check_spec, argc, argv, &c, &operands, help, err);

    if (rc == 0 && !*help)
        rc = check(&c, operands.count ? operands.list[0] : NULL, err);
    free(operands.list);
    return rc;
}
