"""Make chains from a data set: a sentence, its paraphrase, and members that share less and less of its meaning.

A model can detect a clumsy edit without understanding it. So chains have two covariates of fluency: the share of pairs
of neighbouring tags that are rare in the data's own sentences, and the surprisal under a language model
(`--continuation-model`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.dataset import Dataset
from encheck.encoders.base import replace_half_surrogates
from encheck.encoders.batching import batch_equal_lengths
from encheck.encoders.writing import TOKENS_PER_BATCH, ContinuationGenerator
from encheck.errors import UsageError
from encheck.generators.back_translation import back_translation
from encheck.generators.continuation import CUTS, continuation, end_without_punctuation
from encheck.generators.swap_chain import SWAPS, SwappedVariant, swap_chain
from encheck.ids import ItemId
from encheck.items.builders import Builder, collect_items, refuse_without_paraphrase
from encheck.items.variants import VariantMaker
from encheck.scoring.chains import Chain
from encheck.scoring.item import Items
from encheck.scoring.pairs import tuning_pairs
from encheck.scoring.splits import TEST
from encheck.similarity import jaccard
from encheck.store import text_key
from encheck.types import Group, Variant, apply_edits, content_hash

UNUSUAL_BELOW_SHARE = 0.01  # a pair of tags is unusual where the second follows the first less often than this
UnusualShare = Callable[[Sequence[str]], float]
Floats = NDArray[np.float32]


def unusual_tag_share_function(maker: VariantMaker, texts: Iterable[str]) -> UnusualShare:
    """Return a function that computes the share of unusual pairs of neighbouring tags in a sequence of tags.

    A pair is usual if it occurs in `texts`, which should be sentences written by people.
    """
    maker.english.parse_all(texts := list(dict.fromkeys(texts)))
    pairs = Counter(pair for text in texts for pair in pairwise(maker.english.stored_parse(text).tags))
    firsts: Counter[str] = Counter()
    for (first, _), count in pairs.items():
        firsts[first] += count
    usual = {pair for pair, count in pairs.items() if count >= UNUSUAL_BELOW_SHARE * firsts[pair[0]]}

    def share(tags: Sequence[str]) -> float:
        there = max(len(tags) - 1, 0)
        return (there - sum(map(usual.__contains__, pairwise(tags)))) / there if there else 0.0

    return share


class Surprisal:
    """Measures the surprisal of texts under a causal language model: the mean bits per token, given the tokens before
    it.
    """

    def __init__(self, model: ContinuationGenerator) -> None:
        self.model = model
        self.computed = 0

    @property
    def fingerprint(self) -> str:
        """The language model's fingerprint, with the name of the computation."""
        return f"{self.model.fingerprint}/surprisal-1"

    def __call__(self, texts: Sequence[str]) -> Floats:
        """Return the bits per token of each text, shape [n], from the store where possible.

        The value is NaN for a text without tokens and for a text that is too long for the model.
        """
        wanted = list(dict.fromkeys(texts))
        found = self._read_stored(wanted)
        if missing := [text for text in wanted if text not in found]:
            with self.model.hold_locks():
                found |= self._read_stored(missing)
                found |= self._compute_and_store([text for text in missing if text not in found])
        return np.array([found[text] for text in texts], np.float32)

    def _read_stored(self, texts: Sequence[str]) -> dict[str, float]:
        if self.model.store is None:
            return {}
        arrays, there = self.model.store.get("pair", self.fingerprint, [text_key(text) for text in texts])
        return {text: float(arrays[i, 0]) for i, text in enumerate(texts) if there[i]}

    def _compute_and_store(self, texts: Sequence[str]) -> dict[str, float]:
        rows = [self._token_ids(text) for text in replace_half_surrogates(texts)]
        bits = np.full(len(texts), np.nan, np.float32)
        for positions in batch_equal_lengths(np.array([len(row) for row in rows], np.intp), TOKENS_PER_BATCH):
            fit = [int(i) for i in positions if 1 < len(rows[i]) <= self.model.positions]
            if fit:
                bits[fit] = self._bits_per_token([rows[i] for i in fit])
        if self.model.store is not None and texts:
            keys = [text_key(text) for text in texts]
            self.model.store.put("pair", self.fingerprint, keys, bits[:, None], name=self.model.name)
        self.computed += len(texts)
        return dict(zip(texts, bits.tolist(), strict=True))

    def _token_ids(self, text: str) -> list[int]:
        """Return the tokens of a text after a start token, so that the first word also has a context."""
        tokenizer = self.model.tokenizer
        row: list[int] = tokenizer(text, verbose=False)["input_ids"]
        begin = tokenizer.eos_token_id if tokenizer.bos_token_id is None else tokenizer.bos_token_id
        return row if begin is None or row[:1] == [begin] else [begin, *row]

    def _bits_per_token(self, rows: Sequence[Sequence[int]]) -> Floats:
        import torch

        padded = self.model.tokenizer.pad({"input_ids": rows}, return_tensors="pt", padding_side="right")
        inputs: Any = padded.to(self.model.model.device)
        with torch.inference_mode():
            logits = self.model.model(**inputs).logits[:, :-1].float()
            after, there = inputs["input_ids"][:, 1:], inputs["attention_mask"][:, 1:]
            chances = logits.log_softmax(-1).gather(-1, after[..., None])[..., 0]
            bits = -(chances * there).sum(1) / there.sum(1) / np.log(2)
        found: Floats = bits.cpu().numpy().astype(np.float32)
        return found


