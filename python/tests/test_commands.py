# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""What the program does: networks, accelerators, scenario files."""

import os
import pathlib
import subprocess
import sys
import threading

import pytest

import bayloom

pytestmark = pytest.mark.usefixtures("bayloom_program")


@pytest.fixture
def network():
    """The file "small.onnx", and a function that computes the same."""
    pytest.importorskip("onnx")
    import small_network
    return small_network.write("small.onnx")


@pytest.fixture
def image():
    numpy = pytest.importorskip("numpy")
    return numpy.random.default_rng(2).standard_normal((4, 24)).astype("float32")


def close(a, b):
    import numpy
    return numpy.allclose(a, b, rtol=1e-4, atol=1e-5)


def test_tunes_compiles_and_runs(network, image):
    seen = []
    result = bayloom.tune("small.onnx", trials=8, threads=1, db="small.db",
                          callbacks=[seen.append])
    assert result.trials == 8 and result.end == "trials"
    assert [trial["number"] for trial in seen] == list(range(8))
    assert any(trial["value"] and trial["value"] > 0 for trial in seen)
    kept = bayloom.open("small.db")
    assert [r["kind"] for r in kept.run_records()] == ["tune"]
    assert [t["value"] for t in kept.trial_records()] == [t["value"] for t in seen]
    library = bayloom.compile("small.onnx", "lib", db="small.db", threads=1)
    loaded = bayloom.load(library)
    active, sums = loaded(image)
    assert close(active, network(image)[0]) and close(sums, network(image)[1])


def test_small_programs_are_chosen_from_a_front(network):
    result = bayloom.tune("small.onnx", trials=12, threads=1, db="front.db",
                          objective="latency,size")
    assert result.front == sorted(result.front, key=lambda values: values["latency"])
    assert os.path.exists(bayloom.compile("small.onnx", "lib", db="front.db", threads=1,
                                          prefer="size", max_slowdown=0.5))
    with pytest.raises(bayloom.InputError, match="the smallest programs have"):
        bayloom.compile("small.onnx", "lib", db="front.db", threads=1, max_size=10)


def test_a_tuning_begins_with_what_earlier_ones_measured(monkeypatch):
    def tune(op, trials, **options):
        return bayloom.tune(op=op, trials=trials, threads=1, seed=1, db="prior.db", **options)

    monkeypatch.setenv("BAYLOOM_STORE", os.path.abspath("programs.db"))
    assert tune("matmul:48,48,48", 120, learn_from="store").prior == {}  # nothing was measured before
    prior = tune("matmul:64,32,64", 2, learn_from="store").prior
    assert prior["tasks"] == 1 and prior["trials"] >= 100
    assert tune("matmul:64,64,32", 2).prior == {}


def test_regions_are_one_task_or_several():
    pytest.importorskip("onnx")
    import small_network
    small_network.write_separable("separable.onnx")
    tuned = bayloom.tune("separable.onnx", trials=6, threads=1, seed=1, divisions="none")
    assert len(tuned.tasks) == 2 and "regions" not in tuned.gain
    assert os.path.exists(bayloom.compile("separable.onnx", "lib", threads=1, divisions="none"))
    with pytest.raises(bayloom.InputError, match="^divisions: "):
        bayloom.tune("separable.onnx", trials=1, divisions="some")


def test_says_why_a_program_is_fast():
    import doctest
    from bayloom import database
    for test in doctest.DocTestFinder().find(database.Database.explain, "explain",
                                             globs={"bayloom": bayloom}):
        result = doctest.DocTestRunner().run(test)
        assert result.attempted > 0 and result.failed == 0
    kept = bayloom.open("why.db")
    [task], [name] = kept.tasks().keys(), kept.tasks().values()
    assert "64" in name
    why = kept.explain(task, threads=1)
    assert {"techniques", "decisions", "beside_default", "sentences"} <= why.keys()
    with pytest.raises(bayloom.InputError, match=f"has no task {task + 1}"):
        kept.explain(task + 1)


def test_callbacks_can_stop_a_tuning(network):
    seen = []

    def callback(trial):
        seen.append(trial)
        raise bayloom.Stopped

    result = bayloom.tune("small.onnx", trials=100000, threads=1, callbacks=[callback])
    assert result.end == "stopped" and 0 < result.trials < 100000
    resumed = bayloom.tune("small.onnx", trials=result.trials + 2, threads=1, resume=True)
    assert resumed.trials == result.trials + 2


