#!/usr/bin/env bash
# lavapipe (Mesa 22.3.6 with LLVM 15), the Vulkan device that runs on the processor: an invocation of a compute shader ends all its loops
# after 65 535 turns in all, without an error, and goes on behind them.
#
# Shaders of particle codes have long loops: a large grain with its many neighbours, two polyhedra with hundreds of edges each. On a graphics
# card they run to their end. On lavapipe, with which such codes test where there is no card, the rest of the turns is left out, and the
# results are wrong without a word. Turns of loops within loops count together. Seen: of 65 000 turns 65 000 are made, of 70 000 and of
# 10 x 100 000 there are 65 535, and of 1000 x 100, as the outer turns count as well, 64 251.
#
# Needs Python, and a Vulkan driver of Mesa (Debian and Ubuntu: mesa-vulkan-drivers).
set -euo pipefail
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv env
env/bin/pip install --quiet wgpu==0.32.0 numpy==2.4.6
cat > loops.py <<'PYTHON'
import numpy as np
import wgpu

SHADER = """
@group(0) @binding(0) var<storage, read> turns: array<u32>;
@group(0) @binding(1) var<storage, read_write> made: array<u32>;

@compute @workgroup_size(1)
fn main() {
    var count = 0u;
    for (var i = 0u; i < turns[0]; i++) {
        for (var j = 0u; j < turns[1]; j++) {
            count += 1u + (turns[2] & (i ^ j));
        }
    }
    made[0] = count;
}
"""
adapters = [one for one in wgpu.gpu.enumerate_adapters_sync() if "llvmpipe" in one.info["device"]]
assert adapters, "no lavapipe: install mesa-vulkan-drivers"
device = adapters[0].request_device_sync()
print(adapters[0].info["description"])
module = device.create_shader_module(code=SHADER)
pipeline = device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "main"})


def turns_made(outer, inner):
    usage = wgpu.BufferUsage
    wanted = device.create_buffer_with_data(data=np.array([outer, inner, 0], dtype=np.uint32), usage=usage.STORAGE)
    made = device.create_buffer(size=4, usage=usage.STORAGE | usage.COPY_SRC)
    entries = [
        {"binding": i, "resource": {"buffer": buffer, "offset": 0, "size": buffer.size}}
        for i, buffer in enumerate([wanted, made])
    ]
    group = device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries)
    encoder = device.create_command_encoder()
    work = encoder.begin_compute_pass()
    work.set_pipeline(pipeline)
    work.set_bind_group(0, group)
    work.dispatch_workgroups(1)
    work.end()
    device.queue.submit([encoder.finish()])
    return device.queue.read_buffer(made).cast("I")[0]


print(*(turns_made(*turns) for turns in [(1, 65_000), (1, 70_000), (10, 100_000), (1000, 100)]))
PYTHON
found=$(XDG_RUNTIME_DIR=$here env/bin/python loops.py 2> log | tee /dev/stderr | tail -n 1) || { cat log; exit 1; }
[ "$found" = "65000 65535 65535 64251" ] || { echo "the behaviour has changed" >&2; exit 1; }
