/* SPDX-License-Identifier: MIT */
/* The chat format of a model: which template is taken, with which texts, and our own by name. */
#include "tap.h"
#include "chat.h"
#include "source.h"
#include "token/token.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- models with templates ---- */

struct entry {
	const char *key, *text;
};

static void put_text(struct gguf_writer *w, const char *key, const char *text)
{
	struct gguf_value v = { .type = GGUF_STRING, .s = { text, strlen(text) } };

	gguf_writer_key(w, key, strlen(key), &v);
}

static void put_vocabulary(struct gguf_writer *w)
{
	static const char *const texts[] = { "<unk>", "<BOS>", "<EOS>", "a" };
	struct gguf_value token[4], score[4], type[4], id = { .type = GGUF_U32 };

	for (int i = 0; i < 4; i++) {
		token[i] = (struct gguf_value){ .type = GGUF_STRING, .s = { texts[i], strlen(texts[i]) } };
		score[i] = (struct gguf_value){ .type = GGUF_F32, .f = -i };
		type[i] = (struct gguf_value){ .type = GGUF_I32, .i = i == 0 ? 2 : i < 3 ? 3 : 1 };
	}
	put_text(w, "tokenizer.ggml.model", "llama");
	gguf_writer_array(w, "tokenizer.ggml.tokens", 21, GGUF_STRING, token, 4);
	gguf_writer_array(w, "tokenizer.ggml.scores", 21, GGUF_F32, score, 4);
	gguf_writer_array(w, "tokenizer.ggml.token_type", 25, GGUF_I32, type, 4);
	id.u = 1;
	gguf_writer_key(w, "tokenizer.ggml.bos_token_id", 27, &id);
	id.u = 2;
	gguf_writer_key(w, "tokenizer.ggml.eos_token_id", 27, &id);
}

struct model {
	struct source *s;
	struct vocab *v;
};

static struct model model_with(const struct entry *entries)
{
	char path[] = "/tmp/test_chatXXXXXX";
	int fd = mkstemp(path);
	struct gguf_writer *w;
	struct model m = { NULL, NULL };
	const void *bytes;
	size_t n;

	gguf_writer_new(&w);
	put_text(w, "general.architecture", "llama");
	put_vocabulary(w);
	for (; entries->key; entries++)
		put_text(w, entries->key, entries->text);
	gguf_writer_header(w, &bytes, &n);
	if (write(fd, bytes, n) == (ssize_t)n && !source_open(&m.s, path, NULL, NULL))
		vocab_open(&m.v, m.s, NULL);
	gguf_writer_free(w);
	close(fd);
	unlink(path);
	return m;
}

static void model_close(struct model *m)
{
	vocab_close(m->v);
	source_close(m->s);
}

static const struct entry two[] = {
	{ "tokenizer.chat_template",
	  "{{ bos_token }}{% for m in messages %}[{{ m.role }}|{{ m.content }}]{% endfor %}{{ eos_token }}" },
	{ "tokenizer.chat_template.tool_use", "tools: {{ tools | length }}" },
	{ NULL, NULL },
};
static const struct entry none[] = { { NULL, NULL } };
static const struct entry go[] = {
	{ "tokenizer.chat_template", "{{ if .System }}{{ .System }}{{ end }}" },
	{ NULL, NULL },
};
static const struct entry broken[] = { { "tokenizer.chat_template", "x\n{% if %}" }, { NULL, NULL } };

static char *say(const struct chat *c, const struct chat_message *m, size_t n, bool answer, struct gguf_error *e)
{
	struct chat_request r = { .messages = m, .n = n, .answer = answer };
	char *out = NULL;
	size_t size;

	return chat_render(c, &r, &out, &size, e) ? NULL : out;
}

static const struct chat_message hello[] = { { "system", "S" }, { "user", "U" } };

static void renders(struct chat *c, const char *want, const char *what)
{
	struct gguf_error e = { .text = "" };
	char *out = say(c, hello, 2, true, &e);

	if (!ok(out && !strcmp(out, want), "%s", what))
		printf("# want %s\n# got  %s\n", want, out ? out : e.text);
	free(out);
}

static void test_default(void)
{
	struct model m = model_with(two);
	struct chat *c = NULL;

	ok(!chat_open(&c, m.s, m.v, NULL, NULL) && chat_origin(c) == CHAT_MODEL, "a model's own template is taken");
	renders(c, "<BOS>[system|S][user|U]<EOS>", "with the texts of its own bos and eos");
	ok(!strcmp(chat_name(c), "default") && !*chat_why(c), "its name is default");
	chat_close(c);
	ok(!strcmp(chat_model_template(m.s, 0), "default") && !strcmp(chat_model_template(m.s, 1), "tool_use") &&
	   !chat_model_template(m.s, 2), "its templates are listed");
	model_close(&m);
}

