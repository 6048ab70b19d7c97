#include "base/glob.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    int (*holds)(int c);
} classes[] = {
    {"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank}, {"cntrl", iscntrl},
    {"digit", isdigit}, {"graph", isgraph}, {"lower", islower}, {"print", isprint},
    {"punct", ispunct}, {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit},
};

/* Returns the text after "[:alpha:]", or NULL if it is no class. */
static const char *in_class(const char *p, unsigned char c, bool *hit)
{
    if (p[0] != '[' || p[1] != ':')
        return NULL;
    p += 2;
    for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
        size_t len = strlen(classes[i].name);
        if (strncmp(p, classes[i].name, len) == 0 && p[len] == ':' && p[len + 1] == ']') {
            *hit = *hit || (c < 0x80 && classes[i].holds(c));
            return p + len + 2;
        }
    }
    return NULL;
}

/* "a" or "a-z"; what follows. */
static const char *in_range(const char *p, unsigned char c, bool *hit)
{
    bool range = p[1] == '-' && p[2] != '\0' && p[2] != ']';
    unsigned char first = (unsigned char)p[0], last = (unsigned char)p[range ? 2 : 0];

    *hit = *hit || (first <= c && c <= last);
    return p + (range ? 3 : 1);
}

/* p is behind a '['; what follows the ']', or NULL if there is none. */
static const char *in_brackets(const char *p, unsigned char c, bool *hit)
{
    bool negated = *p == '!' || *p == '^';

    p += negated;
    *hit = false;
    for (bool first = true; *p && (first || *p != ']'); first = false) {
        const char *rest = in_class(p, c, hit);
        p = rest ? rest : in_range(p, c, hit);
    }
    *hit = *hit != negated;
    return *p == ']' ? p + 1 : NULL;
}

/* Returns the rest of the glob if its first element, not a '*', matches c; else NULL. */
static const char *step(const char *glob, char c)
{
    if (*glob == '?')
        return glob + 1;
    if (*glob == '[') {
        bool hit;
        const char *rest = in_brackets(glob + 1, (unsigned char)c, &hit);
        if (rest)
            return hit ? rest : NULL;
    }
    if (*glob == '\\')
        glob++;
    return *glob && *glob == c ? glob + 1 : NULL;
}

bool glob_matches(const char *glob, const char *text)
{
    const char *star = NULL;  /* behind the last one */
    const char *taken = text; /* by it so far */

    while (*glob || *text) {
        const char *rest = *text ? step(glob, *text) : NULL;
        if (*glob == '*') {
            star = ++glob;
            taken = text;
        } else if (rest) {
            glob = rest;
            text++;
        } else if (star && *taken) {
            glob = star;
            text = ++taken;
        } else {
            return false;
        }
    }
    return true;
}

bool glob_matches_file(const char *glob, const char *name)
{
    if (name[0] == '.' && glob[glob[0] == '\\'] != '.')
        return false;
    return glob_matches(glob, name);
}
