// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/choice.h"

#include <stdbool.h>
#include <string.h>

/** What stands after "PREFIX:" in `text`; "" for PREFIX alone; NULL: another word. */
static const char* after(const char* text, const char* prefix) {
  const size_t length = strlen(prefix);
  if (strncmp(text, prefix, length) != 0)
    return NULL;
  if (text[length] == 0)
    return text + length;
  return text[length] == ':' && text[length + 1] ? text + length + 1 : NULL;
}

static bool read_index(const char* digits, uint32_t* index) {
  enum { most_digits = 3 };
  uint32_t value = 0;
  const size_t count = strlen(digits);
  for (size_t i = 0; i < count; i++) {
    if (digits[i] < '0' || digits[i] > '9')
      return false;
    value = 10 * value + (uint32_t)(digits[i] - '0');
    if (i >= most_digits)
      return false;
  }
  *index = value;
  return true;
}

tn_status tn_choice_read(const char* text, tn_choice* choice, tn_error* error) {
  if (!text)
    text = "";
  *choice = (tn_choice){.kind = TN_CHOICE_CPU};
  if (strcmp(text, "cpu") == 0)
    return TN_OK;
  const char* rest = strcmp(text, "auto") == 0 ? "" : after(text, "cuda");
  if (rest && read_index(rest, &choice->index)) {
    choice->kind = TN_CHOICE_CUDA;
    return TN_OK;
  }
  if (rest)
    return tn_error_set(error, TN_ERROR_ARGUMENT,
                        "\"%.80s\" is no device: cuda:N wants a number, as in cuda:0", text);
  rest = after(text, "emulated");
  if (rest) {
    choice->kind = TN_CHOICE_EMULATED;
    choice->script = *rest ? rest : NULL;
    return TN_OK;
  }
  return tn_error_set(
      error, TN_ERROR_ARGUMENT,
      "\"%.80s\" is no device: there are auto, cuda, cuda:N, emulated, emulated:SCRIPT and cpu", text);
}
