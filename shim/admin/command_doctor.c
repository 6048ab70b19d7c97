#include "shim/admin/commands.h"

#include "base/cli/columns.h"
#include "base/fdio.h"
#include "shim/admin/doctor/doctor.h"
#include "shim/admin/page/page_file.h"
#include "shim/policy/read/policy_read.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* The exit statuses of a host that has warnings, or errors. */
enum { STATUS_WARNINGS = 10, STATUS_ERRORS = 11 };
enum { SETTINGS_BYTES = 64 * 1024 };

static const char settings_path[] = "/etc/flatbed/doctor.json";

struct doctor_command {
    struct option_list only, ignore, stores;
    const char *policy, *html;
    bool json, quiet;
};

#define FIELD(name) offsetof(struct doctor_command, name)
static const struct option_spec doctor_options[] = {
    {"only", 0, OPTION_LIST, FIELD(only), "ID", NULL, "examine only this; may be repeated"},
    {"ignore", 0, OPTION_LIST, FIELD(ignore), "ID", NULL,
     "leave this out; may be repeated, and kept in /etc/flatbed/doctor.json"},
    {"store", 0, OPTION_LIST, FIELD(stores), "DIR", NULL,
     "also examine this directory of images, such as a user's; may be repeated"},
    {"policy", 0, OPTION_FILE, FIELD(policy), "FILE", NULL,
     "the policy; by default /etc/flatbed/policy.json"},
    {"json", 0, OPTION_FLAG, FIELD(json), NULL, NULL, "print the diagnoses as JSON"},
    {"html", 0, OPTION_FILE, FIELD(html), "FILE", NULL,
     "also write a page of HTML; it needs no other file and no network"},
    {"quiet", 'q', OPTION_FLAG, FIELD(quiet), NULL, NULL, "print nothing; the exit status tells"},
    {0},
};

const struct command_spec command_doctor_spec = {
    .program = "flatbed",
    .name = "doctor",
    .operands = "",
    .summary = "Tell what of this host is not right for containers of deep learning.",
    .details =
        "Examines the storage of Docker, containerd and podman, also of users (file system, room,\n"
        "load, the cost of a copy-up, measured there), the depth of images, the defaults of\n"
        "overlayfs, versions with known holes, the policy with its volumes, limits and GPUs, and\n"
        "the ways around it. Says what each finding costs and what mends it. Changes nothing.\n"
        "Exit status 0: in order, or advice only; 10: warnings; 11: errors.\n",
    .options = doctor_options,
    .completes = OPERANDS_NONE,
};

/* ---- which diagnoses are wanted ---- */

static int add_id(const char *id, const char *source, const char **list, size_t *count,
                  struct err *err)
{
    _cleanup_buf_ struct buf known = BUF_INIT;

    if (doctor_knows(id) && *count < DIAGNOSES_FILTER_MOST) {
        list[(*count)++] = id;
        return 0;
    }
    for (const char *const *next = doctor_ids; *next; next++)
        buf_printf(&known, "%s%s", known.len ? ", " : "", *next);
    return err_set(err, ERR_USAGE, "%s: there is no diagnosis '%.40s'; there are %s", source, id,
                   known.data ? known.data : "");
}

static int add_ids(const struct option_list *ids, const char *source, const char **list,
                   size_t *count, struct err *err)
{
    for (size_t i = 0; i < ids->count; i++)
        if (add_id(ids->items[i], source, list, count, err) < 0)
            return -1;
    return 0;
}

