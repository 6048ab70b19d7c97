#include "base/cli/options.h"

#include <string.h>

/*
 * Returns the options of all commands one after the other, each name once; a program's commands
 * share their vocabulary.
 */
static const struct option_spec *each_option(const struct program_spec *p, size_t *command,
                                             size_t *option)
{
    while (p->commands[*command]) {
        const struct option_spec *o = p->commands[*command]->options;
        if (o && o[*option].name)
            return &o[(*option)++];
        ++*command;
        *option = 0;
    }
    return NULL;
}

static void put_choices(struct buf *out, const struct option_spec *o)
{
    for (size_t i = 0; o->choices[i]; i++)
        buf_printf(out, "%s%s", i ? " " : "", o->choices[i]);
}

static void bash_values(const struct program_spec *p, struct buf *out)
{
    const struct option_spec *o;
    size_t c = 0, i = 0;

    while ((o = each_option(p, &c, &i))) {
        if (o->kind == OPTION_CHOICE) {
            buf_printf(out, "    --%s) COMPREPLY=($(compgen -W '", o->name);
            put_choices(out, o);
            buf_puts(out, "' -- \"$cur\")); return ;;\n");
        } else if (o->kind == OPTION_FILE) {
            buf_printf(out, "    --%s) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n",
                       o->name);
        } else if (o->kind != OPTION_FLAG) {
            buf_printf(out, "    --%s) return ;;\n", o->name);
        }
    }
}

static void bash_options(const struct command_spec *c, struct buf *out)
{
    for (const struct option_spec *o = c->options; o && o->name; o++)
        buf_printf(out, " --%s%s", o->name, o->kind == OPTION_FLAG ? "" : "=");
}

static void complete_bash(const struct program_spec *p, struct buf *out)
{
    buf_printf(
        out,
        "# bash completion for %s; made by %s --completion=bash\n"
        "_%s() {\n"
        "    local cur prev words cword split\n"
        "    _init_completion -s || return\n"
        "    case $prev in\n"
        "    --completion) COMPREPLY=($(compgen -W 'bash zsh fish' -- \"$cur\")); return ;;\n",
        p->name, p->name, p->name);
    bash_values(p, out);
    buf_puts(out, "    esac\n"
                  "    local options='--help'\n"
                  "    case ${words[1]} in\n");
    for (size_t i = 0; p->commands[i]; i++) {
        buf_printf(out, "    %s) options='--help", p->commands[i]->name);
        bash_options(p->commands[i], out);
        buf_puts(out, "' ;;\n");
    }
    buf_puts(out, "    *) options='--help --version --completion=");
    if (p->fallback)
        bash_options(p->fallback, out);
    buf_puts(out, "' ;;\n    esac\n"
                  "    if [[ $cur == -* ]]; then\n"
                  "        COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
                  "        [[ ${COMPREPLY-} == *= ]] && compopt -o nospace\n"
                  "        return\n"
                  "    fi\n"
                  "    COMPREPLY=($(compgen -f -- \"$cur\"))\n"
                  "    ((cword == 1)) && COMPREPLY+=($(compgen -W '");
    for (size_t i = 0; p->commands[i]; i++)
        buf_printf(out, "%s%s", i ? " " : "", p->commands[i]->name);
    buf_printf(out, "' -- \"$cur\"))\n}\ncomplete -o filenames -F _%s %s\n", p->name, p->name);
}

/*
 * Appends text for zsh's single-quoted specs, in which no quote, bracket or colon may appear bare.
 */
static void put_zsh_text(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            buf_puts(out, "'\\''");
        else if (strchr("[]:\\", *text))
            buf_printf(out, "\\%c", *text);
        else
            buf_putc(out, *text);
    }
}

static void zsh_options(const struct command_spec *c, struct buf *out)
{
    for (const struct option_spec *o = c->options; o && o->name; o++) {
        buf_printf(out, "            '--%s%s[", o->name, o->kind == OPTION_FLAG ? "" : "=");
        put_zsh_text(out, o->help);
        buf_putc(out, ']');
        if (o->kind == OPTION_CHOICE) {
            buf_printf(out, ":%s:(", o->metavar);
            put_choices(out, o);
            buf_putc(out, ')');
        } else if (o->kind != OPTION_FLAG) {
            buf_printf(out, ":%s:%s", o->metavar, o->kind == OPTION_FILE ? "_files" : "");
        }
        buf_puts(out, "' \\\n");
    }
    buf_puts(
        out,
        "            '--help[show a command'\\''s options]' \\\n            '*:file:_files'\n");
}

