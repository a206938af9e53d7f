"""Files of networks that are none, or mean harm: refused in one line, and nothing of size is reserved for them."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from klss.support.inference import MOST_BYTES, Network, NetworkError

onnx = pytest.importorskip("onnx")
ROOT = Path(__file__).resolve().parents[2]
X, Y = {"x": (1, 4)}, {"y": (1, 4)}
MOST_MIB = 400
"""What a refused file may add to the process's memory, with the limit of ``inference`` itself."""


def array(name: str, *numbers: float, kind: str = "float32") -> Any:
    return onnx.numpy_helper.from_array(np.array(numbers, dtype=kind), name)


def model(*nodes: tuple[Any, ...], weights: Any = (), sparse: Any = (), **more: Any) -> Any:
    """A file with the nodes (operator, inputs, output, attributes)."""
    helper = onnx.helper
    made = [helper.make_node(each[0], each[1].split(), [each[2]], **dict(*each[3:])) for each in nodes]
    ends = [[helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 4])] for name in ("x", "y")]
    graph = helper.make_graph(made, "g", *ends, weights, sparse_initializer=sparse)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, **more)


def external() -> Any:
    """Weights in another file, which exists."""
    held = onnx.TensorProto(name="w", data_type=onnx.TensorProto.FLOAT, dims=[1, 4])
    held.data_location = onnx.TensorProto.EXTERNAL
    held.external_data.add(key="location", value="secret")
    return model(("Add", "x w", "y"), weights=[held])


def sparse() -> Any:
    """A number of 400 million zeros."""
    values, at = array("w", 1.0), array("at", 0, kind="int64")
    held = onnx.helper.make_sparse_tensor(values, at, [400_000_000])
    return model(("ReduceMax", "w", "m", {"keepdims": 0}), ("Add", "x m", "y"), sparse=[held])


def expanded() -> Any:
    """One number, a billion times."""
    held = [array("w", 1.0), array("times", 1_000_000_000, kind="int64")]
    nodes = (("Expand", "w times", "e"), ("ReduceMax", "e", "m", {"keepdims": 0}), ("Add", "x m", "y"))
    return model(*nodes, weights=held)


def inside() -> Any:
    """A graph in a graph."""
    body = onnx.helper.make_graph(
        [onnx.helper.make_node("Identity", ["x"], ["z"])], "b", [],
        [onnx.helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, [1, 4])],
    )  # fmt: skip
    branches = {"then_branch": body, "else_branch": body}
    return model(("If", "c", "y", branches), weights=[array("c", True, kind="bool")])


def constant() -> Any:
    return model(("Constant", "", "w", {"value": array("w", 1.0)}), ("Add", "x w", "y"))


def function() -> Any:
    made = onnx.helper.make_function(
        "own", "F", ["a"], ["b"], [onnx.helper.make_node("Relu", ["a"], ["b"])], [onnx.helper.make_opsetid("", 17)]
    )
    return model(("Relu", "x", "y"), functions=[made])


GOOD = model(("Relu", "x", "y")).SerializeToString()
BAD = {
    "weights in another file": external().SerializeToString(),
    "few numbers that are many": sparse().SerializeToString(),
    "a layer that grows": expanded().SerializeToString(),
    "a graph inside": inside().SerializeToString(),
    "weights in a node": constant().SerializeToString(),
    "a function": function().SerializeToString(),
    "an unknown operator": model(("Own", "x", "y")).SerializeToString(),
    "numbers that are none": model(("Add", "x w", "y"), weights=[array("w", np.nan)]).SerializeToString(),
    "numbers promised": GOOD[:-2] + b"\x2a\x0a\x08\x80\xd0\xdb\xc3\xf4\x02\x10\x01\x42\x01",
    "too large": GOOD + bytes(MOST_BYTES),
    "torn": GOOD[:-9],
    "a length without end": b"\x3a" + b"\xff" * 99,
    "another format of onnxruntime": b"\x18\0\0\0ORTM" + bytes(99),
    "nothing": b"",
}


@pytest.mark.parametrize("content", BAD.values(), ids=list(BAD))
def test_what_is_no_plain_network_is_refused_in_one_line_and_nothing_is_reserved(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("secret").write_bytes(np.ones(4, dtype=np.float32).tobytes())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(NetworkError, match="bad network: ") as refused:
        Network(content, X, Y)
    assert "\n" not in str(refused.value)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MOST_MIB << 10
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("inputs", "outputs"), [({"x": (1, 5)}, Y), ({"z": (1, 4)}, Y), (X, {"y": (2, 4)})])
def test_a_network_for_something_else_is_refused(inputs: dict[str, Any], outputs: dict[str, Any]) -> None:
    with pytest.raises(NetworkError, match="got one with"):
        Network(GOOD, inputs, outputs)


def test_a_byte_that_changes_is_refused_or_read_and_nothing_else_happens() -> None:
    changed = np.random.default_rng(1)
    for place in range(len(GOOD)):
        content = bytearray(GOOD)
        content[place] = changed.integers(256)
        try:
            Network(bytes(content), X, Y)
        except NetworkError as refused:
            assert "\n" not in str(refused)


def test_nothing_is_reported_or_written_and_no_thread_is_started(tmp_path: Path) -> None:
    """onnxruntime's own packages report what they run, unless they are told not to before they are imported."""
    (tmp_path / "good.onnx").write_bytes(GOOD)
    program = """
import os, pathlib
from klss.support.inference import Network
before = len(os.listdir("/proc/self/task"))
Network(pathlib.Path("good.onnx").read_bytes(), {"x": (1, 4)}, {"y": (1, 4)})
assert len(os.listdir("/proc/self/task")) == before
"""
    # Without CI, in which it reports nothing anyway.
    environment = {"HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environment, check=True)
    assert [path.name for path in tmp_path.rglob("*")] == ["good.onnx"]
