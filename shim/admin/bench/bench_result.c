#include "shim/admin/bench/bench.h"

#include "base/cli/columns.h"
#include "base/human.h"
#include "base/json/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *const bench_op_key[BENCH_OPS] = {"stat", "missing", "readdir"};
const char *const bench_state_key[BENCH_STATES] = {"warm", "mount", "dentries", "disk"};
const unsigned bench_layers[BENCH_SHAPES] = {0, 1, 5, 20, 60};

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

double bench_median(double *values, unsigned count)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof(*values), by_size);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/*
 * Returns the k for which the sum of ((k x - y) / (y + 1))² is least, with x = n - 1 and y the
 * measured ratio less one.
 */
double bench_k(const struct bench_result *r, enum bench_op op, enum bench_state state)
{
    const double *t = r->seconds[op][state];
    double xy = 0, xx = 0;

    for (int shape = BENCH_FLAT; shape < BENCH_SHAPES; shape++) {
        if (t[shape] <= 0)
            return -1;
        double x = bench_layers[shape] - 1, ratio = t[shape] / t[BENCH_FLAT];
        xy += x * (ratio - 1) / (ratio * ratio);
        xx += x * x / (ratio * ratio);
    }
    return xy > 0 ? xy / xx : 0;
}

static void put_time(int64_t seconds, struct buf *out)
{
    time_t when = (time_t)seconds;
    char text[32];
    struct tm tm;

    if (!gmtime_r(&when, &tm) || strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
        text[0] = '\0';
    buf_puts(out, text);
}

/* ---- JSON ---- */

static void put_string(const char *key, const char *text, struct buf *out)
{
    buf_printf(out, ",\n \"%s\": ", key);
    json_quote(out, text, strlen(text));
}

static void put_k(const struct bench_result *r, struct buf *out)
{
    buf_puts(out, ",\n \"k\": {");
    for (int op = 0; op < BENCH_OPS; op++) {
        const char *comma = "";
        buf_printf(out, "%s\"%s\": {", op ? ", " : "", bench_op_key[op]);
        for (int state = BENCH_MOUNT; state < BENCH_STATES; state++) {
            double k = bench_k(r, op, state);
            if (k < 0)
                continue;
            buf_printf(out, "%s\"%s\": %.4f", comma, bench_state_key[state], k);
            comma = ", ";
        }
        buf_putc(out, '}');
    }
    buf_putc(out, '}');
}

static void put_lookups(const struct bench_result *r, struct buf *out)
{
    const char *comma = "";

    buf_puts(out, ",\n \"lookups\": [");
    for (int op = 0; op < BENCH_OPS; op++)
        for (int state = 0; state < BENCH_STATES; state++) {
            const double *t = r->seconds[op][state];
            if (t[BENCH_FLAT] <= 0)
                continue;
            buf_printf(out, "%s\n  {\"kind\": \"%s\", \"cold\": \"%s\", \"bind\": %.4g", comma,
                       bench_op_key[op], bench_state_key[state], t[BENCH_BIND]);
            buf_puts(out, ", \"layers\": {");
            for (int shape = BENCH_FLAT; shape < BENCH_SHAPES; shape++)
                buf_printf(out, "%s\"%u\": %.4g", shape > BENCH_FLAT ? ", " : "",
                           bench_layers[shape], t[shape]);
            buf_puts(out, "}}");
            comma = ",";
        }
    buf_putc(out, ']');
}

void bench_put_json(const struct bench_result *r, struct buf *out)
{
    buf_puts(out, "{\"version\": 1,\n \"measured\": \"");
    put_time(r->time, out);
    buf_putc(out, '"');
    put_string("kernel", r->kernel, out);
    put_string("filesystem", r->filesystem, out);
    put_string("dir", r->dir, out);
    buf_printf(out, ",\n \"runs\": %u", r->runs);
    put_k(r, out);
    put_lookups(r, out);
    buf_printf(out,
               ",\n \"copy_up\": {\"bytes\": %" PRIu64
               ", \"seconds\": %.4g, \"bind\": %.4g, \"reflink\": %s}",
               r->bytes, r->copy_up, r->bind_write, r->reflink ? "true" : "false");
    buf_printf(out,
               ",\n \"read\": {\"small\": {\"bind\": %.4g, \"overlay\": %.4g}, "
               "\"bytes_per_second\": {\"bind\": %.4g, \"overlay\": %.4g}}}\n",
               r->small[0], r->small[1], r->bulk[0], r->bulk[1]);
}

/* ---- tables ---- */

static const char *const op_text[BENCH_OPS] = {"stat of a file", "a missing name",
                                               "listing a directory"};
static const char *const state_text[BENCH_STATES] = {"warm", "fresh mount", "no dentries",
                                                     "no cache"};

static void put_heading(const char *text, bool colour, struct buf *out)
{
    buf_printf(out, colour ? "\n\x1b[1m%s\x1b[0m\n" : "\n%s\n", text);
}

/* Appends a time; yellow from three times the flat one on, red from ten times on. */
static void put_cell(double seconds, double flat, bool colour, struct buf *out)
{
    const char *sgr = seconds >= 10 * flat ? "31" : seconds >= 3 * flat ? "33" : NULL;

    if (colour && sgr)
        buf_printf(out, "\x1b[%sm%9.2f\x1b[0m", sgr, seconds * 1e6);
    else
        buf_printf(out, "%9.2f", seconds * 1e6);
}

static void put_table(const struct bench_result *r, enum bench_op op, bool colour, struct buf *out)
{
    char title[80];

    snprintf(title, sizeof(title), "%s, µs", op_text[op]);
    put_heading(title, colour, out);
    buf_puts(out,
             "                  bind   1 layer         5        20        60  layers       k\n");
    for (int state = 0; state < BENCH_STATES; state++) {
        const double *t = r->seconds[op][state];
        if (t[BENCH_FLAT] <= 0)
            continue;
        buf_printf(out, "  %-11s", state_text[state]);
        for (int shape = 0; shape < BENCH_SHAPES; shape++) {
            buf_putc(out, ' ');
            put_cell(t[shape], t[BENCH_FLAT], colour, out);
        }
        if (state != BENCH_WARM)
            buf_printf(out, "%16.3f", bench_k(r, op, state));
        buf_putc(out, '\n');
    }
}

static void put_files(const struct bench_result *r, bool colour, struct buf *out)
{
    put_heading("The first change of a file", colour, out);
    buf_printf(
        out, "  %" PRIu64 " MiB: %.2f ms on overlay (%.0f MB/s%s), %.3f ms on a bind mount\n",
        r->bytes >> 20, 1e3 * r->copy_up, r->copy_up > 0 ? (double)r->bytes / r->copy_up / 1e6 : 0,
        r->reflink ? ": the file system clones" : ": it is copied", 1e3 * r->bind_write);
    put_heading("Reading, page cache warm", colour, out);
    buf_printf(out, "  a small file: %.2f µs on overlay, %.2f on a bind mount\n", 1e6 * r->small[1],
               1e6 * r->small[0]);
    buf_printf(out, "  a large file: %.1f GB/s on overlay, %.1f on a bind mount\n",
               r->bulk[1] / 1e9, r->bulk[0] / 1e9);
}

void bench_put_text(const struct bench_result *r, bool colour, struct buf *out)
{
    buf_printf(out, "%s: %s, kernel %s; %s%u run%s\n", r->dir, r->filesystem, r->kernel,
               r->runs == 1 ? "" : "medians of ", r->runs, human_s(r->runs));
    for (int op = 0; op < BENCH_OPS; op++)
        put_table(r, op, colour, out);
    put_files(r, colour, out);
    buf_puts(
        out,
        "\nEvery layer has every directory. \"1 layer\" is a flattened image; n layers take about\n"
        "1 + k * (n - 1) times as long.\n");
    if (r->seconds[BENCH_STAT][BENCH_DISK][BENCH_FLAT] <= 0)
        buf_puts(out, "--drop-caches measures without dentries and without any cache, too; the "
                      "host feels it.\n");
}
