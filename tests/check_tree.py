# SPDX-License-Identifier: MIT
"""check_tree.py MOUNT MODEL: every raw is its slice of MODEL, every size is exact, metadata.json is metadata/."""
import json
import os
import re
import struct
import sys

UNESCAPE = re.compile(rb'\\(x[0-9a-f]{2}|.)')
KNOWN = {b'\\': b'\\', b'n': b'\n', b'r': b'\r', b't': b'\t'}


def read(*path):
    with open(os.path.join(*path), 'rb') as f:
        return f.read()


def check_raw(mount, model):
    with open(model, 'rb') as f, open(os.path.join(mount, 'tensors.tsv')) as table:
        for row in list(table)[1:]:
            name, kind, shape, _, size, _, offset = row.rstrip('\n').split('\t')
            f.seek(int(offset))
            raw = read(mount, 'tensors', name, 'raw')
            assert raw == f.read(int(size)), name
            assert read(mount, 'tensors', name, 'type').decode() == kind + '\n', name
            assert read(mount, 'tensors', name, 'shape').decode() == shape + '\n', name


def check_sizes(mount):
    for where, _, names in os.walk(mount):
        for name in names:
            path = os.path.join(where, name)
            if name != 'raw' and not os.path.islink(path):
                assert os.stat(path).st_size == len(read(path)), path


def item(line):
    return UNESCAPE.sub(lambda m: KNOWN.get(m[1]) or bytes([int(m[1][1:], 16)]), line)


def same(value, text, kind):
    if isinstance(value, str):
        return value.encode() == text.decode(errors='replace').encode()
    if isinstance(value, bool):
        return text == (b'true' if value else b'false')
    if 'f32' in kind and value is not None:
        # the text is of a float: it must come back from the single-precision value
        single = struct.unpack('f', struct.pack('f', float(text)))[0]
        return struct.unpack('f', struct.pack('f', value))[0] == single
    return value is None or float(text) == value or int(text) == value


def check_json(mount):
    values = json.loads(read(mount, 'metadata.json'))
    assert sorted(values) == sorted(os.listdir(os.path.join(mount, 'metadata')))
    for key, value in values.items():
        path = os.path.join(mount, 'metadata', key)
        text = read(path)
        kind = os.getxattr(path, 'user.gguf.type').decode()
        assert os.getxattr(path, 'user.gguf.name').decode() == key
        if not isinstance(value, list):
            assert same(value, text[:-1], kind), key
            continue
        lines = text.split(b'\n')[:-1]
        assert len(lines) == len(value), key
        for v, line in zip(value, lines):
            assert same(v, item(line), kind), (key, v, line)


check_raw(sys.argv[1], sys.argv[2])
check_sizes(sys.argv[1])
check_json(sys.argv[1])
