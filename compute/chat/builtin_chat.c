/* SPDX-License-Identifier: MIT */
/* Chat formats by name, for models that carry no template of their own. */
#include "chat.h"
#include <string.h>

/*
 * Formats without a system turn get the system message at the head of the first user turn: {{ body }} is a message's
 * content with that in front, and system messages are passed over.
 */
#define EACH_MERGED \
	"{%- set ns = namespace(system='') -%}" \
	"{%- for message in messages -%}" \
	"{%- if message.role == 'system' -%}{%- set ns.system = message.content + '\n\n' -%}{%- continue -%}{%- endif -%}" \
	"{%- set body = ns.system + message.content -%}{%- set ns.system = '' -%}"
#define EACH "{%- for message in messages -%}"
#define NEXT "{%- endfor -%}"
#define ANSWER(text) "{%- if add_generation_prompt -%}{{ '" text "' }}{%- endif -%}"

static const struct { const char *name, *text; } formats[] = {
	{ "chatml",
	  EACH "{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}" NEXT
	  ANSWER("<|im_start|>assistant\n") },
	{ "llama2",
	  EACH_MERGED
	  "{%- if message.role == 'user' -%}"
	  "{%- if loop.index0 and messages[loop.index0 - 1].role == 'system' -%}"
	  "{%- set body = '<<SYS>>\n' + messages[loop.index0 - 1].content + '\n<</SYS>>\n\n' + message.content -%}{%- endif -%}"
	  "{{ bos_token + '[INST] ' + body + ' [/INST]' }}"
	  "{%- else -%}{{ ' ' + message.content + ' ' + eos_token }}{%- endif -%}" NEXT },
	{ "llama3",
	  "{{ bos_token }}" EACH
	  "{{ '<|start_header_id|>' + message.role + '<|end_header_id|>\n\n' + message.content + '<|eot_id|>' }}" NEXT
	  ANSWER("<|start_header_id|>assistant<|end_header_id|>\n\n") },
	{ "mistral-v1",
	  "{{ bos_token }}" EACH_MERGED
	  "{%- if message.role == 'user' -%}{{ ' [INST] ' + body + ' [/INST]' }}"
	  "{%- else -%}{{ ' ' + message.content + eos_token }}{%- endif -%}" NEXT },
	{ "mistral",
	  "{{ bos_token }}" EACH_MERGED
	  "{%- if message.role == 'user' -%}{{ '[INST] ' + body + '[/INST]' }}"
	  "{%- else -%}{{ ' ' + message.content + eos_token }}{%- endif -%}" NEXT },
	{ "mistral-v7",
	  "{{ bos_token }}" EACH
	  "{%- if message.role == 'system' -%}{{ '[SYSTEM_PROMPT] ' + message.content + '[/SYSTEM_PROMPT]' }}"
	  "{%- elif message.role == 'user' -%}{{ '[INST] ' + message.content + '[/INST]' }}"
	  "{%- else -%}{{ ' ' + message.content + eos_token }}{%- endif -%}" NEXT },
	{ "gemma",
	  "{{ bos_token }}" EACH_MERGED
	  "{%- set role = 'model' if message.role == 'assistant' else message.role -%}"
	  "{{ '<start_of_turn>' + role + '\n' + body | trim + '<end_of_turn>\n' }}" NEXT
	  ANSWER("<start_of_turn>model\n") },
	{ "phi3",
	  EACH "{{ '<|' + message.role + '|>\n' + message.content + '<|end|>\n' }}" NEXT
	  ANSWER("<|assistant|>\n") },
	{ "phi4",
	  EACH "{{ '<|im_start|>' + message.role + '<|im_sep|>' + message.content + '<|im_end|>' }}" NEXT
	  ANSWER("<|im_start|>assistant<|im_sep|>") },
	{ "zephyr",
	  EACH "{{ '<|' + message.role + '|>\n' + message.content + eos_token + '\n' }}" NEXT
	  ANSWER("<|assistant|>\n") },
	{ "vicuna",
	  "{{ bos_token }}" EACH
	  "{%- if message.role == 'system' -%}{{ message.content + '\n\n' }}"
	  "{%- elif message.role == 'user' -%}{{ 'USER: ' + message.content + '\n' }}"
	  "{%- else -%}{{ 'ASSISTANT: ' + message.content + eos_token + '\n' }}{%- endif -%}" NEXT
	  ANSWER("ASSISTANT:") },
	{ "alpaca",
	  "{{ bos_token }}" EACH
	  "{%- if message.role == 'system' -%}{{ message.content + '\n\n' }}"
	  "{%- elif message.role == 'user' -%}{{ '### Instruction:\n' + message.content + '\n\n' }}"
	  "{%- else -%}{{ '### Response:\n' + message.content + eos_token + '\n\n' }}{%- endif -%}" NEXT
	  ANSWER("### Response:\n") },
	{ "deepseek",
	  "{{ bos_token }}" EACH
	  "{%- if message.role == 'system' -%}{{ message.content }}"
	  "{%- elif message.role == 'user' -%}{{ '### Instruction:\n' + message.content + '\n' }}"
	  "{%- else -%}{{ '### Response:\n' + message.content + '\n<|EOT|>\n' }}{%- endif -%}" NEXT
	  ANSWER("### Response:\n") },
	{ "deepseek2",
	  "{{ bos_token }}" EACH
	  "{%- if message.role == 'system' -%}{{ message.content + '\n\n' }}"
	  "{%- elif message.role == 'user' -%}{{ 'User: ' + message.content + '\n\n' }}"
	  "{%- else -%}{{ 'Assistant: ' + message.content + eos_token }}{%- endif -%}" NEXT
	  ANSWER("Assistant:") },
	{ "deepseek3",
	  "{{ bos_token }}" EACH
	  "{%- if message.role == 'system' -%}{{ message.content }}"
	  "{%- elif message.role == 'user' -%}{{ '<｜User｜>' + message.content }}"
	  "{%- else -%}{{ '<｜Assistant｜>' + message.content + eos_token }}{%- endif -%}" NEXT
	  ANSWER("<｜Assistant｜>") },
	{ "command-r",
	  "{{ bos_token }}" EACH
	  "{%- set role = 'CHATBOT' if message.role == 'assistant' else message.role | upper -%}"
	  "{{ '<|START_OF_TURN_TOKEN|><|' + role + '_TOKEN|>' + message.content + '<|END_OF_TURN_TOKEN|>' }}" NEXT
	  ANSWER("<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>") },
	{ "granite",
	  EACH "{{ '<|start_of_role|>' + message.role + '<|end_of_role|>' + message.content + '<|end_of_text|>\n' }}" NEXT
	  ANSWER("<|start_of_role|>assistant<|end_of_role|>") },
	{ "falcon3",
	  EACH "{{ '<|' + message.role + '|>\n' + message.content }}"
	  "{{ eos_token + '\n' if message.role == 'assistant' else '\n' }}" NEXT
	  ANSWER("<|assistant|>\n") },
	{ "openchat",
	  "{{ bos_token }}" EACH
	  "{%- if message.role != 'system' -%}{{ 'GPT4 Correct ' + message.role | title + ': ' }}{%- endif -%}"
	  "{{ message.content + '<|end_of_turn|>' }}" NEXT
	  ANSWER("GPT4 Correct Assistant:") },
	{ "exaone3",
	  EACH "{{ '[|' + message.role + '|]' + message.content }}"
	  "{{ '\n' if message.role == 'user' else '[|endofturn|]\n' }}" NEXT
	  ANSWER("[|assistant|]") },
	{ "plain",
	  EACH "{{ message.role | title + ': ' + message.content + '\n\n' }}" NEXT
	  ANSWER("Assistant:") },
};

const char *chat_builtin(size_t i)
{
	return i < sizeof formats / sizeof *formats ? formats[i].name : NULL;
}

const char *chat_builtin_text(const char *name)
{
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (!strcmp(formats[i].name, name))
			return formats[i].text;
	return NULL;
}