/* Adds the IDs that the administrator keeps out of sight: {"ignore": ["ID", …]}. */
static int read_settings(struct diagnoses *d, struct err *err)
{
    static const struct json_options options = {.max_bytes = SETTINGS_BYTES, .unique_keys = true};
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (file_read(AT_FDCWD, settings_path, SETTINGS_BYTES, &text, err) < 0)
        return err_missing(err) ? 0 : -1;
    _cleanup_json_ struct json_doc *doc = json_parse_buf(&text, &options, err);
    const struct json *ids = doc ? json_get(json_root(doc), "ignore") : NULL;
    if (!doc)
        return err_wrap(err, "%s", settings_path);
    if (!json_is(ids, JSON_ARRAY) || json_count(json_root(doc)) != 1)
        return err_set(err, ERR_FORMAT, "%s: must be {\"ignore\": [\"ID\"]}", settings_path);
    for (size_t i = 0; i < json_count(ids); i++) {
        const char *id = json_text(json_at(ids, i));
        const char *kept = arena_strndup(&d->arena, id ? id : "", id ? strlen(id) : 0);
        if (!kept)
            return err_nomem(err);
        if (add_id(kept, settings_path, d->ignored, &d->ignored_count, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- the host ---- */

/* Loads the policy. One that does not load is a diagnosis; *out is NULL if there is none. */
static int load_policy(const struct doctor_command *c, struct policy *policy,
                       const struct policy **out, struct diagnoses *d, struct err *err)
{
    const char *path = c->policy ? c->policy : policy_default_path;

    *out = NULL;
    if (policy_open(policy, c->policy, err) < 0 || policy_decode(policy, err) < 0) {
        struct diagnosis *of = diagnoses_add(d, DIAGNOSIS_ERROR, "policy", path, "%s", err->msg);
        diagnosis_cost(d, of, "no container can start by flatbed-runtime");
        diagnosis_mend(d, of, "flatbed check");
        return 0;
    }
    *out = policy->file_count ? policy : NULL;
    doctor_policy(*out, d);
    return 0;
}

static int examine(const struct doctor_command *c, struct diagnoses *d, struct err *err)
{
    _cleanup_policy_ struct policy *policy = policy_new(err);
    _cleanup_busy_disks_ struct busy_disks disks = {0};
    const struct policy *loaded;

    doctor_busy_begin(&disks, d);
    if (!policy || load_policy(c, policy, &loaded, d, err) < 0)
        return -1;
    doctor_kernel(d);
    doctor_versions(d);
    doctor_gpus(loaded, d);
    doctor_engines(loaded, d);
    doctor_busy_end(&disks, c->stores.items, c->stores.count, d);
    doctor_stores(c->stores.items, c->stores.count, d);
    doctor_zfs(loaded, c->stores.items, c->stores.count, d);
    return d->failed ? err_nomem(err) : 0;
}

static int write_page(struct page_file *page, const struct diagnoses *d, struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;

    diagnoses_html(d, &out);
    return page_file_write(page, &out, err) < 0 ? -1 : page_file_commit(page, err);
}

static int print(const struct doctor_command *c, const struct diagnoses *d, struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;

    if (c->quiet)
        return 0;
    if (!c->json)
        diagnoses_print(d, columns_colour(STDOUT_FILENO), columns_of_terminal(STDOUT_FILENO), &out);
    else if (diagnoses_json(d, &out, err) < 0)
        return -1;
    return program_print(&out, err);
}

static int doctor(const struct doctor_command *c, struct err *err)
{
    _cleanup_diagnoses_ struct diagnoses d = {.silent = c->quiet};
    _cleanup_page_file_ struct page_file page = PAGE_FILE_INIT;

    if (add_ids(&c->only, "--only", d.only, &d.only_count, err) < 0 ||
        add_ids(&c->ignore, "--ignore", d.ignored, &d.ignored_count, err) < 0 ||
        read_settings(&d, err) < 0 || (c->html && page_file_begin(&page, c->html, err) < 0) ||
        examine(c, &d, err) < 0 || (c->html && write_page(&page, &d, err) < 0) ||
        print(c, &d, err) < 0)
        return -1;
    if (diagnoses_count(&d, DIAGNOSIS_ERROR))
        return STATUS_ERRORS;
    return diagnoses_count(&d, DIAGNOSIS_WARNING) ? STATUS_WARNINGS : 0;
}

int command_doctor(int argc, char *const argv[], bool *help, struct err *err)
{
    struct doctor_command c = {0};
    struct operands operands = {0};
    int rc = options_parse(&command_doctor_spec, argc, argv, &c, &operands, help, err);

    if (rc == 0 && !*help)
        rc = doctor(&c, err);
    free(operands.list);
    return rc;
}