def test_arrays_of_every_kind(network, image):
    import numpy
    small = bayloom.load(bayloom.compile("small.onnx", effort="none"))
    assert [str(t) for t in small.inputs] == ["'image', float32[4, 24]"]
    assert [(t.name, t.shape) for t in small.outputs] == [("active", (4, 32)), ("sums", (4,))]
    active, _ = small(image=image)
    assert close(active, network(image)[0])
    assert active.ctypes.data % 64 == 0
    # Not contiguous, unaligned, read only, of another library.
    wide = numpy.zeros((4, 48), "float32")
    wide[:, ::2] = image
    unaligned = numpy.zeros(4 * 96 + 1, "uint8")[1:].view("float32").reshape(4, 24)
    unaligned[:] = image
    frozen = image.copy()
    frozen.flags.writeable = False

    class Exporter:
        def __dlpack__(self, **options):
            return image.__dlpack__(**options)

        def __dlpack_device__(self):
            return image.__dlpack_device__()

    for same in (wide[:, ::2], unaligned, frozen, Exporter()):
        assert close(small(same)[0], active)
    out = [numpy.empty((4, 32), "float32"), numpy.empty(4, "float32")]
    assert small(image, out=out)[0] is out[0] and close(out[1], network(image)[1])


def test_a_library_that_was_compiled_again_is_loaded_again(network, image):
    import small_network
    first = bayloom.load(bayloom.compile("small.onnx", effort="none"))
    small_network.write("small.onnx", batch=2)
    again = bayloom.load(bayloom.compile("small.onnx", effort="none"))
    assert (first.inputs[0].shape, again.inputs[0].shape) == ((4, 24), (2, 24))
    assert close(first(image)[0][:2], again(image[:2].copy())[0])


def test_wrong_arrays_are_refused(network, image):
    small = bayloom.load(bayloom.compile("small.onnx", effort="none"))
    with pytest.raises(bayloom.InputError, match=r"takes 'image', float32\[4, 24\]; not float64"):
        small(image.astype("float64"))
    with pytest.raises(bayloom.InputError, match=r"not float32\[2, 24\]"):
        small(image[:2])
    with pytest.raises(bayloom.InputError, match="takes 1 inputs"):
        small(image, image)
    with pytest.raises(bayloom.InputError, match="takes 1 inputs"):
        small(picture=image)
    with pytest.raises(bayloom.InputError, match="contiguous, writable"):
        small(image, out=[image, image])
    pathlib.Path("libother.so").write_bytes(b"no library")
    with pytest.raises(bayloom.InputError, match="no library of 'bayloom compile'"):
        bayloom.load("libother.so")


def test_tensors_of_torch(network, image):
    torch = pytest.importorskip("torch")
    small = bayloom.load(bayloom.compile("small.onnx", effort="none"))
    active, sums = small(torch.from_numpy(image).requires_grad_())
    assert isinstance(active, torch.Tensor) and close(sums.numpy(), network(image)[1])


