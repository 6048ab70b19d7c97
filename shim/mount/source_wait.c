#include "shim/mount/source_wait.h"

#include "base/buf.h"
#include "shim/host/process/channel.h"
#include "shim/host/process/child_ask.h"
#include "shim/mount/source.h"

struct question {
    const char *path;
    const struct user_ids *user;
};

static void look_in_child(const void *asked, void *answer)
{
    const struct question *question = asked;
    struct source source = SOURCE_INIT;
    struct err ignored;

    channel_wait_on();
    *(char *)answer = source_find_for(question->path, question->user, &source, &ignored) < 0;
}

int source_wait(const char *path, const struct user_ids *user, unsigned milliseconds,
                struct err *err)
{
    const struct question question = {path, user};
    char answer;

    return child_ask(look_in_child, &question, &answer, sizeof(answer), milliseconds, err);
}

bool source_answers(const char *directory, unsigned milliseconds)
{
    _cleanup_free_ char *name = strf("%s/.flatbed", directory);
    struct err ignored;

    return !name || source_wait(name, NULL, milliseconds, &ignored) <= 0;
}
