#include "flatten/command/commands.h"

#include "base/cli/log.h"
#include "base/human.h"
#include "flatten/command/keeper_run.h"
#include "flatten/command/reference_parse.h"
#include "flatten/image/image_source.h"
#include "flatten/squash/listing.h"
#include "flatten/squash/platforms.h"

#include <inttypes.h>
#include <string.h>

struct verify_command {
    const char *semantics, *platform, *cert_dir;
    uint64_t most, retries, max_ratio;
    bool insecure, json, quiet;
};

#define FIELD(name) offsetof(struct verify_command, name)
static const struct option_spec verify_options[] = {
    {"semantics", 0, OPTION_CHOICE, FIELD(semantics), "RULES", semantics_names,
     "the rules to apply where engines and the image-spec read layers differently"},
    {"platform", 0, OPTION_TEXT, FIELD(platform), "OS/ARCH", NULL,
     "the image to take from an index; by default this machine's"},
    {"most", 0, OPTION_NUMBER, FIELD(most), "N", NULL, "differences to print; by default 20"},
    RATIO_OPTION(FIELD),
    REGISTRY_OPTIONS(FIELD),
    {"json", 0, OPTION_FLAG, FIELD(json), NULL, NULL, "print the result as JSON"},
    {"quiet", 'q', OPTION_FLAG, FIELD(quiet), NULL, NULL,
     "print nothing; the exit status is the result"},
    {0},
};

const struct command_spec command_verify_spec = {
    .program = "flatten",
    .name = "verify",
    .operands = "A B",
    .summary = "Prove that two images unpack to the same tree.",
    .details = "Compares every path: kind, content, mode, owner, time, extended attributes, link\n"
               "targets and which paths are one file. Exit status 0: the same, 1: not.\n",
    .options = verify_options,
    .min_operands = 2,
    .max_operands = 2,
    .completes = OPERANDS_FILES,
};

struct printer {
    const struct verify_command *command;
    uint64_t count;
};

static void put_json_side(struct buf *out, const char *name, const char *text)
{
    buf_printf(out, ",\"%s\":", name);
    if (text)
        json_quote(out, text, strlen(text));
    else
        buf_puts(out, "null");
}

static void print_difference(void *ctx, const char *path, const char *a, const char *b)
{
    struct printer *p = ctx;
    _cleanup_buf_ struct buf line = BUF_INIT;

    if (p->count++ >= p->command->most || p->command->quiet)
        return;
    if (p->command->json) {
        buf_printf(&line, "%s{\"path\":", p->count > 1 ? "," : "");
        json_quote(&line, path, strlen(path));
        put_json_side(&line, "a", a);
        put_json_side(&line, "b", b);
        buf_putc(&line, '}');
    } else {
        buf_putc(&line, '/');
        buf_put_printable(&line, path, strlen(path));
        buf_puts(&line, "\n  A: ");
        buf_put_printable(&line, a ? a : "(nothing)", strlen(a ? a : "(nothing)"));
        buf_puts(&line, "\n  B: ");
        buf_put_printable(&line, b ? b : "(nothing)", strlen(b ? b : "(nothing)"));
        buf_putc(&line, '\n');
    }
    if (line.data)
        fputs(line.data, stdout);
}

static struct listing *list_image(struct reader *r, size_t which, const struct verify_command *c,
                                  const struct listing *like, struct err *err)
{
    const struct merged_options options = {.semantics = semantics_named(c->semantics)};
    _cleanup_source_ struct source *source = reader_source(r, which, err);
    _cleanup_image_ struct image *image =
        source ? source_image(source, &(struct image_choice){.platform = c->platform}, err) : NULL;

    struct listing *list = image ? listing_new(image, &options, like, err) : NULL;
    if (!list && image)
        image_explain(image, err);
    if (!list)
        err_wrap(err, "%c", which ? 'B' : 'A');
    return list;
}

/* Runs in the sandbox. Returns the exit status. */
static int compare_in_sandbox(struct reader *r, void *ctx, struct err *err)
{
    const struct verify_command *c = ctx;
    struct printer printer = {.command = c};
    _cleanup_listing_ struct listing *a = list_image(r, 0, c, NULL, err);
    _cleanup_listing_ struct listing *b = a ? list_image(r, 1, c, a, err) : NULL;

    if (!b)
        return -1;
    if (c->json)
        fputs("{\"differences\":[", stdout);
    size_t count = listing_compare(a, b, print_difference, &printer);
    if (c->json)
        printf("],\"count\":%zu,\"paths\":%zu,\"same\":%s}\n", count, listing_count(a),
               count ? "false" : "true");
    if (fflush(stdout) != 0)
        return err_sys(err, "standard output");
    if (!c->json && !c->quiet && count > c->most)
        log_info("and %zu more", count - (size_t)c->most);
    if (!c->json && !c->quiet && count)
        log_info("%zu path%s", count, count == 1 ? " differs" : "s differ");
    else if (!c->json && !c->quiet)
        log_info("the same tree: %zu path%s", listing_count(a), human_s(listing_count(a)));
    return count ? 1 : 0;
}

static int verify_images(struct verify_command *c, const char *const names[2], struct err *err)
{
    _cleanup_reference_ struct reference a = {0}, b = {0};

    if (platform_check(c->platform, err) < 0)
        return -1;
    if (reference_parse(names[0], &a, err) < 0)
        return err_wrap(err, "A");
    if (reference_parse(names[1], &b, err) < 0)
        return err_wrap(err, "B");
    reference_choose_engine(&a, c->quiet);
    reference_choose_engine(&b, c->quiet);
    a.registry = b.registry = (struct registry_options){c->insecure, c->retries, c->cert_dir, NULL};
    a.max_ratio = b.max_ratio = c->max_ratio;
    const struct reference sources[] = {a, b};
    const struct keeper_task task = {
        .sources = sources,
        .source_count = 2,
        .platform = c->platform,
        .walk = semantics_named(c->semantics) == SEMANTICS_OVERLAY ? WALK_TREE : WALK_NONE,
        .walked = 2};
    return keeper_run(&task, compare_in_sandbox, c, err);
}

int command_verify(int argc, char *const argv[], bool *help, struct err *err)
{
    struct verify_command c = {.most = 20, .retries = REGISTRY_RETRIES};
    struct operands operands = {0};
    int rc = options_parse(&command_verify_spec, argc, argv, &c, &operands, help, err);

    if (rc == 0 && !*help && (rc = verify_images(&c, operands.list, err)) < 0)
        err_wrap(err, "verify");
    free(operands.list);
    return rc;
}
