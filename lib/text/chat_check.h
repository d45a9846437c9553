// SPDX-License-Identifier: Apache-2.0
// The shape of messages that every preset takes. Models' own templates fail somewhere inside, or
// render what nobody meant; a preset says which message it is before anything is rendered.
#ifndef NETCL_TEXT_CHAT_CHECK_H_
#define NETCL_TEXT_CHAT_CHECK_H_

#include "base/json_file.h"
#include "text/chat_preset.h"

namespace netcl::text {

// Throws FormatError ("messages[2]: ...") for a role that is missing, no string or none of the
// preset's; content that is no text, list of text parts or, with tool calls, nothing; tool calls
// without a name or arguments, or of another role than the assistant; reasoning that is no text.
// `messages` is a list of objects.
void check_preset_messages(const base::Json& messages, const ChatPreset& preset);

}  // namespace netcl::text

#endif  // NETCL_TEXT_CHAT_CHECK_H_
