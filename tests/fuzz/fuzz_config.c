/*
 * config.json, annotations included, under a policy with many offers: nothing crashes, the plan
 * is well formed, and an edited document is not edited again.
 */
#include "shim_fuzz.h"

static const char policy_text[] =
    "{\"version\":1,\"requests\":[\"annotations\",\"mounts\",\"environment\"],\"identity\":["
    "\"annotation:flatbed.user\"],\"volumes\":{"
    "\"data\":{\"source\":\"/srv/data/{name}\",\"target\":\"/work/data/{name}\","
    "\"env\":{\"DATA\":\"{target}\",\"WHO\":\"{user} {project}\"}},"
    "\"logs\":{\"source\":\"/srv/logs/{container}\",\"target\":\"/work\",\"access\":\"rw\","
    "\"always\":true,\"options\":[\"noexec\",\"suid\"]},"
    "\"pooled\":{\"source\":\"/srv/p,1/{name}\",\"target\":\"/p/{name}\",\"access\":\"rw\","
    "\"always\":[\"x\"],\"pool\":\"/srv/pool/{name}\"},"
    "\"host\":{\"source\":\"/srv/{hostname}\",\"target\":\"/h/{hostname}\",\"always\":true},"
    "\"cache\":{\"source\":\"/srv/cache/{user}/{name}\",\"target\":\"/cache/{name}\","
    "\"access\":\"rw\",\"always\":[\"torch\"],\"presets\":[\"torch\",\"pip\"]}},"
    "\"binds\":{\"default\":\"ro\",\"require_access\":true,\"targets_deny\":[\"/proc\"],\"rules\":["
    "{\"path\":\"/srv\",\"access\":\"allow\",\"options\":[\"nosuid\",\"noexec\"]},"
    "{\"path\":\"/srv/x\",\"access\":\"deny\"}]},"
    "\"security\":{\"privileged\":\"deny\",\"capabilities\":{\"max\":[\"CHOWN\"],\"drop\":["
    "\"KILL\"]},"
    "\"no_new_privileges\":true,\"seccomp\":{\"require\":true},\"namespaces\":{\"host\":[\"net\"]},"
    "\"devices\":{\"allow\":[\"/dev/null\"]},\"annotations\":{\"deny\":[\"run.*\"]},"
    "\"hooks\":\"deny\",\"system_paths\":\"deny\",\"realtime\":\"deny\"},"
    "\"tuning\":{\"shm_size\":{\"default\":\"50%\",\"max\":\"80%\"},\"memlock\":\"unlimited\","
    "\"nofile\":1048576,\"stack\":\"16m\",\"threads\":true,\"workers\":\"75%\"},"
    "\"rootfs\":{\"max_depth\":32}}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct policy *policy = shim_fuzz_policy(policy_text, sizeof(policy_text) - 1);

    must(policy != NULL);
    shim_fuzz_edit_twice(policy, (const char *)data, size);
    policy_free(policy);
    return 0;
}
