#include "base/cli/columns.h"
#include "base/human.h"
#include "base/json/json.h"
#include "shim/admin/start/start.h"

#include <string.h>

enum { IMAGE_BYTES = 60, CELL = 48, CELLS = 6, ROWS = 1 + START_STATES * START_ROOTS };

/* ---- text ---- */

static const char *const verdict_texts[] = {"-", "worth it", "not worth it"};
static const char *const verdict_keys[] = {"base", "worth", "not-worth"};

struct row {
    char median[CELL], spread[CELL], ratio[CELL];
};

static void put_seconds(double seconds, char out[CELL])
{
    snprintf(out, CELL, "%.3f s", seconds);
}

static void fill_row(const struct start_result *r, enum start_state state, enum start_root root,
                     struct row *texts, struct columns_row *row)
{
    struct start_summary s;

    start_summarize(r, state, root, &s);
    put_seconds(s.median, texts->median);
    snprintf(texts->spread, CELL, "%.3f-%.3f s", s.low, s.high);
    snprintf(texts->ratio, CELL, "%.2f", s.ratio);
    *row = (struct columns_row){.cells = {start_state_names[state], start_root_names[root],
                                          texts->median, texts->spread, texts->ratio,
                                          verdict_texts[s.verdict]},
                                .colour = s.verdict == START_WORTH ? "32" : NULL};
}

static void put_table(const struct start_result *r, size_t terminal, bool colour, struct buf *out)
{
    struct columns_row rows[ROWS] = {
        {.cells = {"CACHE", "ROOT", "MEDIAN", "HALF OF RUNS", "FASTER", "VERDICT"}}};
    struct row texts[ROWS];
    size_t count = 1;

    for (int state = 0; state < START_STATES; state++)
        for (int root = 0; root < START_ROOTS; root++)
            if (r->measured[state][root]) {
                fill_row(r, state, root, &texts[count], &rows[count]);
                rows[count].colour = colour ? rows[count].colour : NULL;
                count++;
            }
    columns_print(rows, count, CELLS, terminal, out);
}

/* Returns true if the root is worth having in any state. */
static bool is_worth(const struct start_result *r, enum start_root root)
{
    struct start_summary s;
    bool worth = false;

    for (int state = 0; state < START_STATES; state++) {
        if (!r->measured[state][root])
            continue;
        start_summarize(r, (enum start_state)state, root, &s);
        worth |= s.verdict == START_WORTH;
    }
    return worth;
}

static void put_advice(const struct start_report *report, const struct start_result *r,
                       struct buf *out)
{
    bool restacked = is_worth(r, START_RESTACKED), caches = is_worth(r, START_CACHES);

    if (restacked) {
        buf_puts(out, "One layer is worth it: flatten ");
        if (strchr("./", report->image[0])) /* directories of layers */
            buf_puts(out, "the image");
        else
            human_put_short(out, report->image, IMAGE_BYTES);
        buf_puts(out, ", or \"rootfs\": {\"beyond\": \"restack\"} in the policy.\n");
    }
    if (caches)
        buf_puts(out, "The volumes are worth it: \"always\" in their class of the policy mounts "
                      "them without asking.\n");
    if (r->why[START_RESTACKED][0] && r->why[START_CACHES][0])
        buf_puts(out, "There is nothing to compare the overlay with.\n");
    else if (!restacked && !caches)
        buf_puts(out, "None of it is worth it here: the gain is below 5 % or below the noise.\n");
}

static void put_limit(const struct start_report *report, const struct start_result *r,
                      struct buf *out)
{
    struct start_summary s;
    enum start_state state = start_first_state(r);

    if (report->limit <= 0 || r->why[report->chosen][0])
        return;
    start_summarize(r, state, report->chosen, &s);
    buf_printf(out, "%s, %s: %.3f s is %s the limit of %.3f s.\n", start_root_names[report->chosen],
               start_state_names[state], s.median, start_exceeds(report, r) ? "beyond" : "within",
               report->limit);
}

void start_put_text(const struct start_report *report, const struct start_result *r,
                    size_t terminal, bool colour, struct buf *out)
{
    human_put_short(out, report->image, IMAGE_BYTES);
    buf_printf(out, ": %zu layer%s; %u run%s of each\n", r->layers, human_s(r->layers), r->runs,
               human_s(r->runs));
    put_table(r, terminal, colour, out);
    for (int root = 0; root < START_ROOTS; root++)
        if (r->why[root][0]) {
            buf_printf(out, "%s was not measured: ", start_root_names[root]);
            buf_put_printable(out, r->why[root], strlen(r->why[root]));
            buf_putc(out, '\n');
        }
    if (!r->measured[START_COLD][START_OVERLAY])
        buf_puts(out, "--cold also measures without caches; the host is slower meanwhile.\n");
    put_advice(report, r, out);
    put_limit(report, r, out);
}

/* ---- JSON ---- */

static void put_runs(const struct start_result *r, enum start_state state, enum start_root root,
                     const char *comma, struct buf *out)
{
    struct start_summary s;

    start_summarize(r, state, root, &s);
    buf_printf(out,
               "%s\n  {\"cache\": \"%s\", \"root\": \"%s\", \"median\": %.6f, \"low\": %.6f, "
               "\"high\": %.6f, \"faster\": %.4f, \"verdict\": \"%s\", \"seconds\": [",
               comma, start_state_names[state], start_root_names[root], s.median, s.low, s.high,
               s.ratio, verdict_keys[s.verdict]);
    for (unsigned i = 0; i < r->runs; i++)
        buf_printf(out, "%s%.6f", i ? ", " : "", r->seconds[state][root][i]);
    buf_puts(out, "]}");
}

static void put_left_out(const struct start_result *r, struct buf *out)
{
    const char *comma = "";

    buf_puts(out, ",\n \"left_out\": [");
    for (int root = 0; root < START_ROOTS; root++)
        if (r->why[root][0]) {
            buf_printf(out, "%s\n  {\"root\": \"%s\", \"why\": ", comma, start_root_names[root]);
            json_quote(out, r->why[root], strlen(r->why[root]));
            buf_putc(out, '}');
            comma = ",";
        }
    buf_putc(out, ']');
}

void start_put_json(const struct start_report *report, const struct start_result *r,
                    struct buf *out)
{
    const char *comma = "";

    buf_puts(out, "{\"version\": 1,\n \"image\": ");
    json_quote(out, report->image, strlen(report->image));
    buf_printf(out, ",\n \"layers\": %zu,\n \"runs\": %u,\n \"times\": [", r->layers, r->runs);
    for (int state = 0; state < START_STATES; state++)
        for (int root = 0; root < START_ROOTS; root++)
            if (r->measured[state][root]) {
                put_runs(r, (enum start_state)state, (enum start_root)root, comma, out);
                comma = ",";
            }
    buf_putc(out, ']');
    put_left_out(r, out);
    if (report->limit > 0)
        buf_printf(out, ",\n \"limit\": {\"root\": \"%s\", \"seconds\": %.6f, \"exceeded\": %s}",
                   start_root_names[report->chosen], report->limit,
                   start_exceeds(report, r) ? "true" : "false");
    buf_puts(out, "}\n");
}
