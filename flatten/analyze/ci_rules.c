#include "flatten/analyze/ci_rules.h"

#include "base/human.h"
#include "base/json/json.h"

#include <ctype.h>
#include <string.h>

enum { NAMES = 4 };

const char *const ci_rule_key[CI_RULES] = {"max_wasted", "max_wasted_share", "min_efficiency",
                                           "max_depth", "max_probes"};

static const char *const rule_names[NAMES + 1] = {"max-wasted", "min-efficiency", "max-depth",
                                                  "max-probes", NULL};

/* ---- values ---- */

/* Parses a decimal number without sign or exponent. *end: the text behind it. */
static bool parse_number(const char *text, double *out, const char **end)
{
    char *stop;

    size_t len = strspn(text, "0123456789.");

    if (!isdigit((unsigned char)*text) || len > 20)
        return false;
    *out = strtod(text, &stop);
    *end = stop;
    return stop == text + len; /* no exponent, no 0x, no second point */
}

/* Returns the factor of a unit of bytes; 0 if the text is none. */
static double unit_of(const char *text)
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"", 1},     {"B", 1},     {"k", 1e3},      {"kB", 1e3},      {"K", 1e3},
                 {"KB", 1e3}, {"M", 1e6},   {"MB", 1e6},     {"G", 1e9},       {"GB", 1e9},
                 {"T", 1e12}, {"TB", 1e12}, {"KiB", 1024.0}, {"MiB", 1048576}, {"GiB", 1073741824}};

    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (strcmp(text, units[i].name) == 0)
            return units[i].factor;
    return 0;
}

static void ci_rule_set(struct ci_rules *g, enum ci_rule rule, double limit)
{
    g->set[rule] = true;
    g->limit[rule] = limit;
}

static int set_wasted(struct ci_rules *g, double value, const char *rest, struct err *err)
{
    if (strcmp(rest, "%") == 0 && value <= 100) {
        ci_rule_set(g, CI_RULE_WASTED_SHARE, value / 100);
        return 0;
    }
    while (*rest == ' ')
        rest++;
    double bytes = value * unit_of(rest);
    if (unit_of(rest) == 0 || (value > 0 && bytes < 1)) /* 0.1 is meant as a share */
        return err_set(err, ERR_USAGE, "max-wasted: expected bytes (200MB) or a share (10%%)");
    ci_rule_set(g, CI_RULE_WASTED, bytes);
    return 0;
}

static int set_efficiency(struct ci_rules *g, double value, const char *rest, struct err *err)
{
    bool percent = strcmp(rest, "%") == 0;

    if ((!percent && *rest) || value > (percent ? 100 : 1))
        return err_set(err, ERR_USAGE, "min-efficiency: expected 0 to 100%% or 0 to 1");
    ci_rule_set(g, CI_RULE_EFFICIENCY, percent ? value / 100 : value);
    return 0;
}

int ci_rules_set(struct ci_rules *g, const char *name, const char *text, struct err *err)
{
    const char *rest = "";
    double value = 0;

    if (!parse_number(text, &value, &rest))
        return err_set(err, ERR_USAGE, "%s: '%s' is not a number", name, text);
    if (strcmp(name, "max-wasted") == 0)
        return set_wasted(g, value, rest, err);
    if (strcmp(name, "min-efficiency") == 0)
        return set_efficiency(g, value, rest, err);
    if (*rest)
        return err_set(err, ERR_USAGE, "%s: '%s' is not a number", name, text);
    ci_rule_set(g, strcmp(name, "max-depth") == 0 ? CI_RULE_DEPTH : CI_RULE_PROBES, value);
    return 0;
}

/* ---- the file ---- */

/* Returns the name of the rule with this key ('_' for '-'); or NULL. */
static const char *rule_of_key(const char *key)
{
    for (const char *const *name = rule_names; *name; name++) {
        const char *k = key, *n = *name;
        while (*k && (*k == *n || (*k == '_' && *n == '-')))
            k++, n++;
        if (!*k && !*n && !strchr(key, '-'))
            return *name;
    }
    return NULL;
}

