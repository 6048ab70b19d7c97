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
     "the image to take from an index; by default all of two indexes, else this machine's"},
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
               "targets and which paths are one file; of two indexes, all platforms. Exit status\n"
               "0: the same, 1: not.\n",
    .options = verify_options,
    .min_operands = 2,
    .max_operands = 2,
    .completes = OPERANDS_FILES,
};

struct printer {
    const struct verify_command *command;
    FILE *out;
    const char *platform; /* precedes the differences; or NULL */
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
        if (p->platform && p->count == 1) {
            buf_put_printable(&line, p->platform, strlen(p->platform));
            buf_puts(&line, ":\n");
        }
        buf_putc(&line, '/');
        buf_put_printable(&line, path, strlen(path));
        buf_puts(&line, "\n  A: ");
        buf_put_printable(&line, a ? a : "(nothing)", strlen(a ? a : "(nothing)"));
        buf_puts(&line, "\n  B: ");
        buf_put_printable(&line, b ? b : "(nothing)", strlen(b ? b : "(nothing)"));
        buf_putc(&line, '\n');
    }
    if (line.data)
        fputs(line.data, p->out);
}

/* The images that are compared: A and B. */
struct pair {
    const struct verify_command *command;
    const struct reference *references;
    struct source *sources[2];
    FILE *out; /* standard output, or a buffer for it: JSON is printed whole or not at all */
};

static void pair_close(struct pair *p)
{
    cleanup_source(&p->sources[0]);
    cleanup_source(&p->sources[1]);
}

static int pair_open(struct pair *p, struct reader *r, struct err *err)
{
    for (size_t i = 0; i < 2; i++)
        if (!(p->sources[i] = reader_source(r, i, err)))
            return err_wrap(err, "%c", i ? 'B' : 'A');
    return 0;
}

/* `platform`: as in image_choice. */
static struct listing *list_image(const struct pair *p, size_t which, const char *platform,
                                  const struct listing *like, struct err *err)
{
    const struct merged_options options = {.semantics = semantics_named(p->command->semantics)};
    _cleanup_image_ struct image *image =
        source_image(p->sources[which], &(struct image_choice){.platform = platform}, err);

    struct listing *list = image ? listing_new(image, &options, like, err) : NULL;
    if (!list && image)
        image_explain(image, err);
    if (!list)
        err_wrap(err, "%c", which ? 'B' : 'A');
    return list;
}

/* Prints what was found, after the differences. `name`: of the platform; or NULL. */
static void print_result(const struct pair *p, const char *name, size_t count, size_t paths)
{
    const struct verify_command *c = p->command;
    const char *of = name ? name : "", *colon = name ? ": " : "";

    if (c->json)
        fprintf(p->out, "],\"count\":%zu,\"paths\":%zu,\"same\":%s}", count, paths,
                count ? "false" : "true");
    if (c->json || c->quiet)
        return;
    if (count > c->most)
        log_info("%s%sand %zu more", of, colon, count - (size_t)c->most);
    if (count)
        log_info("%s%s%zu path%s", of, colon, count, count == 1 ? " differs" : "s differ");
    else
        log_info("%s%sthe same tree: %zu path%s", of, colon, paths, human_s(paths));
}

/* Returns 0 if the trees are the same, 1 if not, or -1. `name`: of the platform; or NULL. */
static int compare_images(const struct pair *p, const char *const platforms[2], const char *name,
                          struct err *err)
{
    struct printer printer = {.command = p->command, .out = p->out, .platform = name};
    _cleanup_listing_ struct listing *a = list_image(p, 0, platforms[0], NULL, err);
    _cleanup_listing_ struct listing *b = a ? list_image(p, 1, platforms[1], a, err) : NULL;

    if (!b)
        return -1;
    if (p->command->json) {
        _cleanup_buf_ struct buf quoted = BUF_INIT;
        if (name)
            json_quote(&quoted, name, strlen(name));
        fprintf(p->out, "{%s%s%s\"differences\":[", name ? "\"platform\":" : "",
                quoted.data ? quoted.data : "", name ? "," : "");
    }
    size_t count = listing_compare(a, b, print_difference, &printer);
    print_result(p, name, count, listing_count(a));
    return count ? 1 : 0;
}

/* ---- platforms ---- */

/* Lists the images of an index that say for which platform they are; none for other sources. */
static int list_platforms(const struct pair *p, size_t which, struct platforms *out,
                          struct err *err)
{
    struct image_choice choice = {.outline = true};
    struct err ignored = ERR_INIT;

    if (p->command->platform || reference_is_engine(&p->references[which]))
        return 0;
    _cleanup_image_ struct image *image = source_image(p->sources[which], &choice, &ignored);
    if (!image) { /* none is for this machine */
        choice.platform = PLATFORM_ANY;
        image = source_image(p->sources[which], &choice, err);
    }
    if (!image || (image->index && platforms_list(image->index, out, err) < 0))
        return err_wrap(err, "%c", which ? 'B' : 'A');
    for (size_t i = 0; i < out->count; i++)
        if (!out->list[i].text)
            platforms_clear(out);
    return 0;
}

