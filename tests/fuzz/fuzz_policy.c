/* Policies: none crashes the decoder, and a valid one makes only well-formed plans. */
#include "shim_fuzz.h"

enum { PROFILES = 4 }; /* tried of each policy */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char config[] =
        "{\"hostname\":\"h\",\"process\":{\"user\":{\"uid\":1,\"gid\":1},\"env\":[\"A=1\"]},"
        "\"annotations\":{\"flatbed.data\":\"imagenet,coco-1:/"
        "x,torch:rw\",\"flatbed.project\":\"p\","
        "\"flatbed.cache\":\"torch,pip\"},"
        "\"linux\":{\"resources\":{\"memory\":{\"limit\":1073741824},"
        "\"cpu\":{\"quota\":250000,\"period\":100000,\"cpus\":\"0-3\"}}},"
        "\"mounts\":[{\"destination\":\"/dev/"
        "shm\",\"type\":\"tmpfs\",\"options\":[\"size=65536k\"]},"
        "{\"destination\":\"/proc\"},{\"destination\":\"/work/data\",\"source\":\"/"
        "s\"}]}";
    struct policy *policy = shim_fuzz_policy((const char *)data, size);

    if (!policy)
        return 0;
    shim_fuzz_edit_twice(policy, config, sizeof(config) - 1);
    for (size_t i = 0; i < policy->profile_count && i < PROFILES; i++)
        shim_fuzz_edit_twice(policy->profiles[i].policy, config, sizeof(config) - 1);
    policy_free(policy);
    return 0;
}
