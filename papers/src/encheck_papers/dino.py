"""DINO: a causal language model writes a second text for each label of similarity (Schick and Schütze 2021, EMNLP).

    Writer("gpt2-xl").write(texts, Path("written.jsonl"))
    pairs = training_pairs(read_written(Path("written.jsonl")), seed=0)

For each text and label the model continues a prompt: an instruction, the text in quotes, and an opening quote. Its
output up to the closing quote is the second text. Labels with a higher similarity are counter-labels
(`encheck_papers.self_debiasing`): the text for 0.5 should fit the instruction for 0.5 better than that for 1.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.checkpoints.pretrained import quiet_transformers
from encheck.errors import ModelError, UsageError
from encheck.types import content_hash
from encheck_papers.dino_file import begun
from encheck_papers.dino_pairs import Written
from encheck_papers.self_debiasing import QUOTE, processors, stopping

TEXT = "{text}"
INSTRUCTIONS: Mapping[float, str] = {
    1.0: 'One statement, put in two ways that differ in their words alone.\nFirst: "{text}"\nThen: "',
    0.5: 'A pair of statements that agree on some points and differ on others.\nFirst: "{text}"\nThen: "',
    0.0: 'A pair of statements from unrelated articles.\nFirst: "{text}"\nThen: "',
}


@dataclass(frozen=True)
class Task:
    """A text and a label, with its own prompt first, then those of the counter-labels."""

    text: str
    label: float
    prompts: tuple[str, ...]


@dataclass(frozen=True)
class Writer:
    """A causal language model of transformers (a name or a folder) with instructions and decoding settings.

    `instructions` maps each label in [0, 1] to a prompt that holds {text} and ends with an opening quote. The model
    writes `copies` outputs of at most `tokens` tokens for each text and label; each token is drawn from the `top_k`
    likeliest, limited to the smallest set with probability `top_p`. `decay` is the strength of self-debiasing; 0 turns
    it off. All numbers are the papers'; the instructions' words are not. The same seed and batch size give the same
    texts.
    """

    model: str
    _: KW_ONLY
    instructions: Mapping[float, str] = field(default_factory=lambda: INSTRUCTIONS)
    copies: int = 5
    tokens: int = 40
    top_k: int = 5
    top_p: float = 0.9
    decay: float = 100.0
    seed: int = 0
    batch_size: int = 8
    device: str | None = None

    def __post_init__(self) -> None:
        """UsageError for invalid numbers and instructions."""
        for name in ("copies", "tokens", "top_k", "batch_size"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}, but should be at least 1")
        if not (0 < self.top_p <= 1 and self.decay >= 0):
            raise UsageError(
                f"top_p is {self.top_p} and decay {self.decay}, but they should be in (0, 1] and at least 0"
            )
        for label, prompt in self.instructions.items():
            if not 0 <= label <= 1 or TEXT not in prompt or not prompt.endswith(QUOTE):
                raise UsageError(
                    f"the instruction for the label {label!r} is {prompt!r}. A label should be in [0, 1], and its "
                    f"instruction should hold {TEXT} and end with an opening quote ({QUOTE})"
                )
        if not self.instructions:
            raise UsageError("there is no instruction: give one for each label of similarity")

    def tasks(self, texts: Sequence[str]) -> Iterator[Task]:
        """A task for each distinct text and each label."""
        for text in dict.fromkeys(texts):
            for label, prompt in self.instructions.items():
                counter = [other for higher, other in self.instructions.items() if higher > label]
                prompts = tuple(one.replace(TEXT, text) for one in (prompt, *counter))
                yield Task(text, label, prompts)

    def write(self, texts: Sequence[str], to: Path) -> int:
        """Append the outputs to a JSONL file, one line per text and label; return the number of new lines.

        The first line has the settings. Texts and labels that are already in the file are skipped, so an interrupted
        run can be continued. UsageError without a text, and for a text that is too long for the model; DataError for a
        file with other settings; ModelError for a model that cannot write.
        """
        if not any(text.strip() for text in texts):
            raise UsageError("there is no text to write second texts for: the file is empty, or the list is")
        tasks = list(self.tasks([text for text in texts if text.strip()]))
        self._refuse_long(tasks)
        done = begun(to, self._settings)
        todo = [task for task in tasks if (task.text, task.label) not in done]
        with to.open("a", encoding="utf-8") as file:
            for start in range(0, len(todo), self.batch_size):
                for one in self.written(todo[start : start + self.batch_size]):
                    file.write(json.dumps(asdict(one)) + "\n")
                file.flush()
        return len(todo)

    def written(self, tasks: Sequence[Task]) -> list[Written]:
        """The outputs for these tasks, in one batch per copy."""
        copies = [self._copies(tasks, copy) for copy in range(self.copies)]
        found = []
        for task, made in zip(tasks, zip(*copies, strict=True), strict=True):
            texts = tuple(text for text in made if text)
            found.append(Written(task.text, task.label, texts, len(made) - len(texts)))
        return found

    def _copies(self, tasks: Sequence[Task], copy: int) -> list[str]:
        """A text for each task; empty where the model did not close the quote, or wrote nothing before it."""
        import torch

        tokenizer, model = self._loaded
        prompts = [prompt for task in tasks for prompt in task.prompts]
        ends = np.cumsum([len(task.prompts) for task in tasks])
        groups = [range(end - len(task.prompts), end) for task, end in zip(tasks, ends.tolist(), strict=True)]
        batch = tokenizer(prompts, padding=True, return_tensors="pt").to(model.device)
        width = batch["input_ids"].shape[1]
        numbers = self._uniform(tasks, copy)
        with torch.inference_mode():
            found = model.generate(
                input_ids=batch["input_ids"],
                attention_mask=batch["attention_mask"],
                generation_config=self._config,
                logits_processor=processors(
                    groups, numbers, width=width, decay=self.decay, top_k=self.top_k, top_p=self.top_p
                ),
                stopping_criteria=stopping(tokenizer, groups, width=width),
            )
        return [_quoted(tokenizer.decode(found[rows[0], width:], skip_special_tokens=True)) for rows in groups]

    def _uniform(self, tasks: Sequence[Task], copy: int) -> NDArray[np.float64]:
        """Numbers in [0, 1) that depend only on seed, text, label and copy, shape [tasks, tokens]."""
        names = (f"{self.seed}/{task.label}/{copy}/{content_hash(task.text)}" for task in tasks)
        seeds = ([*content_hash(name).encode()] for name in names)
        return np.stack([np.random.default_rng(seed).random(self.tokens) for seed in seeds])

    @cached_property
    def _config(self) -> Any:
        """Greedy settings, since random numbers are drawn beforehand. The model's own generation settings are ignored.

        generate() would fill a None in these from the model's settings.
        """
        from transformers import GenerationConfig

        tokenizer, model = self._loaded
        ends = tokenizer.eos_token_id if tokenizer.eos_token_id is not None else model.config.eos_token_id
        model.generation_config = GenerationConfig()  # type: ignore[no-untyped-call]
        return GenerationConfig(  # type: ignore[no-untyped-call]
            do_sample=False, max_new_tokens=self.tokens, pad_token_id=tokenizer.pad_token_id, eos_token_id=ends
        )

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        """Tokenizer, padding on the left, and model; ModelError if they cannot write in batches."""
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        model: Any
        try:
            with quiet_transformers():
                tokenizer = AutoTokenizer.from_pretrained(self.model, padding_side="left")
                model = AutoModelForCausalLM.from_pretrained(self.model)
        except (OSError, ValueError, KeyError) as error:
            raise ModelError(f"{self.model!r} cannot be loaded as a causal language model: {error}") from error
        if tokenizer.pad_token_id is None:
            tokenizer.pad_token = tokenizer.eos_token
        if tokenizer.pad_token_id is None:
            raise ModelError(
                f"the tokenizer of {self.model!r} has neither a pad token nor an end-of-text token, but prompts are "
                "padded in batches. Remedy: tokenizer.pad_token = ..., and save it again"
            )
        model = model.to(self.device or ("cuda" if torch.cuda.is_available() else "cpu")).eval()
        _refuse_looking_ahead(model, self.model)
        return tokenizer, model

    def _refuse_long(self, tasks: Sequence[Task]) -> None:
        """UsageError if a prompt and its output need more positions than the model has."""
        tokenizer, model = self._loaded
        most = getattr(model.config, "max_position_embeddings", None)
        if most is None:
            return
        lengths = [len(ids) for ids in tokenizer([task.prompts[0] for task in tasks])["input_ids"]]
        longest = tasks[int(np.argmax(lengths))]
        if (over := sum(length + self.tokens > most for length in lengths)) > 0:
            raise UsageError(
                f"{over} of {len(tasks)} prompts have no room for {self.tokens} tokens more in the {most} of "
                f"{self.model!r}; the longest has {max(lengths)}: {longest.text[:80]!r}. Leave such texts out"
            )

    @property
    def _settings(self) -> dict[str, Any]:
        """The settings that determine the texts."""
        named = ("model", "copies", "tokens", "top_k", "top_p", "decay", "seed")
        return {name: getattr(self, name) for name in named} | {"instructions": [*self.instructions.items()]}


def _quoted(text: str) -> str:
    """The text before the closing quote.

    >>> _quoted(' A dog sings." And'), _quoted("A dog")
    ('A dog sings.', '')
    """
    before, quote, _ = text.partition(QUOTE)
    return before.strip() if quote else ""


def _refuse_looking_ahead(model: Any, name: str) -> None:
    """ModelError if later tokens change a prediction, since the model is then not a causal language model."""
    import torch

    ids = torch.tensor([[1, 2, 3], [1, 2, 4]], device=model.device) % model.config.vocab_size
    with torch.inference_mode():
        one, other = model(input_ids=ids).logits[:, 0].float()
    if not torch.allclose(one, other, rtol=1e-2, atol=1e-2 * float(one.std())):
        architecture = ", ".join(model.config.architectures or [type(model).__name__])
        raise ModelError(
            f"{name!r} ({architecture}) is not a causal language model: its prediction after a word depends on later "
            "words. Remedy: name one that writes from left to right, like gpt2-xl"
        )
