"""LASER1, LASER2 and LASER3 from the published encoder, its pieces and its vocabulary, without fairseq.

LASER1 and LASER2 are five layers of bidirectional LSTM, LASER3 is a transformer; all take the maximum over tokens
(Artetxe and Schwenk 2019; Heffernan, Celebi and Schwenk 2022). LASER1 differs from LASER2 in its input: words from
Moses' tokenizer, lower-cased and split by byte-pair encoding, where the others use SentencePiece. All text follows the
rules for English: unlike LASER1's own scripts, this does not romanise Greek or segment Chinese and Japanese.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.base import LocalEncoder
from encheck.encoders.batching import TOKENS_PER_BATCH, batch_equal_lengths, pick_devices, run_on_replicas
from encheck.encoders.files import CUT_OFF, check_weights_file, require_file
from encheck.encoders.model_config import ModelConfig
from encheck.encoders.protocol import Batch
from encheck.errors import EncoderError
from encheck.system.files import expand_home
from encheck.types import Json
from encheck_papers.laser.bpe import Bpe
from encheck_papers.laser.transformer import PUBLISHED, laser3
from encheck_papers.recurrent import lstm_of, max_over_time, read_state

if TYPE_CHECKING:
    from encheck.encoders.model_config import Device

BOS, PAD, EOS, UNKNOWN = 0, 1, 2, 3  # fairseq's
SPECIAL = {"<s>": BOS, "<pad>": PAD, "</s>": EOS, "<unk>": UNKNOWN}
BELONG = "they do not belong together. Remedy: its own .spm and .cvocab, or .fcodes and .fvocab for LASER1"
PUBLISHED_FIRST = "Remedy: 93langs.fcodes and 93langs.fvocab as published"
Run = Callable[[list[list[int]]], NDArray[np.float32]]


class LaserEncoder(LocalEncoder):
    """laser2.pt or laser3-*.pt; options `spm` and `vocabulary`, by default the .spm and .cvocab in its folder.

    LASER1 is bilstm.*.pt, or a file with the option `codes`: `codes` and `vocabulary` are the .fcodes and .fvocab in
    its folder.
    """

    engine = "laser-1"
    libraries = ("torch", "sacremoses", "sentencepiece")

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(source, config, device=device, file_hash=file_hash)
        check_weights_file(require_file(source, "the encoder", "Remedy: say where it is: --model-arg name=PATH"))
        self.is_first = "codes" in config.options or ("spm" not in config.options and source.name.startswith("bilstm"))
        self.spm = self._beside("codes", ".fcodes") if self.is_first else self._beside("spm", ".spm")
        what, option = ("the file of BPE codes", "codes") if self.is_first else ("the SentencePiece model", "spm")
        require_file(self.spm, what, f"Remedy: say where it is: --model-arg {option}=PATH")
        self.vocabulary_file = self._beside("vocabulary", ".fvocab" if self.is_first else ".cvocab")
        if self.is_first:
            require_file(self.vocabulary_file, "the vocabulary", "Remedy: say where it is: --model-arg vocabulary=PATH")

    def _beside(self, option: str, suffix: str) -> Path:
        """The file that the option names, else in the encoder's folder the one of the same name, or the only one."""
        if named := self.config.options.get(option):
            return expand_home(named)
        found = sorted(self.source.parent.glob(f"*{suffix}"))
        return found[0] if len(found) == 1 else self.source.with_suffix(suffix)

    def fingerprint_files(self) -> Mapping[str, Path]:
        """Encoder, SentencePiece model or BPE codes, and vocabulary."""
        files = {
            "encoder": self.source,
            "codes" if self.is_first else "spm": self.spm,
            "vocabulary": self.vocabulary_file,
        }
        return {name: path for name, path in files.items() if path.exists()}

    def fingerprint_settings(self) -> list[str]:
        """The maximum length."""
        return [str(self.config.max_length)]

    def about(self) -> dict[str, Json]:
        """Adds the pooling."""
        return {"pooling": "max"}

    @cached_property
    def _state(self) -> Mapping[str, Any]:
        state = read_state(self.source)
        if not isinstance(state, dict) or "model" not in state:
            raise EncoderError(f"{self.source} has no `model`: it is not a LASER encoder. {PUBLISHED}")
        return state

    @cached_property
    def vocabulary(self) -> Mapping[str, int]:
        """Piece -> id: those in the encoder file (LASER2), else the lines of the vocabulary file, numbered from 4."""
        if isinstance(carried := self._state.get("dictionary"), dict):
            return {**carried, **SPECIAL}
        path = self.vocabulary_file
        try:
            pieces = [line.rpartition(" ")[0] for line in lines_of(path)]
        except FileNotFoundError as error:
            remedy = "Remedy: say where it is: --model-arg vocabulary=PATH"
            raise EncoderError(f"the vocabulary {path} does not exist. {remedy}") from error
        except (OSError, UnicodeDecodeError) as error:
            raise EncoderError(f"{path} is not UTF-8: it is not a LASER vocabulary. {PUBLISHED}") from error
        return {**{piece: i for i, piece in enumerate(pieces, len(SPECIAL))}, **SPECIAL}

    @cached_property
    def _pieces(self) -> Callable[[str], list[str]]:
        return self._byte_pairs() if self.is_first else self._sentence_pieces()

    def _byte_pairs(self) -> Callable[[str], list[str]]:
        """LASER1's pieces: punctuation normalised, words by Moses' tokenizer, lower-cased, split as by fastBPE."""
        from sacremoses import MosesDetokenizer, MosesPunctNormalizer, MosesTokenizer

        try:
            bpe = Bpe.read(lines_of(self.spm), lines_of(self.vocabulary_file))
        except (OSError, ValueError) as error:
            raise EncoderError(f"{self.spm}: no BPE codes: {error}. {PUBLISHED_FIRST}") from error
        self._check_pieces(list(bpe.known))
        moses, unescaped = MosesPunctNormalizer(lang="en", perl_parity=True), MosesDetokenizer(lang="en").unescape_xml
        tokenizer, of_word = MosesTokenizer(lang="en"), cache(bpe.pieces)

        def pieces(text: str) -> list[str]:
            plain = unescaped(moses.normalize(_printable(text)))
            words = tokenizer.tokenize(plain, escape=False)
            return [piece for word in words for piece in of_word(word.lower())]

        return pieces

    def _sentence_pieces(self) -> Callable[[str], list[str]]:
        import sentencepiece
        from sacremoses import MosesPunctNormalizer

        try:
            processor = sentencepiece.SentencePieceProcessor(model_file=str(self.spm))
        except Exception as error:
            raise EncoderError(f"{self.spm} is not a SentencePiece model ({error}): {CUT_OFF}") from error
        self._check_pieces([processor.id_to_piece(i) for i in range(processor.get_piece_size())])
        moses = MosesPunctNormalizer(lang="en", perl_parity=True)

        def pieces(text: str) -> list[str]:
            found: list[str] = processor.encode(moses.normalize(_printable(text)).lower(), out_type=str)
            return found

        return pieces

    def _check_pieces(self, pieces: list[str]) -> None:
        """EncoderError if the vocabulary lacks more than half of these pieces, since the right one has nearly all."""
        if (known := sum(piece in self.vocabulary for piece in pieces)) * 2 < len(pieces):
            raise EncoderError(
                f"{self.spm} has {len(pieces)} pieces, but the vocabulary of {self.source} knows {known} of them: "
                f"{BELONG}"
            )

    @cached_property
    def devices(self) -> list[str]:
        """The device that it computes on."""
        return pick_devices(self.device.name)[:1]

    @cached_property
    def _encode_batch(self) -> Run:
        state, device = self._state, self.devices[0]
        rows = len(state["model"].get("embed_tokens.weight", state["model"].get("encoder.embed_tokens.weight", ())))
        if rows <= (largest := max(self.vocabulary.values())):
            raise EncoderError(
                f"{self.source} has {rows} rows of embeddings, but the vocabulary {self.vocabulary_file} goes to "
                f"{largest}: {BELONG}"
            )
        if "params" in state:
            return _laser2(state["model"], self.source, device)
        return laser3(state, self.source, device)

    def compute(self, texts: list[str], prompt: str) -> Iterator[Batch]:  # noqa: ARG002
        """Encode texts sorted by number of pieces, the longest first, cut at `max_length` pieces if given."""
        run, limit, known = self._encode_batch, self.config.max_length, self.vocabulary
        ids = [[known.get(piece, UNKNOWN) for piece in self._pieces(text)] for text in texts]
        if limit:
            self.count_truncated_texts(sum(len(row) > limit for row in ids), len(texts), limit)
        ids = [[*row[:limit], EOS] for row in ids]
        lengths = np.array([len(row) for row in ids])
        yield from run_on_replicas(
            [run], batch_equal_lengths(lengths, TOKENS_PER_BATCH["cpu"]), lambda r, at: r([ids[i] for i in at])
        )


def lines_of(path: Path) -> list[str]:
    """The non-empty lines of a UTF-8 file; only a line feed ends a line."""
    return [line for line in path.read_text("utf-8").split("\n") if line]


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)


def _laser2(model: Mapping[str, Any], source: Path, device: str) -> Run:
    import torch

    lstm = lstm_of(model, "lstm.", source).to(device)
    table = model["embed_tokens.weight"].float()
    if table.shape[1] != lstm.input_size:
        raise EncoderError(
            f"{source}: embeddings of {table.shape[1]} dimensions for an LSTM of {lstm.input_size}. {PUBLISHED}"
        )
    return lambda rows: max_over_time(lstm, [table[torch.tensor(row)] for row in rows])