def test_models_run_from_several_threads(network, image):
    small = bayloom.load(bayloom.compile("small.onnx", effort="none"), threads=1)
    wrong = []

    def run(scale):
        for _ in range(50):
            if not close(small(image * scale)[0], network(image * scale)[0]):
                wrong.append(scale)

    threads = [threading.Thread(target=run, args=(scale,)) for scale in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_sessions_are_as_those_of_onnxruntime(network, image):
    session = bayloom.Session("small.onnx", providers=["CPUExecutionProvider"], effort="none")
    assert [(a.name, a.shape, a.type) for a in session.get_inputs()] == [
        ("image", [4, 24], "tensor(float)")]
    sums, active = session.run(["sums", "active"], {"image": image})
    assert close(sums, network(image)[1]) and close(active, network(image)[0])
    assert len(session.run(None, {"image": image})) == 2
    with pytest.raises(bayloom.InputError, match="no output 'none'"):
        session.run(["none"], {"image": image})


def test_several_sizes(image):
    pytest.importorskip("onnx")
    import small_network
    expected = small_network.write("open.onnx", batch="n")
    session = bayloom.Session("open.onnx", dims={"n": [2, 4]}, effort="none")
    for rows in (2, 4):
        assert close(session.run(["sums"], {"image": image[:rows]})[0], expected(image[:rows])[1])


def test_open_sizes(image):
    pytest.importorskip("onnx")
    import numpy
    import small_network
    expected = small_network.write("open.onnx", batch="n")
    network = bayloom.load(bayloom.compile("open.onnx", dims={"n": "1..4"}, effort="none"))
    assert network.inputs[0].shape == ("n", 24) and network.inputs[0].largest == (4, 24)
    for rows in (4, 1, 3):
        active, sums = network(image[:rows])
        assert active.shape == (rows, 32) and sums.shape == (rows,)
        assert close(active, expected(image[:rows])[0]) and close(sums, expected(image[:rows])[1])
    out = [numpy.empty((2, 32), "float32"), numpy.empty(2, "float32")]
    network(image[:2], out=out)
    assert close(out[1], expected(image[:2])[1])
    with pytest.raises(bayloom.InputError, match="n=1..4"):
        network(numpy.zeros((5, 24), "float32"))
    with pytest.raises(bayloom.MachineError, match="sizes"):
        network(image, out=out)


def test_lengths_that_are_found():
    """A detector gives as many boxes as it selects: by its definition, of each class the best ones
    that overlap none taken before."""
    pytest.importorskip("onnx")
    import numpy
    import small_network
    small_network.write_detector("detector.onnx")
    session = bayloom.Session("detector.onnx", dims={"n": "2..20"}, effort="none")
    assert session.get_outputs()[0].shape == ["selected", 4]
    few = bayloom.Session("detector.onnx", dims={"n": "2..20"}, bounds={"selected": 2}, effort="none")

    def overlap(a, b):
        low, high = numpy.maximum(a[:2], b[:2]), numpy.minimum(a[2:], b[2:])
        shared = numpy.prod(numpy.maximum(high - low, 0))
        return shared / (numpy.prod(a[2:] - a[:2]) + numpy.prod(b[2:] - b[:2]) - shared)

    random = numpy.random.default_rng(3)
    counts = set()
    for n, scale in [(2, 0.1), (20, 1), (7, 1), (12, 0.5), (3, 1)]:
        corners = random.random((1, n, 2))
        boxes = numpy.concatenate([corners, corners + 0.3], axis=2).astype("float32")
        scores = (random.random((1, 2, n)) * scale).astype("float32")
        taken = []
        for label in range(2):
            own = []
            for i in sorted(range(n), key=lambda i: -scores[0, label, i]):
                free = all(overlap(boxes[0, i], boxes[0, j]) <= 0.4 for j in own)
                if scores[0, label, i] > 0.3 and free and len(own) < 6:
                    own.append(i)
            taken += [(label, i) for i in own]
        kept, kept_scores = session.run(None, {"boxes": boxes, "scores": scores})
        assert kept.shape == (len(taken), 4) and kept_scores.shape == (len(taken),)
        assert all((kept[k] == boxes[0, i]).all() for k, (_, i) in enumerate(taken))
        assert [float(scores[0, label, i]) for label, i in taken] == kept_scores.tolist()
        counts.add(len(taken))
        if len(taken) > 2:
            with pytest.raises(bayloom.MachineError, match="selected is at most 2"):
                few.run(None, {"boxes": boxes, "scores": scores})
    assert 0 in counts and len(counts) > 2


def test_sizes_with_code_of_their_own_beside_open_ones(image):
    pytest.importorskip("onnx")
    import numpy
    import small_network
    expected = small_network.write("open.onnx", batch="n")
    network = bayloom.load(bayloom.compile("open.onnx", dims={"n": ["1..4", 4, 1]}, effort="none"))
    assert [inputs[0].shape[0] for inputs, _ in network.shapes] == [4, 1, "n"]
    for rows in (1, 2, 3, 4):
        out = [numpy.empty((rows, 32), "float32"), numpy.empty(rows, "float32")]
        for results in (network(image[:rows]), network(image[:rows], out=out)):
            assert all(map(close, results, expected(image[:rows])))


@pytest.mark.parametrize("order", ["before", "after"])
@pytest.mark.parametrize("other", ["torch", "onnxruntime"])
def test_lives_in_one_process_with_others(network, other, order):
    pytest.importorskip(other)
    bayloom.compile("small.onnx", effort="none")
    imports = ["import " + other, "import bayloom, bayloom.compiled"]
    script = "\n".join([*(imports if order == "before" else imports[::-1]), """
import numpy
image = numpy.random.default_rng(2).standard_normal((4, 24)).astype("float32")
mine = bayloom.load("libsmall.so")(image)
study = bayloom.Study({"x": bayloom.Real(0, 1)}, storage="o.db")
study.optimize(lambda t: t["x"], n_trials=20)
""", {"torch": """
assert torch.nn.Linear(24, 8)(torch.from_numpy(image)).shape == (4, 8)
assert torch.allclose(bayloom.load("libsmall.so")(torch.from_numpy(image))[0],
                      torch.from_numpy(mine[0]))
""", "onnxruntime": """
theirs = onnxruntime.InferenceSession("small.onnx").run(None, {"image": image})
assert all(numpy.allclose(a, b, rtol=1e-4, atol=1e-5) for a, b in zip(mine, theirs))
"""}[other]])
    subprocess.run([sys.executable, "-c", script], check=True)


def test_errors_are_the_programs(network):
    with pytest.raises(bayloom.InputError, match="missing.onnx"):
        bayloom.compile("missing.onnx")
    with pytest.raises(bayloom.InputError, match="trials"):
        bayloom.tune("small.onnx", trials=0)


def test_a_signal_that_ends_the_program_is_named(monkeypatch, tmp_path):
    program = tmp_path / "bayloom"
    program.write_text("#!/bin/sh\necho '3 of 14 tasks tuned' >&2\nkill -KILL $$\n")
    program.chmod(0o755)
    monkeypatch.setenv("BAYLOOM_PROGRAM", str(program))
    with pytest.raises(bayloom.CommandFailed, match="'bayloom compile' was ended by SIGKILL"):
        bayloom.compile("small.onnx")


def test_maps_operations():
    result = bayloom.map("matmul:64,64,64", "gemmini", evaluations=300, seed=1, db="m.db")
    again = bayloom.map("matmul:64,64,64", "gemmini", evaluations=300, seed=1)
    assert result.evaluations == 300 and result.value == again.value > 0
    assert result.mapping == again.mapping
    assert result.statistics["cycles"] >= 64 ** 3 / 256
    assert [level["name"] for level in result.mapping["levels"]][-1] == "DRAM"
    values = [value for _, value in result.improvements]
    assert values == sorted(values, reverse=True) and values[-1] == result.value
    kept = bayloom.open("m.db").trial_records()
    assert 0 < len(kept) <= 300  # a mapping that was drawn twice is kept once
    assert min(t["value"] for t in kept if t["value"]) == result.value
    pandas = pytest.importorskip("pandas")
    frame = result.frame()
    assert isinstance(frame, pandas.DataFrame)
    total = frame["energy_pj"].sum()
    assert total == pytest.approx(result.statistics["energy_pj"], rel=0.3)
    with pytest.raises(bayloom.InputError, match="gemini"):
        bayloom.map("matmul:64,64,64", "gemini")


def test_maps_networks(network):
    result = bayloom.map("small.onnx", "eyeriss-like", evaluations=100, objective="edp")
    assert len(result.layers) >= 1 and result.totals["cycles"] > 0
    if len(result.layers) > 1:
        with pytest.raises(ValueError, match="layers"):
            result.mapping


def test_searches_scenario_files():
    pathlib.Path("s.yaml").write_text("""
name: s
parameters: {a: {type: integer, range: [1, 20]}}
evaluator: {shell: "test {a} -ne 7 && echo {a}"}
""")
    seen = []
    result = bayloom.search("s.yaml", trials=20, seed=1, callbacks=[seen.append])
    assert result.best_params == {"a": 1} and result.best_value == 1
    assert sorted(t["params"]["a"] for t in result.trials) == list(range(1, 21))
    assert sum(t["verdict"] != "ok" for t in result.trials) == 1
    assert len(seen) == 20


def test_callbacks_get_what_is_new_in_a_shared_database():
    """Also of a search that is not the last in there."""
    def search(name, **options):
        pathlib.Path("s.yaml").write_text(f"""
name: {name}
parameters: {{a: {{type: integer, range: [1, 50]}}}}
evaluator: {{shell: "echo {{a}}"}}
""")
        seen = []
        result = bayloom.search("s.yaml", db="shared.db", callbacks=[seen.append], **options)
        return [trial["run"] for trial in seen], result

    assert search("first", trials=3)[0] == [1] * 3
    assert search("second", trials=4)[0] == [2] * 4
    runs, result = search("first", trials=8, resume=True)
    assert runs == [1] * 5 and len(result.trials) == 8


def test_is_a_program_too():
    said = subprocess.run([sys.executable, "-m", "bayloom", "--version"], check=True,
                          capture_output=True, text=True).stdout
    assert bayloom.__version__ in said
    assert os.access(bayloom.program.executable(), os.X_OK)
