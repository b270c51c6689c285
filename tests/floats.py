# SPDX-License-Identifier: MIT
"""floats.py MOUNT.GGUF: prints TAP; $tmp/m is where to mount, $shared has vectors and models."""
import glob
import json
import os
import random
import struct
import subprocess
import sys

import numpy as np

MOUNT, TMP, SHARED = sys.argv[1], os.environ['tmp'], os.environ['shared']
M = TMP + '/m'
count = failed = 0


def ok(good, what):
    global count, failed
    count += 1
    failed += not good
    print('%sok %d - %s' % ('' if good else 'not ', count, what), flush=True)


def mount(path):
    subprocess.run([MOUNT, path, M], check=True)


def unmount():
    subprocess.run(['fusermount3', '-u', M], check=True)


def content(path):
    with open(path, 'rb') as f:
        return f.read()


def string(s):
    return struct.pack('<Q', len(s)) + s.encode()


def write_gguf(path, tensors):
    """tensors: (name, type, extents, bytes)"""
    head = b'GGUF' + struct.pack('<IQQ', 3, len(tensors), 1)
    head += string('general.architecture') + struct.pack('<I', 8) + string('none')
    data = b''
    for name, kind, extents, raw in tensors:
        data += bytes(-len(data) % 32)
        head += string(name) + struct.pack('<I', len(extents)) + struct.pack('<%dQ' % len(extents), *extents)
        head += struct.pack('<IQ', kind, len(data))
        data += raw
    with open(path, 'wb') as f:
        f.write(head + bytes(-len(head) % 32) + data + bytes(-len(data) % 32))


def same(a, b):
    """Bit for bit, NaN as a class."""
    return a.shape == b.shape and bool(np.all((a.view(np.uint32) == b.view(np.uint32)) | (np.isnan(a) & np.isnan(b))))


def check_any_place(path, want, what):
    rng, good = random.Random(what), True
    with open(path, 'rb') as f:
        for _ in range(60):
            at, n = rng.randrange(len(want) + 1), rng.randrange(1, 5000)
            good = good and os.pread(f.fileno(), n, at) == want[at:at + n]
    ok(good, what + ': reads at any place')


def check_tensor(where, want, name):
    """want has the shape as NumPy has it, rows first."""
    with np.errstate(over='ignore', invalid='ignore'):
        half = want.astype('<f2')
    got = np.load(where + '/f32.npy', mmap_mode='r')
    ok(got.dtype == np.dtype('<f4') and same(np.array(got), want), name + ': f32.npy')
    flat = np.frombuffer(content(where + '/f32'), '<f4')
    ok(same(flat, want.reshape(-1)) and os.path.getsize(where + '/f32') == want.size * 4, name + ': f32')
    narrow = np.frombuffer(content(where + '/f16'), '<f2').reshape(want.shape)
    ok(bool(np.all((narrow.view(np.uint16) == half.view(np.uint16)) | (np.isnan(narrow) & np.isnan(half)))),
       name + ': f16 as NumPy rounds')
    wide = (np.frombuffer(content(where + '/bf16'), '<u2').astype(np.uint32) << 16).view('<f4').reshape(want.shape)
    with np.errstate(over='ignore', invalid='ignore'):
        near = np.abs(wide.astype('f8') - want.astype('f8')) <= np.abs(want.astype('f8')) * 2.0 ** -8 + 1e-40
    ok(bool(np.all(near | (np.isnan(wide) & np.isnan(want)) | (wide == want) | (np.abs(want) > 3.38e38))), name + ': bf16')


