"""Queries are encoded as queries and documents as documents: which prompt that puts before them, and their keys."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Literal

from encheck.encoders.protocol import Model
from encheck.scoring.item import Item
from encheck.store import text_key

Role = Literal["query", "document"]
Texts = dict[Role, list[str]]
log = logging.getLogger("encheck")
REMEDY = 'Remedy: `prompts: {query: ..., document: ...}` in models.yaml, or --model-arg prompts=\'{"query": "..."}\''


def texts_of(items: Iterable[Item]) -> Texts:
    """The texts of these items by their role; none of items whose texts have no role."""
    found: dict[Role, dict[str, None]] = {"query": {}, "document": {}}
    seen: Iterable[str] = ()
    for item in items:
        queries, documents = item.in_roles
        found["query"].update(dict.fromkeys(queries))
        if documents is not seen:  # all queries of a search share theirs
            seen = documents
            found["document"].update(dict.fromkeys(documents))
    return {role: list(texts) for role, texts in found.items() if texts}


def prompt_of(model: Model, role: Role | None) -> str | None:
    """What stands before a text in this role; None for a model that does not say."""
    prompt_for: Callable[[str | None], str] | None = getattr(model, "prompt_for", None)
    return prompt_for(role) if prompt_for else None


def key_of(model: Model, role: Role) -> Callable[[str], bytes]:
    """What gives the key of a text in the store: with the prompt, where that is not the one of any text.

    An encoder that does not say what a role changes has other keys for each.
    """
    prompt = prompt_of(model, role)
    if prompt is None:
        return lambda text: text_key(f"as a {role}", text)
    if prompt == prompt_of(model, None):
        return text_key
    return lambda text: text_key(f"after {prompt!r}", text)


def tell_prompts(model: Model, label: str) -> None:
    """Say what stood before queries and documents, and that a model which has prompts has none for queries."""
    query, document = prompt_of(model, "query"), prompt_of(model, "document")
    if query is None:
        return
    prompts: dict[str, str] = getattr(model, "prompts", {})
    named = sorted(name for name, text in prompts.items() if text)
    if named and not query:
        log.warning(
            "%s has prompts (%s), but none for queries, so queries got no prompt. %s", label, ", ".join(named), REMEDY
        )
    elif query or document:
        log.warning("%s: queries were encoded after %r, documents after %r", label, query, document)
    else:
        log.warning("%s: queries and documents were encoded without a prompt", label)