static void test_named(void)
{
	struct model m = model_with(two);
	struct gguf_error e = { .text = "" };
	struct chat *c = NULL;

	ok(!chat_open(&c, m.s, m.v, "tool_use", NULL) && chat_origin(c) == CHAT_MODEL, "a named one is taken");
	renders(c, "tools: 0", "and is the right one");
	chat_close(c);
	ok(!chat_open(&c, m.s, m.v, "chatml", NULL) && chat_origin(c) == CHAT_BUILTIN, "one of ours by name");
	renders(c, "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\n", "which is ChatML");
	chat_close(c);
	ok(chat_open(&c, m.s, m.v, "nonesuch", &e) == -ENOENT && strstr(e.text, "nonesuch") && strstr(e.text, "tool_use"),
	   "an unknown name, and which there are: %s", e.text);
	model_close(&m);
}

static void falls_back(const struct entry *entries, const char *why)
{
	struct model m = model_with(entries);
	struct chat *c = NULL;
	int err = chat_open(&c, m.s, m.v, NULL, NULL);

	ok(!err && chat_origin(c) == CHAT_FALLBACK && strstr(chat_why(c), why), "ChatML, and says why: %s",
	   err ? "" : chat_why(c));
	renders(c, "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\n", "it is ChatML");
	chat_close(c);
	model_close(&m);
}

static void test_system_refused(void)
{
	static const char text[] = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
				   "{% for m in messages %}{{ m.role }}:{{ m.content }};{% endfor %}";
	struct gguf_error e = { .text = "" };
	struct chat *c = NULL;

	chat_open_text(&c, NULL, text, strlen(text), NULL);
	renders(c, "user:S\n\nU;", "a refused system message goes into the user's");
	ok(!say(c, hello, 1, true, &e) && strstr(e.text, "no system"), "where there is none, the refusal stands: %s", e.text);
	chat_close(c);
}

static void test_bytes(void)
{
	static const struct chat_message m[] = { { "user", "a\xff\xc3z\xe2\x82\xac" } };
	static const char text[] = "{{ messages[0].content }}";
	struct chat *c = NULL;
	char *out;

	chat_open_text(&c, NULL, text, strlen(text), NULL);
	out = say(c, m, 1, false, NULL);
	ok(out && !strcmp(out, "a\xef\xbf\xbd\xef\xbf\xbdz\xe2\x82\xac"), "bytes that are not UTF-8 become U+FFFD");
	free(out);
	chat_close(c);
}

static void test_case(void)
{
	static const char text[] = "{{ bos_token }}{{ eos_token }}{{ x }}{{ strftime_now('%Y') }}";
	struct gguf_error e = { .text = "" };
	json_t *object = json_loads("{\"messages\":[],\"bos_token\":\"B\",\"x\":{\"y\":[1,null]}}", 0, NULL), *list = json_array();
	struct chat *c = NULL;
	char *out = NULL;
	size_t n;

	chat_open_text(&c, NULL, text, strlen(text), NULL);
	ok(!chat_render_case(c, object, 0, &out, &n, &e) && !strcmp(out, "B{'y': [1, None]}1970"), "a case's members are globals");
	ok(json_object_size(object) == 3, "the case stays as it was");
	free(out);
	ok(chat_render_case(c, list, 0, &out, &n, &e) == -EINVAL, "a case that is no object: %s", e.text);
	chat_close(c);
	json_decref(object);
	json_decref(list);
}

/* ---- our own ---- */