static int parse_member(struct ci_rules *g, const struct json_doc *doc, const struct json_member *m,
                        struct err *err)
{
    const char *name = rule_of_key(m->key);
    unsigned line, column;
    struct ci_rules one = {0};

    json_position(doc, m->key_start, &line, &column);
    if (!name)
        return err_set(err, ERR_FORMAT,
                       "%u:%u: no such rule: expected max_wasted, min_efficiency, max_depth or "
                       "max_probes",
                       line, column);
    if ((!json_is(m->value, JSON_STRING) && !json_is(m->value, JSON_NUMBER)) ||
        strlen(m->value->text) != m->value->len)
        return err_set(err, ERR_FORMAT, "%u:%u: %s must be a number or a string", line, column,
                       m->key);
    if (ci_rules_set(&one, name, m->value->text, err) < 0) {
        err->kind = ERR_FORMAT;
        return err_wrap(err, "%u:%u", line, column);
    }
    bool wasted = g->set[CI_RULE_WASTED] || g->set[CI_RULE_WASTED_SHARE];
    for (int rule = 0; rule < CI_RULES; rule++)
        if (one.set[rule] && !g->set[rule] && !(wasted && rule <= CI_RULE_WASTED_SHARE))
            ci_rule_set(g, (enum ci_rule)rule, one.limit[rule]);
    return 0;
}

int ci_rules_parse(struct ci_rules *g, const char *text, size_t len, struct err *err)
{
    static const struct json_options options = {.comments = true, .unique_keys = true};
    _cleanup_json_ struct json_doc *doc = json_parse(text, len, &options, err);

    if (!doc)
        return -1;
    const struct json *root = json_root(doc);
    if (!json_is(root, JSON_OBJECT))
        return err_set(err, ERR_FORMAT, "not a JSON object");
    for (size_t i = 0; i < json_count(root); i++)
        if (parse_member(g, doc, &root->members[i], err) < 0)
            return -1;
    return 0;
}

/* ---- judging ---- */

bool ci_rules_judge(const struct ci_rules *g, const struct ci_values *values,
                    struct ci_result out[CI_RULES], size_t *count)
{
    const double found[CI_RULES] = {
        [CI_RULE_WASTED] = (double)values->dead,
        [CI_RULE_WASTED_SHARE] = human_share(values->dead, values->payload) / 100,
        [CI_RULE_EFFICIENCY] = values->efficiency,
        [CI_RULE_DEPTH] = values->layers,
        [CI_RULE_PROBES] = values->probes,
    };
    bool all = true;

    *count = 0;
    for (int rule = 0; rule < CI_RULES; rule++) {
        if (!g->set[rule])
            continue;
        bool kept = rule == CI_RULE_EFFICIENCY ? found[rule] >= g->limit[rule]
                                               : found[rule] <= g->limit[rule];
        out[(*count)++] = (struct ci_result){(enum ci_rule)rule, g->limit[rule], found[rule], kept};
        all = all && kept;
    }
    return all;
}

void ci_result_put_text(const struct ci_result *r, struct buf *out)
{
    char value[HUMAN_SIZE], limit[HUMAN_SIZE];

    switch (r->rule) {
    case CI_RULE_WASTED:
        buf_printf(out, "%s dead of at most %s", human_size((uint64_t)r->value, value),
                   human_size((uint64_t)r->limit, limit));
        break;
    case CI_RULE_WASTED_SHARE:
        buf_printf(out, "%.2f %% dead of at most %g %%", 100 * r->value, 100 * r->limit);
        break;
    case CI_RULE_EFFICIENCY:
        buf_printf(out, "efficiency %.2f %% of at least %g %%", 100 * r->value, 100 * r->limit);
        break;
    case CI_RULE_DEPTH:
        buf_printf(out, "%g layer%s of at most %g", r->value, human_s((uint64_t)r->value),
                   r->limit);
        break;
    case CI_RULE_PROBES:
        buf_printf(out, "%.2f probes a path of at most %g", r->value, r->limit);
        break;
    case CI_RULES:
        break;
    }
}
