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

/* "36 35 98:0 /root /mount/point options": where the fifth field is dir, copies the third. */
static bool device_of_line(const char *line, const char *dir, char device[DEVICE_SIZE])
{
	const char *start[5] = { line };

	for (int i = 1; i < 5; i++) {
		start[i] = strchr(start[i - 1], ' ');
		if (!start[i]++)
			return false;
	}
	return field_is(start[4], dir) && snprintf(device, DEVICE_SIZE, "%.*s", (int)(start[3] - 1 - start[2]), start[2]) < DEVICE_SIZE;
}

int mountinfo_device(const char *dir, char device[DEVICE_SIZE])
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t room = 0;
	int err = -ENOENT;

	if (!f)
		return -errno;
	while (getline(&line, &room, f) > 0)
		if (device_of_line(line, dir, device))
			err = 0;
	free(line);
	fclose(f);
	return err;
}