/* Returns the item of `of` that item `which` of `p` is compared with: as often there before it. */
static const struct platform_item *find_match(const struct platforms *p, size_t which,
                                              const struct platforms *of)
{
    const char *text = p->list[which].text;
    size_t before = 0;

    for (size_t i = 0; i < which; i++)
        before += strcmp(p->list[i].text, text) == 0;
    for (size_t i = 0; i < of->count; i++)
        if (strcmp(of->list[i].text, text) == 0 && before-- == 0)
            return &of->list[i];
    return NULL;
}

/* Separates the items of a list in JSON. */
static void begin_item(const struct pair *p, bool *first)
{
    if (p->command->json && !*first)
        fputc(',', p->out);
    *first = false;
}

static void print_missing(const struct pair *p, const char *platform, char side)
{
    const struct verify_command *c = p->command;
    _cleanup_buf_ struct buf quoted = BUF_INIT;

    if (!c->json && !c->quiet)
        log_info("%s: %c has no such image", platform, side);
    if (!c->json)
        return;
    json_quote(&quoted, platform, strlen(platform));
    fprintf(p->out, "{\"platform\":%s,\"missing\":\"%c\",\"same\":false}",
            quoted.data ? quoted.data : "", side);
}

/* Returns 1, and prints it, if `has` has a platform that `lacks`, which is `side`, does not. */
static int find_missing(const struct pair *p, const struct platforms *has,
                        const struct platforms *lacks, char side, bool *first)
{
    int missing = 0;

    for (size_t i = 0; i < has->count; i++) {
        if (find_match(has, i, lacks))
            continue;
        missing = 1;
        begin_item(p, first);
        print_missing(p, has->list[i].text, side);
    }
    return missing;
}

/* Compares all platforms of two indexes. */
static int compare_indexes(const struct pair *p, const struct platforms *a,
                           const struct platforms *b, struct err *err)
{
    const struct verify_command *c = p->command;
    bool first = true;

    fputs(c->json ? "{\"platforms\":[" : "", p->out);
    int differ = find_missing(p, a, b, 'B', &first);
    differ |= find_missing(p, b, a, 'A', &first);
    for (size_t i = 0; i < a->count; i++) {
        const struct platform_item *other = find_match(a, i, b);
        if (!other)
            continue;
        const char *const digests[2] = {a->list[i].digest, other->digest};
        begin_item(p, &first);
        int rc = compare_images(p, digests, a->list[i].text, err);
        if (rc < 0)
            return err_wrap(err, "%s", a->list[i].text);
        differ |= rc;
    }
    if (c->json)
        fprintf(p->out, "],\"same\":%s}", differ ? "false" : "true");
    return differ;
}

static int compare_all(const struct pair *p, struct err *err)
{
    const struct verify_command *c = p->command;
    const char *const chosen[2] = {c->platform, c->platform};
    _cleanup_platforms_ struct platforms a = {0}, b = {0};

    if (list_platforms(p, 0, &a, err) < 0 || list_platforms(p, 1, &b, err) < 0)
        return -1;
    if (a.count > 0 && b.count > 0)
        return compare_indexes(p, &a, &b, err);
    if ((a.count > 1 || b.count > 1) && !c->quiet)
        log_info("%c has %zu platforms: this machine's is compared (--platform chooses another)",
                 a.count ? 'A' : 'B', a.count + b.count);
    return compare_images(p, chosen, NULL, err);
}

/* Collects the document and prints it. */
static int compare_json(struct pair *p, struct err *err)
{
    _cleanup_free_ char *text = NULL;
    size_t len;

    p->out = open_memstream(&text, &len);
    if (!p->out)
        return err_nomem(err);
    int rc = compare_all(p, err);
    if (fclose(p->out) != 0)
        return err_nomem(err);
    if (rc >= 0 && puts(text) < 0)
        return err_sys(err, "standard output");
    return rc;
}

/* Runs in the sandbox. Returns the exit status. */
static int compare_in_sandbox(struct reader *r, void *ctx, struct err *err)
{
    _cleanup_(pair_close) struct pair p = *(const struct pair *)ctx;

    if (pair_open(&p, r, err) < 0)
        return -1;
    p.out = stdout;
    int rc = p.command->json ? compare_json(&p, err) : compare_all(&p, err);
    if (rc >= 0 && fflush(stdout) != 0)
        return err_sys(err, "standard output");
    return rc;
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
    struct pair pair = {.command = c, .references = sources};
    return keeper_run(&task, compare_in_sandbox, &pair, err);
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
