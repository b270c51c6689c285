/* SPDX-License-Identifier: MIT */
#include "mountinfo.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int octal(const char *p)
{
	int v = 0;

	for (int i = 0; i < 3; i++) {
		if (p[i] < '0' || p[i] > '7')
			return -1;
		v = v * 8 + p[i] - '0';
	}
	return v;
}

/* Whether a field of mountinfo, where \ooo stands for blanks and the like, is dir. */
static bool field_is(const char *field, const char *dir)
{
	while (*field && *field != ' ') {
		int c = *field == '\\' ? octal(field + 1) : -1;

		if ((unsigned char)*dir++ != (c < 0 ? (unsigned char)*field : c))
			return false;
		field += c < 0 ? 1 : 4;
	}
	return !*dir;
}

static void copy_field(char *out, size_t size, const char *field)
{
	size_t n = strcspn(field, " \n");

	n = n < size ? n : size - 1;
	memcpy(out, field, n);
	out[n] = '\0';
}

/*
 * "36 35 98:0 /root /mount/point options optional... - type source options": where the fifth field is dir, copies the
 * third and the type. Optional fields are none or many, and none of them is a lone dash.
 */
static bool take_line(const char *line, const char *dir, struct mountinfo *m)
{
	enum { DEVICE = 2, POINT = 4 };
	const char *field[POINT + 1] = { line }, *type;

	for (int i = 1; i <= POINT; i++) {
		field[i] = strchr(field[i - 1], ' ');
		if (!field[i]++)
			return false;
	}
	type = strstr(field[POINT], " - ");
	if (!type || !field_is(field[POINT], dir))
		return false;
	copy_field(m->device, sizeof m->device, field[DEVICE]);
	copy_field(m->type, sizeof m->type, type + strlen(" - "));
	return true;
}

int mountinfo_find(const char *dir, struct mountinfo *m)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t room = 0;
	int err = -ENOENT;

	if (!f)
		return -errno;
	while (getline(&line, &room, f) > 0)
		if (take_line(line, dir, m))
			err = 0;
	free(line);
	fclose(f);
	return err;
}
