"""Small files that ask for much time or memory: refused in one error that names the file, soon and in little memory."""

import dataclasses
import json
import re
import resource
import shutil
import time
import warnings
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import tiny_models
from test_adapters_bad_input import BUILDERS

from encheck.encoders.checkpoints.trust import MAX_MATCH_STEPS, max_match_steps
from encheck.encoders.files import check_tokenizer_rules
from encheck.encoders.load import load_model
from encheck.encoders.model_config import Device
from encheck.errors import EncheckError, ModelError

pytestmark = pytest.mark.xdist_group("encoders")
SECONDS, MEGABYTES = 10.0, 400


NAMES = ("transformers", "sentence-transformers", "cross-encoder", "peft", "onnx", "model2vec")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder and the entry of each tiny model, built when it is asked for first."""

    @cache
    def built(name):
        folder = tmp_path_factory.mktemp(name)
        return folder, BUILDERS[name](folder)

    return built


@pytest.fixture
def copied(made, tmp_path):
    """A copy of a model's folder and its entry there."""

    def copy(name):
        folder, entry = made(name)
        copy = shutil.copytree(folder, tmp_path / "copy")
        for path in copy.rglob("adapter_config.json"):
            path.write_text(path.read_text().replace(str(folder), str(copy)))
        return dataclasses.replace(entry, name=entry.name.replace(str(folder), str(copy)))

    return copy


def used(entry):
    """What comes of a text, or of a pair, with the model of this entry."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = load_model(entry, device=Device("cpu"))
        if hasattr(model, "score_pairs"):
            return model.score_pairs(["the dog sings"], ["a cat"])
        return model.encode(["the dog sings " * 50])


# what is done to the files


def changed(file, **fields):
    return lambda own: tiny_models.change_json(own / file, **fields)


def dense(own):
    (own / "2_Dense").mkdir()
    kind = {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"}
    (own / "modules.json").write_text(json.dumps([*json.loads((own / "modules.json").read_text()), kind]))
    how = {"in_features": 16, "out_features": 10**8, "bias": True, "activation_function": "torch.nn.Tanh"}
    (own / "2_Dense/config.json").write_text(json.dumps(how))
    shutil.copy(own / "model.safetensors", own / "2_Dense/model.safetensors")


def torch_file(own):
    """The weights as torch.save has them, in the place of safetensors; of a model of one file, that."""
    import torch
    from safetensors.torch import load_file

    if (safe := own / "model.safetensors").exists():
        torch.save(load_file(safe), own / "pytorch_model.bin")
        safe.unlink()
    return next(p for p in sorted(own.iterdir()) if p.suffix in (".bin", ".pt"))


def deflated(own):
    """A member of zeros, packed to a thousandth."""
    path = torch_file(own)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        root = archive.namelist()[0].partition("/")[0]
        archive.writestr(f"{root}/data/999", bytes(10**7))


def overlapping(own):
    """Each member is listed a hundred times, at one place of the file."""
    path = torch_file(own)
    with zipfile.ZipFile(path, "a") as archive:
        for member in archive.infolist()[1:]:
            for i in range(100):
                other = zipfile.ZipInfo(f"{member.filename}{i}")
                for name in ("header_offset", "CRC", "compress_size", "file_size", "compress_type"):
                    setattr(other, name, getattr(member, name))
                archive.filelist.append(other)
        archive._didModify = True


def laughing(own):
    """A key of tuples of tuples, forty deep: hashing it takes 2 ** 40 steps."""
    tuples = b"".join(b"h%b\x86q%b" % (bytes([i]), bytes([i + 1])) for i in range(1, 41))
    path = torch_file(own)
    with zipfile.ZipFile(path) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in held.items():
            pickled = b"\x80\x02}q\x00(X\x01\x00\x00\x00aX\x01\x00\x00\x00b\x86q\x01" + tuples + b"K\x01u."
            archive.writestr(name, pickled if name.endswith("data.pkl") else data)


def tokenizer(change):
    def harm(own):
        path = next(own.rglob("tokenizer.json"))
        found = json.loads(path.read_text())
        change(found)
        path.write_text(json.dumps(found))

    return harm


def replaced(*rules):
    """A normaliser of these replacements, one after the other."""
    steps = [{"type": "Replace", "pattern": pattern, "content": content} for pattern, content in rules]
    return tokenizer(lambda found: found.update(normalizer={"type": "Sequence", "normalizers": steps}))


def charsmap(longest):
    """SentencePiece's table of characters: a trie without a node, and one text."""
    import base64

    return base64.b64encode((4).to_bytes(4, "little") + bytes(4) + b"x" * longest + b"\0").decode()


def precompiled(found):
    found["normalizer"] = {"type": "Precompiled", "precompiled_charsmap": charsmap(10**6)}


def template(found):
    found["post_processor"]["single"] = found["post_processor"]["single"][:1] * 10**5


