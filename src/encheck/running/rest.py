"""What is left to compute after a first look: about how many texts, characters and tokens, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from encheck.encoders.protocol import Encoder, devices_of
from encheck.items.builders import classified
from encheck.run_file import ModelRest
from encheck.running.bench import Bench, Request
from encheck.running.first_look import Look
from encheck.running.plan import Plan, missing
from encheck.running.roles import Texts
from encheck.running.speed import tokens_a_text
from encheck.running.subject import Pair, Subject
from encheck.store import text_key
from encheck.types import content_hash

FEWEST = 64  # texts to time a model by
SOME = 256  # documents that stand for all
CHARACTERS_A_TOKEN = 4  # of English, where no tokenizer is at hand
Amount = tuple[float, Sequence[str]]  # how many texts the store lacks, and some of them


def rest_of(look: Look, subject: Subject, bench: Bench, requests: Iterable[Request]) -> ModelRest:
    """What is left for a model beside the look: on its part, on the other clusters, in searches and tasks of `bench`.

    The other clusters are told by a few of them. Pairs that rerank a search are not counted.
    """
    own, here = look.plan.asked(subject), look.every.asked(subject)
    left = missing(subject, {key: texts for key, texts in here.items() if key not in own}, bench.store)
    others = look.outside.asked(subject)
    lacking = missing(subject, others, bench.store)
    away = len(here) * (look.share - 1) * len(lacking) / max(len(others), 1)
    requests = [one for one in requests if one[0] == subject.label]
    amounts = [(len(left), _joined(left.values())), (away, _joined(lacking.values()))]
    whole = (*in_searches(subject, bench, requests), in_tasks(subject, bench, requests))
    return rest_from(subject, [one for one in (*amounts, *whole) if one[0]])


def to_time(look: Look, subject: Subject, bench: Bench) -> list[Pair]:
    """Pairs of the rest to compute with the look, so that the model is timed on enough texts; none of a priced one."""
    own = look.plan.asked(subject)
    wanted = FEWEST - len(missing(subject, own, bench.store))
    if wanted <= 0 or subject.config.price:
        return []
    left = missing(subject, {k: texts for k, texts in look.every.asked(subject).items() if k not in own}, bench.store)
    pairs = dict.fromkeys(look.every.pairs.get(subject.label, ()))
    if subject.kind == "pair":
        return list(islice((pair for pair in pairs if text_key(*pair) in left), wanted))
    texts = dict.fromkeys(text for pair in pairs for text in pair)
    return list(islice(((text, text) for text in texts if text_key(text) in left), wanted))


def in_searches(subject: Subject, bench: Bench, requests: Iterable[Request]) -> Iterator[Amount]:
    """Queries and documents that the store lacks, told by some documents of each collection."""
    for name in dict.fromkeys(data for _, data, *_ in requests):
        found = bench.data[name].collection
        if found and isinstance(subject.model, Encoder):
            some = sorted(found.documents.values(), key=content_hash)[:SOME]
            roles: Texts = {"document": some}
            asked = Plan(roles={subject.label: roles}).asked(subject)
            lacking = missing(subject, asked, bench.store)
            total = len(found.documents) + len(found.queries)
            yield total * len(lacking) / max(len(asked), 1), _joined(lacking.values())


def in_tasks(subject: Subject, bench: Bench, requests: Iterable[Request]) -> Amount:
    """The texts of downstream tasks that the store lacks, all of them: no look takes a part of a task."""
    plan = bench.plan(one for one in requests if one[2].items is classified)
    lacking = missing(subject, plan.asked(subject), bench.store)
    return len(lacking), _joined(lacking.values())


def rest_from(subject: Subject, amounts: Sequence[Amount]) -> ModelRest:
    """What these amounts come to: characters and tokens are told by some of the texts of each."""
    texts = sum(count for count, _ in amounts)
    characters = sum(count * sum(map(len, some)) / len(some) for count, some in amounts)
    means = [tokens_a_text(subject, some) for _, some in amounts]
    known = [count * mean for (count, _), mean in zip(amounts, means, strict=True) if mean is not None]
    is_counted = len(known) == len(amounts)
    tokens = sum(known) if is_counted else characters / CHARACTERS_A_TOKEN
    price = 0.0 if subject.config.price is None and devices_of(subject.model) else subject.config.price
    dollars = None if price is None else price * round(tokens) / 1e6
    return ModelRest(subject.label, round(texts), characters, round(tokens), is_counted, price, dollars)


def _joined(some: Iterable[tuple[str, ...]]) -> list[str]:
    return [" ".join(texts) for texts in some]