PIVOTS = ("pivot=a", "pivot=b")
Pivot = Literal["a", "b"]
Sources = Callable[[Sequence[Group], VariantMaker], Sequence[Variant | str]]  # a variant, or a reason, for each group


def swap_chains(sources: Sources | None = None) -> Builder:
    """Return a builder of chains: the paraphrase after zero, one, two and three swaps. The level is pivot=a or pivot=b.

    If the data have a test part, the chains come from it, and thresholds from the validation part's labelled pairs.
    `sources` gives other sentences to compare the paraphrases with: rewrites or back-translations.
    """

    def build_items(dataset: Dataset, level: int | str, maker: VariantMaker) -> Items:
        refuse_without_paraphrase(dataset)
        measured = groups_of_test_part(dataset.groups)
        stated = measured if sources is None else _replace_sources(measured, sources, maker)
        groups = [group for group in stated if isinstance(group, Group)]
        made = maker.variants([exchange_sides(group) for group in groups], swap_chain, level=SWAPS)
        unusual = unusual_tag_share_function(
            maker, [g.paraphrase for g, v in zip(groups, made, strict=True) if isinstance(v, Variant)]
        )
        chains = (
            _swap_chain_item(dataset, g, v, parse_pivot(level), maker, unusual)
            for g, v in zip(groups, made, strict=True)
        )
        reasons = [reason for reason in stated if isinstance(reason, str)]
        found = collect_items(dataset, [*_add_surprisal(list(chains), maker), *reasons])
        return replace(found, tuning=tuning_pairs(dataset.pairs))

    return build_items


def exchange_sides(group: Group) -> Group:
    """Return the group with sentence and paraphrase exchanged, so that the paraphrase is edited."""
    return replace(group, source=group.paraphrase, paraphrase=group.source)


def parse_pivot(level: int | str) -> Pivot:
    """Return the pivot that a level names. Raise UsageError for any other level.

    >>> parse_pivot("pivot=a")
    'a'
    """
    if level not in PIVOTS:
        raise UsageError(f"the level of a swap chain is {level!r}, but should be one of {', '.join(PIVOTS)}")
    return cast(Pivot, str(level)[-1])


def groups_of_test_part(groups: Sequence[Group]) -> list[Group | str]:
    """Return the groups of the test part, and a reason for each other group.

    If the data have no test part, return all groups.
    """
    if not any(group.split in TEST for group in groups):
        return list(groups)
    return [group if group.split in TEST else "not in the test part" for group in groups]


def _replace_sources(groups: Sequence[Group | str], sources: Sources, maker: VariantMaker) -> list[Group | str]:
    """Return each group with its sentence replaced, or the reason why there is no replacement."""
    found = iter(sources([group for group in groups if isinstance(group, Group)], maker))
    stated = list[Group | str]()
    for group in groups:
        if isinstance(group, Group):
            text = next(found)
            stated.append(text if isinstance(text, str) else replace(group, source=text.text))
        else:
            stated.append(group)
    return stated