ADAPTER = "adapter_config.json"
HARMS = {
    "a deflated member": ("transformers", deflated, "pytorch_model.bin unpacks to more bytes than it has .*compressed"),
    "members that overlap": ("transformers", overlapping, "pytorch_model.bin unpacks to more .*members overlap"),
    "tuples of tuples": ("transformers", laughing, "not a file of weights .*expand to more than 10,000,000"),
    "a billion labels": ("cross-encoder", changed("config.json", num_labels=10**9), "num_labels is more than 100,000"),
    "a billion labels of an encoder": ("transformers", changed("config.json", num_labels=10**9), "num_labels is more"),
    "labels that the head does not have": ("cross-encoder", changed("config.json", num_labels=10**5), "cross-encoder"),
    "a vocabulary": ("transformers", changed("config.json", vocab_size=10**9), "describes a model of more than"),
    "positions": ("sentence-transformers", changed("config.json", max_position_embeddings=10**8), "describes a model"),
    "a width": ("cross-encoder", changed("config.json", intermediate_size=10**8), "describes a model of more than"),
    "a Dense layer": ("sentence-transformers", dense, "describes a model of more than"),
    "a rank": ("peft", changed(ADAPTER, r=10**9), "adapter_config.json: r has 1,000,000,000, but its weights have"),
    "a rank of one module": ("peft", changed(ADAPTER, rank_pattern={"query": 10**8}), "rank_pattern has 100,000,000"),
    "a pattern": ("peft", changed(ADAPTER, target_modules=r"(.*a)*(.*b)*$"), "target_modules has the regular"),
    "a pattern of alternatives": ("peft", changed(ADAPTER, target_modules="(.|.)" * 40), "which could take very long"),
    "a pattern in a list": ("peft", changed(ADAPTER, modules_to_save=["(x+x+)+y"]), "modules_to_save has the regular"),
    "a pattern for a key": ("peft", changed(ADAPTER, rank_pattern={"(.+)+q": 4}), "rank_pattern has the regular"),
    "a pattern of layers": ("peft", changed(ADAPTER, layers_pattern="((l|a)+)+"), "layers_pattern has the regular"),
    "one replacement": ("transformers", replaced(({"String": "e"}, "e" * 10**5)), "normalizer can make more than 100"),
    "many replacements": ("onnx", replaced(*[({"String": "e"}, "ee")] * 30), "normalizer can make more than 100"),
    "a replacement of nothing": ("transformers", replaced(({"Regex": "x*"}, "e" * 200)), "its normalizer can make"),
    "replacements within the limit": ("cross-encoder", replaced(({"Regex": "\\w"}, " e" * 40)), r"makes [\d,]+ tokens"),
    "those of an .onnx": ("onnx", replaced(({"Regex": "[a-z]"}, " a" * 45)), r"makes [\d,]+ tokens of the 43"),
    "a table of characters": ("sentence-transformers", tokenizer(precompiled), "last by precompiled_charsmap"),
    "many tokens of a model2vec": ("model2vec", replaced(({"Regex": "[a-z]"}, " a" * 45)), r"makes [\d,]+ tokens"),
    "tokens around each text": ("transformers", tokenizer(template), "post_processor adds 100,000 tokens to each text"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "harm", "expected"), HARMS.values(), ids=HARMS.keys())
def test_a_small_file_that_asks_for_much_is_refused_soon_and_in_little_memory(copied, name, harm, expected):
    entry = copied(name)
    harm(Path(entry.name) if Path(entry.name).is_dir() else Path(entry.name).parent)
    started, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(EncheckError, match=expected) as caught:
        used(entry)
    assert str(Path(entry.name).parent) in str(caught.value)
    assert time.monotonic() - started < SECONDS
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MEGABYTES * 1024


@pytest.mark.parametrize("name", NAMES)
def test_the_same_models_unharmed_are_loaded(made, name):
    assert np.isfinite(used(made(name)[1])).all()


@pytest.mark.parametrize("target", [r".*\.(query|value)$", ".*attention.self.(query|value)"])
def test_plain_patterns_of_adapters_are_taken(copied, target):
    entry = copied("peft")
    tiny_models.change_json(Path(entry.name) / ADAPTER, target_modules=target)
    assert np.isfinite(used(entry)).all()


COSTLY = ["(a+)+$", "(.*)*", "(?:a|aa)+$", "(?=a)b", r"(a)\1", "a{1,99}", ".*.*.*.*.*q", "(.|.)" * 30, "a?" * 30]


@pytest.mark.parametrize("pattern", COSTLY)
def test_a_pattern_that_can_take_long_is_known_by_its_form(pattern):
    cost = max_match_steps(pattern)
    assert cost is None or cost > MAX_MATCH_STEPS


def test_a_pattern_that_is_taken_is_matched_at_once_with_every_name():
    taken = [".*.*.*q", r".*decoder.*(SelfAttention|EncDecAttention).*(q|v)$", "(.|.)(.|.).*.*z", "a?" * 8 + ".*b"]
    started = time.monotonic()
    for pattern in taken:
        assert max_match_steps(pattern) <= MAX_MATCH_STEPS
        re.fullmatch(pattern, "a" * 100 + "!")
    assert time.monotonic() - started < 1


KEPT = {
    "T5": [{"type": "Precompiled", "precompiled_charsmap": charsmap(33)}, ({"Regex": " {2,}"}, "\u2581")],
    "Llama": [{"type": "Prepend", "prepend": "\u2581"}, ({"String": " "}, "\u2581")],
    "quotes": [({"String": "``"}, '"'), ({"Regex": "[\u2018\u2019]"}, "'"), ({"String": "%"}, " percent ")],
}


@pytest.mark.parametrize("steps", KEPT.values(), ids=KEPT.keys())
def test_what_tokenizers_of_others_replace_is_taken(tmp_path, steps):
    rules = [
        step if isinstance(step, dict) else {"type": "Replace", "pattern": step[0], "content": step[1]}
        for step in steps
    ]
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({"normalizer": {"type": "Sequence", "normalizers": rules}}))
    check_tokenizer_rules(path)
    rules.append({"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "x" * 500}]})
    path.write_text(json.dumps({"normalizer": {"type": "Sequence", "normalizers": rules}}))
    with pytest.raises(ModelError, match="last by Prepend with"):
        check_tokenizer_rules(path)
