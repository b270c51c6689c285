/* SPDX-License-Identifier: MIT */
#include "readahead.h"
#include "mountinfo.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* The kernel takes the smaller of this and of what init says, so that it has to be set before requests are answered. */
int readahead_set(const char *dir, unsigned bytes)
{
	struct mountinfo m;
	char path[80], text[16];
	int n, fd, err = mountinfo_find(dir, &m);

	if (err)
		return err;
	snprintf(path, sizeof path, "/sys/class/bdi/%s/read_ahead_kb", m.device);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = snprintf(text, sizeof text, "%u", bytes >> 10);
	if (write(fd, text, (size_t)n) < 0)
		err = -errno;
	close(fd);
	return err;
}