static void complete_zsh(const struct program_spec *p, struct buf *out)
{
    buf_printf(out,
               "#compdef %s\n# made by %s --completion=zsh\n"
               "_%s() {\n    case ${words[2]} in\n",
               p->name, p->name, p->name);
    for (size_t i = 0; p->commands[i]; i++) {
        buf_printf(out, "    %s)\n        _arguments \\\n            '1:command:' \\\n",
                   p->commands[i]->name);
        zsh_options(p->commands[i], out);
        buf_puts(out, "        ;;\n");
    }
    buf_puts(out, "    *)\n        local -a commands=(\n");
    for (size_t i = 0; p->commands[i]; i++) {
        buf_printf(out, "            '%s:", p->commands[i]->name);
        put_zsh_text(out, p->commands[i]->summary);
        buf_puts(out, "'\n");
    }
    buf_puts(out,
             "        )\n        (( CURRENT == 2 )) && _describe command commands\n"
             "        _arguments \\\n            '--version[show the version]' \\\n"
             "            '--completion=[print a completion script]:SHELL:(bash zsh fish)' \\\n");
    zsh_options(p->fallback ? p->fallback : &(struct command_spec){.name = p->name}, out);
    buf_printf(out, "        ;;\n    esac\n}\n_%s \"$@\"\n", p->name);
}

static void put_fish_text(struct buf *out, const char *text)
{
    buf_putc(out, '\'');
    for (; *text; text++)
        buf_printf(out, *text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
    buf_putc(out, '\'');
}

static void fish_options(const struct program_spec *p, const struct command_spec *c,
                         struct buf *out)
{
    for (const struct option_spec *o = c->options; o && o->name; o++) {
        buf_printf(out, "complete -c %s -n '", p->name);
        if (c == p->fallback)
            buf_puts(out, "__fish_use_subcommand; or ");
        buf_printf(out, "__fish_seen_subcommand_from %s' -l %s", c->name, o->name);
        if (o->letter)
            buf_printf(out, " -s %c", o->letter);
        if (o->kind == OPTION_CHOICE) {
            buf_puts(out, " -x -a '");
            put_choices(out, o);
            buf_putc(out, '\'');
        } else if (o->kind != OPTION_FLAG) {
            buf_puts(out, o->kind == OPTION_FILE ? " -r -F" : " -x");
        }
        buf_puts(out, " -d ");
        put_fish_text(out, o->help);
        buf_putc(out, '\n');
    }
}

static void complete_fish(const struct program_spec *p, struct buf *out)
{
    buf_printf(out, "# fish completion for %s; made by %s --completion=fish\n", p->name, p->name);
    for (size_t i = 0; p->commands[i]; i++) {
        buf_printf(out, "complete -c %s -n __fish_use_subcommand -a %s -d ", p->name,
                   p->commands[i]->name);
        put_fish_text(out, p->commands[i]->summary);
        buf_putc(out, '\n');
        fish_options(p, p->commands[i], out);
    }
    buf_printf(
        out,
        "complete -c %s -l help -d 'show a command\\'s options'\n"
        "complete -c %s -l version -d 'show the version'\n"
        "complete -c %s -l completion -x -a 'bash zsh fish' -d 'print a completion script'\n",
        p->name, p->name, p->name);
}

int options_complete(const struct program_spec *program, const char *shell, struct buf *out,
                     struct err *err)
{
    if (strcmp(shell, "bash") == 0)
        complete_bash(program, out);
    else if (strcmp(shell, "zsh") == 0)
        complete_zsh(program, out);
    else if (strcmp(shell, "fish") == 0)
        complete_fish(program, out);
    else
        return err_set(err, ERR_USAGE, "--completion=%s: expected one of bash, zsh, fish", shell);
    return buf_check(out, err);
}
