/* Stands in for libFuzzer: runs a fuzz target on every file of a directory, once. */
#include "fuzz.h"

#include <dirent.h>
#include <string.h>

static int replay(const char *dir, const char *name)
{
    char path[4096];
    long size;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *f = fopen(path, "rbe");
    if (!f || fseek(f, 0, SEEK_END) < 0 || (size = ftell(f)) < 0) {
        perror(path);
        if (f)
            fclose(f);
        return -1;
    }
    rewind(f);
    uint8_t *data = malloc((size_t)size + !size); /* exact: ASan sees a read beyond it */
    int rc = data && fread(data, 1, (size_t)size, f) == (size_t)size ? 0 : -1;
    fclose(f);
    if (rc == 0) {
        fprintf(stderr, "%s: %ld bytes\n", name, size);
        LLVMFuzzerTestOneInput(data, (size_t)size);
    } else {
        perror(path);
    }
    free(data);
    return rc;
}

int main(int argc, char **argv)
{
    size_t count = 0;
    DIR *dir;

    if (argc != 2 || !(dir = opendir(argv[1]))) {
        perror(argc == 2 ? argv[1] : "usage: replay DIRECTORY");
        return 1;
    }
    for (const struct dirent *e; (e = readdir(dir));) {
        if (e->d_name[0] == '.')
            continue;
        if (replay(argv[1], e->d_name) < 0) {
            closedir(dir);
            return 1;
        }
        count++;
    }
    closedir(dir);
    printf("%zu inputs\n", count);
    if (count == 0)
        fprintf(stderr, "%s: the corpus is empty\n", argv[1]);
    return count == 0;
}
