#include "flatten/carve/family_files.h"

#include "flatten/carve/family_owners.h"
#include "flatten/merge/tree/array.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A member whose files are compared. */
struct comparing {
    struct family_files *f;
    struct family_member *member;
    uint64_t image;      /* its bit */
    const uint32_t *now; /* by owner of the member: that of the family */
    uint32_t *starts;    /* by file of the member: index of its first further name; one more */
    uint32_t *names;     /* their nodes in the family's tree */
    uint32_t *sorted;    /* all names of one file */
    size_t sorted_cap;
};

static void comparing_clear(struct comparing *c)
{
    free(c->starts);
    free(c->names);
    free(c->sorted);
}

/* ---- paths ---- */

/* Nodes are numbered parents first. */
static int map_nodes(struct family_files *f, struct family_member *m, struct err *err)
{
    const struct tree *tree = m->tree.spool->tree;
    uint32_t count = tree_count(tree);

    m->nodes = calloc(count, sizeof(*m->nodes));
    if (!m->nodes)
        return err_nomem(err);
    for (uint32_t node = 1; node < count; node++) {
        size_t len;
        const char *name = tree_name(tree, node, &len);
        m->nodes[node] = tree_child(f->tree, m->nodes[tree_parent(tree, node)], name, len, err);
        if (m->nodes[node] == TREE_NONE)
            return -1;
    }
    size_t all = tree_count(f->tree);
    return array_reserve(&f->at, &f->at_cap, all, sizeof(*f->at), err) < 0
               ? -1
               : array_reserve(&f->dir_at, &f->dir_at_cap, all, sizeof(*f->dir_at), err);
}

/* Lists the further names of each file of the member. */
static int list_names(struct comparing *c, struct err *err)
{
    const struct placing *p = &c->member->placing;
    size_t count = c->member->tree.spool->name_count;

    c->starts = calloc(p->count + 2, sizeof(*c->starts));
    c->names = calloc(count + 1, sizeof(*c->names));
    if (!c->starts || !c->names)
        return err_nomem(err);
    for (size_t i = 0; i < count; i++)
        c->starts[p->names[i].file + 1]++;
    for (size_t i = 0; i < p->count; i++)
        c->starts[i + 1] += c->starts[i];
    for (size_t i = count; i-- > 0;)
        c->names[--c->starts[p->names[i].file + 1]] = c->member->nodes[p->names[i].node];
    memmove(c->starts, c->starts + 1, p->count * sizeof(*c->starts));
    c->starts[p->count] = (uint32_t)count;
    return 0;
}

/* ---- files ---- */