def rewrite_sources(groups: Sequence[Group], maker: VariantMaker) -> list[Variant | str]:
    """Return each sentence in other words: back-translated if there are translators, otherwise the written rewrite."""
    if maker.writers.translations is None:
        return [g.variant("rewrite") or "no rewrite was written: give --back-translate" for g in groups]
    sources = [group.source for group in groups]
    texts = dict(zip(sources, maker.writers.translations(sources), strict=True))
    plain = [replace(group, variants=()) for group in groups]
    return maker.variants(plain, back_translation(texts))


def _swap_chain_item(
    dataset: Dataset, group: Group, made: Variant | str, pivot: Pivot, maker: VariantMaker, unusual: UnusualShare
) -> Chain | str:
    if group.source == group.paraphrase:
        return "the paraphrase is identical to the sentence"
    if isinstance(made, str):
        return made
    assert isinstance(made, SwappedVariant)
    members = tuple(apply_edits(group.paraphrase, step.edits) for step in made.steps)
    if group.source.casefold() in map(str.casefold, members):
        return "a swap gives the sentence itself"
    tags = maker.english.stored_parse(group.paraphrase).tags
    odd = [unusual(tags), *(unusual([tags[i] for i in step.order]) for step in made.steps)]
    return Chain(
        id=ItemId.of(dataset.name, content_hash(group.source, group.paraphrase), "swap", SWAPS, f"pivot-{pivot}"),
        source=group.source, partner=group.paraphrase, members=members, cluster=group.cluster, pivot=pivot,
        split=group.split, edits=tuple(step.edits for step in made.steps),
        overlap=float(jaccard([group.source], [group.paraphrase])[0]), unusual=tuple(odd), rejected=made.rejected,
        shares=group.shares,
        why=tuple(step.said for step in made.steps),
    )  # fmt: skip


def _add_surprisal(made: list[Chain | str], maker: VariantMaker) -> list[Chain | str]:
    """Return the chains with each text's surprisal, if the run has a language model."""
    if maker.writers.surprisal is None:
        return made
    texts = [text for chain in made if isinstance(chain, Chain) for text in (chain.partner, *chain.members)]
    found = iter(map(float, maker.writers.surprisal(texts)))
    return [
        replace(chain, surprisal=tuple(next(found) for _ in chain.pairs_to_score))
        if isinstance(chain, Chain)
        else chain
        for chain in made
    ]


def continuation_chains(dataset: Dataset, level: int | str, maker: VariantMaker) -> Items:
    """Return chains of a sentence that continues for 5, 10, ... words, at most `level`, and its paraphrase (Figure 1).

    A continuation that is shorter, or has no end of a clause at a cut, gives a shorter chain, with at least one member.
    """
    refuse_without_paraphrase(dataset)
    stated = groups_of_test_part(dataset.groups)
    groups = add_continuations([group for group in stated if isinstance(group, Group)], maker)
    cuts = [cut for cut in CUTS if cut <= int(level)]
    made = [maker.variants(groups, continuation, level=cut) for cut in cuts]
    chains = (_continuation_chain(dataset, group, outcomes) for group, *outcomes in zip(groups, *made, strict=True))
    found = collect_items(dataset, [*chains, *(reason for reason in stated if isinstance(reason, str))])
    return replace(found, tuning=tuning_pairs(dataset.pairs))


def add_continuations(groups: Sequence[Group], maker: VariantMaker) -> list[Group]:
    """Return the groups with continuations by the language model, if there is one."""
    if maker.writers.continuations is None:
        return list(groups)
    texts = maker.writers.continuations(
        [f"{group.source[: end_without_punctuation(group.source)]}, and" for group in groups]
    )
    return [replace(group, continuation=text) for group, text in zip(groups, texts, strict=True)]


def _continuation_chain(dataset: Dataset, group: Group, outcomes: Sequence[Variant | str]) -> Chain | str:
    found = [made for made in outcomes if isinstance(made, Variant)]
    if group.source == group.paraphrase:
        return "the paraphrase is identical to the sentence"
    if not found:
        return str(outcomes[0])
    key = content_hash(group.source, group.paraphrase, found[-1].text)
    return Chain(
        id=ItemId.of(dataset.name, key, "continuation", len(found), "words"),
        source=group.source, partner=group.paraphrase, members=tuple(made.text for made in found),
        cluster=group.cluster, pivot="b", split=group.split, edits=tuple(made.edits for made in found), edited="source",
        shares=group.shares,
        overlap=float(jaccard([group.source], [group.paraphrase])[0]), why=tuple(made.certificate for made in found),
    )  # fmt: skip
