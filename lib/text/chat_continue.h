// SPDX-License-Identifier: Apache-2.0
// Prompts that leave the last message open, for the model to go on with: what `transformers` calls
// continue_final_message.
#ifndef NETCL_TEXT_CHAT_CONTINUE_H_
#define NETCL_TEXT_CHAT_CONTINUE_H_

#include <string>

#include "base/json_file.h"
#include "text/jinja_template.h"

namespace netcl::text {

struct OpenMessages {
  base::Json messages;  // with a mark behind the text of the last one
  std::string text;     // which is this, without the mark
};

// Marks where the last message ends: behind its content, or the last text part of that. Throws
// FormatError for a conversation without messages, or whose last one has no text.
OpenMessages mark_final_message(const base::Json& messages);

// Cuts a rendering of marked messages where the mark is; without white space at its end if the
// template trimmed that of the mark. Throws FormatError when the mark or the text is not there.
void cut_at_final_message(const OpenMessages& open, JinjaOutput& output);

}  // namespace netcl::text

#endif  // NETCL_TEXT_CHAT_CONTINUE_H_
