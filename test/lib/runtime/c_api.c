/* Loads and runs the small artifact through the C interface, from C11. Returns NULL, or what went wrong. */
#include "stator/c/runtime.h"

#include <stdio.h>
#include <string.h>

static char text[1024];

static const char *failure(stator_status *status, const char *place) {
  snprintf(text, sizeof(text), "%s: %d: %s", place, (int)stator_status_get_code(status), stator_status_get_message(status));
  stator_status_release(status);
  return text;
}

const char *stator_test_c_api(const char *path);
const char *stator_test_c_api(const char *path) {
  stator_module *module = NULL;
  stator_status *status = stator_module_load(path, NULL, &module);
  if (status)
    return failure(status, "load");
  size_t forward = stator_module_find_method(module, "forward");
  if (forward != 0 || stator_module_method_count(module) != 1 || stator_module_find_method(module, "backward") != SIZE_MAX)
    return "find_method";
  stator_value_info info;
  stator_module_value(module, forward, STATOR_INPUT, 0, &info);
  if (strcmp(info.name, "x") || info.element_type != STATOR_F32 || info.rank != 2 || info.dims[0].size != -1 ||
      strcmp(info.dims[0].text, "N") || info.dims[0].minimum != 1 || info.dims[0].maximum != 64 || info.dims[1].size != 3)
    return "value of input 0";

  stator_session_options options;
  memset(&options, 0, sizeof(options));
  stator_session *session = NULL;
  status = stator_session_create(module, &options, &session);
  if (stator_status_get_code(status) != STATOR_INVALID_ARGUMENT)
    return "options without struct_size were accepted";
  stator_status_release(status);
  options.struct_size = sizeof(options);
  options.threads = 2;
  status = stator_session_create(module, &options, &session);
  if (status)
    return failure(status, "create");
  stator_module_release(module); /* The session keeps the artifact. */

  const float x[6] = {1, 0, 0, 1, 1, 1};
  const int64_t shape[2] = {2, 3};
  stator_tensor_view input = {(void *)x, sizeof(x), shape, 2, STATOR_F32};
  status = stator_session_run(session, forward, &input, 1, NULL, 0);
  if (status)
    return failure(status, "run");
  size_t count = 0;
  const stator_tensor_view *outputs = stator_session_outputs(session, &count);
  const float *y = count == 1 ? outputs[0].data : NULL;
  if (!y || outputs[0].rank != 2 || outputs[0].shape[0] != 2 || y[0] != 1 || y[1] != 2 || y[2] != 9 || y[3] != 12)
    return "the result is wrong";

  input.element_type = STATOR_I32;
  status = stator_session_run(session, forward, &input, 1, NULL, 0);
  if (stator_status_get_code(status) != STATOR_INVALID_ARGUMENT || !strstr(stator_status_get_message(status), "expected f32"))
    return failure(status, "a wrong element type");
  stator_status_release(status);
  stator_session_release(session);
  stator_session_release(NULL);
  stator_module_release(NULL);
  return NULL;
}