def check_stats(where, name):
    lines = content(where + '/stats').decode().splitlines()
    got = dict(line.split() for line in lines[:-1])
    v = np.fromfile(where + '/f32', '<f4').astype('f8')
    f = v[np.isfinite(v)]
    want = {'values': v.size, 'min': f.min(), 'max': f.max(), 'mean': f.mean(), 'std': f.std(),
            'zeros': np.sum(v == 0), 'nan': np.sum(np.isnan(v)), 'inf': np.sum(np.isinf(v))}
    spread = np.abs(f).max()
    ok(all(abs(float(got[k]) - float(w)) <= 1e-6 * max(abs(float(w)), spread if k == 'mean' else 0)
           for k, w in want.items()), name + ': stats')
    width = f.max() - f.min()
    place = ((f - f.min()) * (64 / width if width else 0)).astype(int)
    bins = np.bincount(np.minimum(place, 63), minlength=64)
    want = ''.join(' ▁▂▃▄▅▆▇█'[1 + int(7 * (n / bins.max())) if n else 0] for n in bins)
    ok(lines[-1].replace('\u2003', ' ') == want, name + ': histogram')


def vectors():
    tensors, wanted = [], {}
    base = SHARED + '/vectors/dequant/'
    for entry in json.load(open(base + 'index.json')):
        for kind, files in entry['files'].items():
            name = '%s.%s' % (entry['name'], kind)
            if not os.path.exists(base + files['raw']):
                continue
            want = np.fromfile(base + files['f32'], '<f4').reshape(files['rows'], files['cols'])
            tensors.append((name, entry['type'], (files['cols'], files['rows']), content(base + files['raw'])))
            wanted[name] = want
    tensors.append(('unknown', 60, (64, 2), bytes(128)))
    write_gguf(TMP + '/vectors.gguf', tensors)
    mount(TMP + '/vectors.gguf')
    for name, want in wanted.items():
        check_tensor('%s/tensors/%s' % (M, name), want, name)
        if np.isfinite(want).all():
            check_any_place('%s/tensors/%s/f32' % (M, name), want.astype('<f4').tobytes(), name)
            check_stats('%s/tensors/%s' % (M, name), name)
    there = os.listdir(M + '/tensors/unknown')
    ok('raw' in there and not {'f32', 'f16', 'bf16', 'f32.npy', 'stats', 'heatmap.png'} & set(there),
       'a type without a decoder has raw only')
    unmount()


def models():
    for path in sorted(glob.glob(SHARED + '/models/stories/*.gguf')):
        mount(path)
        bad, seen = [], 0
        for where in sorted(glob.glob(M + '/tensors/*')):
            shape = tuple(int(n) for n in reversed(content(where + '/shape').split()))
            a = np.load(where + '/f32.npy', mmap_mode='r')
            size = sum(os.path.getsize(where + '/' + f) for f in ('f32', 'f16', 'bf16'))
            if a.shape != shape or a.tobytes() != content(where + '/f32') or size != 8 * a.size:
                bad.append(where)
            seen += 1
            del a  # a mapped file keeps the mount busy
        ok(seen and not bad, '%s: %d tensors load %s' % (os.path.basename(path), seen, ' '.join(bad)))
        check_stats(M + '/tensors/token_embd.weight', os.path.basename(path))
        unmount()


def chart():
    import xml.dom.minidom
    mount(SHARED + '/models/stories/stories260K-pad256-Q4_K_M.gguf')
    text = content(M + '/types.svg')
    names = [t.firstChild.data for t in xml.dom.minidom.parseString(text).getElementsByTagName('text')]
    ok({'F32', 'Q4_K', 'Q6_K', 'layer 0', 'layer 4', 'other'} <= set(names) and len(text) == os.path.getsize(
        M + '/types.svg'), 'types.svg is XML with types and layers')
    picture = content(M + '/tensors/token_embd.weight/heatmap.png') if os.path.exists(
        M + '/tensors/token_embd.weight/heatmap.png') else None
    if picture is None:
        print('ok %d - heatmap.png # SKIP built without libpng' % (count + 1))
    else:
        ok(picture[:8] == b'\x89PNG\r\n\x1a\n' and struct.unpack('>II', picture[16:24]) == (256, 512), 'heatmap.png')
    unmount()
    return picture is None


vectors()
models()
count += chart()
print('1..%d' % count)
sys.exit(failed > 0)
