#include "base/cli/options.h"

#include <stdio.h>
#include <string.h>

enum { HELP_COLUMN = 28, WIDTH = 90 };

/*
 * Appends text broken at spaces, continued lines indented; `column` is where the first line starts.
 */
static void put_wrapped(struct buf *out, const char *text, int indent, int column)
{
    while (*text) {
        int len = (int)strcspn(text, " ");
        if (column > indent && column + 1 + len > WIDTH) {
            buf_printf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            buf_putc(out, ' ');
            column++;
        }
        buf_append(out, text, (size_t)len);
        column += len;
        text += len;
        text += strspn(text, " ");
    }
    buf_putc(out, '\n');
}

static void put_row(struct buf *out, const char *left, const char *right)
{
    int used = (int)strlen(left);

    buf_puts(out, left);
    if (used >= HELP_COLUMN) {
        buf_putc(out, '\n');
        used = 0;
    }
    buf_printf(out, "%*s", HELP_COLUMN - used, "");
    put_wrapped(out, right, HELP_COLUMN, HELP_COLUMN);
}

static void put_option(struct buf *out, const struct option_spec *o)
{
    char left[128], letter[8] = "   ";
    _cleanup_buf_ struct buf right = BUF_INIT;

    if (o->letter)
        snprintf(letter, sizeof(letter), "-%c,", o->letter);
    snprintf(left, sizeof(left), "  %s --%s%s%s", letter, o->name, o->metavar ? "=" : "",
             o->metavar ? o->metavar : "");
    buf_puts(&right, o->help);
    for (size_t i = 0; o->kind == OPTION_CHOICE && o->choices[i]; i++)
        buf_printf(&right, "%s%s", i ? ", " : ": ", o->choices[i]);
    put_row(out, left, right.data ? right.data : "");
}

static void put_usage(const struct program_spec *p, const struct command_spec *c, struct buf *out)
{
    bool optional = c == p->fallback;

    buf_printf(out, "%s %s%s%s [OPTION]...%s%s\n", p->name, optional ? "[" : "", c->name,
               optional ? "]" : "", *c->operands ? " " : "", c->operands);
}

void options_help_program(const struct program_spec *p, struct buf *out)
{
    buf_printf(out, "%s: %s\n\nUsage:\n", p->name, p->summary);
    for (size_t i = 0; p->commands[i]; i++) {
        buf_puts(out, "  ");
        put_usage(p, p->commands[i], out);
    }
    buf_puts(out, "\nCommands:\n");
    for (size_t i = 0; p->commands[i]; i++) {
        char left[64];
        snprintf(left, sizeof(left), "  %s", p->commands[i]->name);
        put_row(out, left, p->commands[i]->summary);
    }
    if (p->fallback) {
        buf_printf(out, "\nOptions of %s:\n", p->fallback->name);
        for (const struct option_spec *o = p->fallback->options; o && o->name; o++)
            put_option(out, o);
    }
    buf_puts(out, "\nOptions of every command:\n");
    put_row(out, "  -h, --help", "show a command's options");
    put_row(out, "      --version", "show the version");
    put_row(out, "      --completion=SHELL", "print a completion script for bash, zsh or fish");
    if (p->details)
        buf_printf(out, "\n%s", p->details);
}

void options_help_command(const struct program_spec *p, const struct command_spec *c,
                          struct buf *out)
{
    buf_puts(out, "Usage: ");
    put_usage(p, c, out);
    buf_printf(out, "\n%s\n", c->summary);
    if (c->details)
        buf_printf(out, "\n%s", c->details);
    buf_puts(out, "\nOptions:\n");
    for (const struct option_spec *o = c->options; o && o->name; o++)
        put_option(out, o);
    put_row(out, "  -h, --help", "show this text");
}