static int by_node(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

/* Sorts all names of the file into c->sorted. Returns how many there are, or 0 without memory. */
static size_t sort_names(struct comparing *c, size_t file, struct err *err)
{
    size_t further = c->starts[file + 1] - c->starts[file];

    if (array_reserve(&c->sorted, &c->sorted_cap, further + 1, sizeof(*c->sorted), err) < 0)
        return 0;
    c->sorted[0] = c->member->nodes[c->member->placing.files[file].node];
    memcpy(c->sorted + 1, c->names + c->starts[file], further * sizeof(*c->sorted));
    qsort(c->sorted, further + 1, sizeof(*c->sorted), by_node);
    return further + 1;
}

static bool has_names(const struct comparing *c, const struct family_inode *inode, size_t count)
{
    const struct layout_name *names = c->f->names + inode->names;

    if (inode->name_count + 1 != count)
        return false;
    for (size_t i = 0; i < inode->name_count; i++)
        if (names[i].node != c->sorted[i + 1])
            return false;
    return true;
}

static bool is_same(const struct layout_identity *a, const struct layout_identity *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

/* Returns the index of the inode with the names in c->sorted; SIZE_MAX if there is none. */
static size_t find_inode(const struct comparing *c, const struct layout_identity *identity,
                         size_t names)
{
    for (uint32_t i = c->f->at[c->sorted[0]]; i; i = c->f->inodes[i - 1].next)
        if (is_same(&c->f->inodes[i - 1].identity, identity) &&
            has_names(c, &c->f->inodes[i - 1], names))
            return i - 1;
    return SIZE_MAX;
}

static int add_inode(struct comparing *c, const struct layout_identity *identity, size_t names,
                     uint64_t bytes, struct err *err)
{
    struct family_files *f = c->f;
    uint32_t number = (uint32_t)f->inode_count;
    struct family_inode *inode = ARRAY_PUSH(f, inode, inodes, err);
    struct layout_file *file = inode ? ARRAY_PUSH(f, file, files, err) : NULL;

    if (!file)
        return -1;
    *inode = (struct family_inode){.identity = *identity,
                                   .node = c->sorted[0],
                                   .names = (uint32_t)f->name_count,
                                   .name_count = (uint32_t)names - 1,
                                   .next = f->at[c->sorted[0]]};
    *file = (struct layout_file){.node = c->sorted[0], .owner = OWNERS_NOBODY, .bytes = bytes};
    f->at[c->sorted[0]] = number + 1;
    for (size_t i = 1; i < names; i++) {
        struct layout_name *name = ARRAY_PUSH(f, name, names, err);
        if (!name)
            return -1;
        *name = (struct layout_name){c->sorted[i], number};
    }
    return 0;
}

static int compare_file(struct comparing *c, size_t record, struct err *err)
{
    const struct placing *p = &c->member->placing;
    uint32_t file = p->file_of[record];
    const struct layout_identity *identity = &c->member->tree.identities[record];
    size_t names = sort_names(c, file, err);

    if (names == 0)
        return -1;
    size_t found = find_inode(c, identity, names);
    if (found == SIZE_MAX) {
        found = c->f->inode_count;
        if (add_inode(c, identity, names, p->files[file].bytes, err) < 0)
            return -1;
    }
    struct layout_file *to = &c->f->files[found];
    uint32_t owner = c->now[p->files[file].owner];
    to->owner =
        c->f->inodes[found].images ? owners_stronger(&c->f->owners, to->owner, owner) : owner;
    c->f->inodes[found].images |= c->image;
    c->member->files[file] = (uint32_t)found;
    return 0;
}

/* ---- directories ---- */

static int compare_dir(struct comparing *c, size_t record, struct err *err)
{
    struct family_files *f = c->f;
    uint32_t node = c->member->nodes[c->member->tree.spool->records[record].node];
    const struct layout_identity *identity = &c->member->tree.identities[record];

    for (uint32_t i = f->dir_at[node]; i; i = f->headers[i - 1].next)
        if (is_same(&f->headers[i - 1].identity, identity)) {
            f->headers[i - 1].images |= c->image;
            return 0;
        }
    struct family_inode *header = ARRAY_PUSH(f, header, headers, err);
    if (!header)
        return -1;
    *header = (struct family_inode){
        .identity = *identity, .images = c->image, .node = node, .next = f->dir_at[node]};
    f->dir_at[node] = (uint32_t)f->header_count;
    return 0;
}

/* ---- all ---- */

static int compare_member(struct family_files *f, struct family_member *m, uint64_t image,
                          const uint32_t *now, struct err *err)
{
    _cleanup_(comparing_clear) struct comparing c = {
        .f = f, .member = m, .image = image, .now = now};
    const struct spool *s = m->tree.spool;

    m->files = calloc(m->placing.count + 1, sizeof(*m->files));
    if (!m->files)
        return err_nomem(err);
    if (map_nodes(f, m, err) < 0 || list_names(&c, err) < 0)
        return -1;
    for (size_t i = 0; i < s->record_count; i++)
        if ((S_ISDIR(s->records[i].mode) ? compare_dir(&c, i, err) : compare_file(&c, i, err)) < 0)
            return -1;
    return 0;
}

/* The owners of the members, and where each is in the joined list. */
struct joining {
    const struct owners *lists[LAYOUT_MOST_IMAGES];
    uint32_t *now[LAYOUT_MOST_IMAGES];
};

static void joining_clear(struct joining *j)
{
    for (size_t i = 0; i < LAYOUT_MOST_IMAGES; i++)
        free(j->now[i]);
}

static int join_owners(struct joining *j, struct family_member *members, size_t count,
                       struct owners *out, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        j->lists[i] = &members[i].tree.owners;
        j->now[i] = calloc(j->lists[i]->count + 1, sizeof(*j->now[i]));
        if (!j->now[i])
            return err_nomem(err);
    }
    return family_owners_join(j->lists, count, out, j->now, err);
}

static int set_images(struct family_files *f, struct err *err)
{
    f->images = calloc(f->inode_count + 1, sizeof(*f->images));
    f->dirs = calloc(f->header_count + 1, sizeof(*f->dirs));
    if (!f->images || !f->dirs)
        return err_nomem(err);
    for (size_t i = 0; i < f->inode_count; i++)
        f->images[i] = f->inodes[i].images;
    for (size_t i = 0; i < f->header_count; i++)
        f->dirs[i] = (struct layout_family_dir){f->headers[i].node, f->headers[i].images};
    return 0;
}

int family_files_make(struct family_member *members, size_t count, struct family_files *out,
                      struct err *err)
{
    _cleanup_(joining_clear) struct joining j = {0};

    *out = (struct family_files){.tree = tree_new(err)};
    if (!out->tree || join_owners(&j, members, count, &out->owners, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (placing_list(&members[i].tree, &members[i].placing, err) < 0 ||
            compare_member(out, &members[i], (uint64_t)1 << i, j.now[i], err) < 0)
            return -1;
    return set_images(out, err);
}

struct layout_family_input family_files_input(const struct family_files *f, size_t members,
                                              struct layout_input *all)
{
    *all = (struct layout_input){.tree = f->tree,
                                 .files = f->files,
                                 .file_count = f->file_count,
                                 .names = f->names,
                                 .name_count = f->name_count,
                                 .owners = &f->owners};
    return (struct layout_family_input){.all = all,
                                        .images = f->images,
                                        .dirs = f->dirs,
                                        .dir_count = f->header_count,
                                        .image_count = members};
}

void family_files_clear(struct family_files *f)
{
    cleanup_tree(&f->tree);
    free(f->owners.list);
    free(f->files);
    free(f->names);
    free(f->inodes);
    free(f->images);
    free(f->headers);
    free(f->dirs);
    free(f->at);
    free(f->dir_at);
}