static const struct { const char *name, *want; } formats[] = {
	{ "chatml", "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\nA<|im_end|>\n"
		    "<|im_start|>user\nV<|im_end|>\n<|im_start|>assistant\n" },
	{ "llama2", "<BOS>[INST] <<SYS>>\nS\n<</SYS>>\n\nU [/INST] A <EOS><BOS>[INST] V [/INST]" },
	{ "llama3", "<BOS><|start_header_id|>system<|end_header_id|>\n\nS<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n"
		    "U<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nA<|eot_id|>"
		    "<|start_header_id|>user<|end_header_id|>\n\nV<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n" },
	{ "mistral-v1", "<BOS> [INST] S\n\nU [/INST] A<EOS> [INST] V [/INST]" },
	{ "mistral", "<BOS>[INST] S\n\nU[/INST] A<EOS>[INST] V[/INST]" },
	{ "mistral-v7", "<BOS>[SYSTEM_PROMPT] S[/SYSTEM_PROMPT][INST] U[/INST] A<EOS>[INST] V[/INST]" },
	{ "gemma", "<BOS><start_of_turn>user\nS\n\nU<end_of_turn>\n<start_of_turn>model\nA<end_of_turn>\n"
		   "<start_of_turn>user\nV<end_of_turn>\n<start_of_turn>model\n" },
	{ "phi3", "<|system|>\nS<|end|>\n<|user|>\nU<|end|>\n<|assistant|>\nA<|end|>\n<|user|>\nV<|end|>\n<|assistant|>\n" },
	{ "phi4", "<|im_start|>system<|im_sep|>S<|im_end|><|im_start|>user<|im_sep|>U<|im_end|><|im_start|>assistant<|im_sep|>A"
		  "<|im_end|><|im_start|>user<|im_sep|>V<|im_end|><|im_start|>assistant<|im_sep|>" },
	{ "zephyr", "<|system|>\nS<EOS>\n<|user|>\nU<EOS>\n<|assistant|>\nA<EOS>\n<|user|>\nV<EOS>\n<|assistant|>\n" },
	{ "vicuna", "<BOS>S\n\nUSER: U\nASSISTANT: A<EOS>\nUSER: V\nASSISTANT:" },
	{ "alpaca", "<BOS>S\n\n### Instruction:\nU\n\n### Response:\nA<EOS>\n\n### Instruction:\nV\n\n### Response:\n" },
	{ "deepseek", "<BOS>S### Instruction:\nU\n### Response:\nA\n<|EOT|>\n### Instruction:\nV\n### Response:\n" },
	{ "deepseek2", "<BOS>S\n\nUser: U\n\nAssistant: A<EOS>User: V\n\nAssistant:" },
	{ "deepseek3", "<BOS>S<｜User｜>U<｜Assistant｜>A<EOS><｜User｜>V<｜Assistant｜>" },
	{ "command-r", "<BOS><|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>S<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|USER_TOKEN|>U"
		       "<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>A<|END_OF_TURN_TOKEN|>"
		       "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>V<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>" },
	{ "granite", "<|start_of_role|>system<|end_of_role|>S<|end_of_text|>\n<|start_of_role|>user<|end_of_role|>U<|end_of_text|>\n"
		     "<|start_of_role|>assistant<|end_of_role|>A<|end_of_text|>\n"
		     "<|start_of_role|>user<|end_of_role|>V<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|>" },
	{ "falcon3", "<|system|>\nS\n<|user|>\nU\n<|assistant|>\nA<EOS>\n<|user|>\nV\n<|assistant|>\n" },
	{ "openchat", "<BOS>S<|end_of_turn|>GPT4 Correct User: U<|end_of_turn|>GPT4 Correct Assistant: A<|end_of_turn|>"
		      "GPT4 Correct User: V<|end_of_turn|>GPT4 Correct Assistant:" },
	{ "exaone3", "[|system|]S[|endofturn|]\n[|user|]U\n[|assistant|]A[|endofturn|]\n[|user|]V\n[|assistant|]" },
	{ "plain", "System: S\n\nUser: U\n\nAssistant: A\n\nUser: V\n\nAssistant:" },
};

static void test_format(const struct model *m, size_t i)
{
	static const struct chat_message turns[] = { { "system", "S" }, { "user", "U" }, { "assistant", "A" }, { "user", "V" } };
	struct gguf_error e = { .text = "" };
	struct chat *c = NULL;
	char *out = NULL;

	if (!chat_open(&c, m->s, m->v, formats[i].name, &e))
		out = say(c, turns, 4, true, &e);
	if (!ok(out && !strcmp(out, formats[i].want), "%s", formats[i].name))
		printf("# want %s\n# got  %s\n", formats[i].want, out ? out : e.text);
	free(out);
	chat_close(c);
}

static void test_formats(void)
{
	struct model m = model_with(none);
	size_t n = sizeof formats / sizeof *formats;
	bool all = true;

	for (size_t i = 0; i < n; i++) {
		test_format(&m, i);
		all = all && chat_builtin(i) && !strcmp(chat_builtin(i), formats[i].name);
	}
	ok(all && !chat_builtin(n), "the list of names is this one");
	model_close(&m);
}

int main(void)
{
	test_default();
	test_named();
	falls_back(none, "no chat template");
	falls_back(go, "Go template");
	falls_back(broken, "line 2");
	test_system_refused();
	test_bytes();
	test_case();
	test_formats();
	done();
}
