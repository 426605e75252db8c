"""Convert trees with ClearNLP labels, as from spaCy's English models, to Universal Dependencies.

In ClearNLP a preposition heads its noun and "be" its predicate; in UD both depend on it, by case and cop. Only heads
and relations change, and structures without a rule stay unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from encheck.language.parse import Parse

BE = frozenset("am is are was were be been being 'm 's 're ’m ’s ’re".split())
VERBAL = frozenset(["VERB", "AUX"])
NOMINAL = frozenset(["NOUN", "PROPN", "PRON", "NUM", "SYM", "DET"])
FINITE = frozenset(["VBD", "VBZ", "VBP", "MD"])
SUBJECTS = frozenset("nsubj nsubjpass csubj csubjpass expl".split())
NOMINATIVE = frozenset("i he she we they".split())
CLAUSAL = SUBJECTS | frozenset("aux auxpass cop mark".split())
PREPOSITIONS = frozenset(["prep", "dative", "agent"])
PHRASES = PREPOSITIONS | frozenset("advmod amod case mark prt quantmod".split())  # dependents of a word with an object
FIXED = frozenset(
    {"according to", "as for", "as of", "as to", "because of", "due to", "instead of", "rather than", "such as"}
)
RENAMED = {
    "dobj": "obj", "nsubjpass": "nsubj:pass", "csubjpass": "csubj:pass", "auxpass": "aux:pass", "prt": "compound:prt",
    "acomp": "xcomp", "attr": "xcomp", "oprd": "xcomp", "poss": "nmod:poss", "possessive": "case",
    "relcl": "acl:relcl", "rcmod": "acl:relcl", "neg": "advmod", "quantmod": "advmod", "predet": "det:predet",
    "preconj": "cc:preconj", "nn": "compound", "num": "nummod", "intj": "discourse", "meta": "parataxis",
}  # fmt: skip


def is_clear(labels: Iterable[str]) -> bool:
    """Whether these are a parser's labels of ClearNLP.

    >>> is_clear(["ROOT", "dobj", "prep"]), is_clear(["ROOT", "obj", "case"])
    (True, False)
    """
    known = set(labels)
    return "dobj" in known and "obj" not in known


def universal(parse: Parse) -> Parse:
    """The parse with heads and relations converted to Universal Dependencies; unchanged if it is not a tree."""
    tree = Tree(parse)
    if len(tree.order()) != len(parse):
        return parse
    for change in (_coordinate, _invert_copulas, _invert_prepositions, _raise_subjects, _fix, _rename):
        change(tree)
    return replace(parse, heads=tuple(tree.heads), deps=tuple(tree.deps))


class Tree:
    """Heads and relations of a parse during conversion; a root heads itself."""

    def __init__(self, parse: Parse) -> None:
        self.parse = parse
        self.heads, self.deps = list(parse.heads), list(parse.deps)
        self._below: list[set[int]] = [set(result) for result in parse.children]

    def order(self) -> list[int]:
        """All tokens of a root's tree, heads before their dependents."""
        result = [i for i, head in enumerate(self.heads) if head == i]
        for at in result:
            result += self._below[at]
        return result

    def below(self, at: int, *deps: str) -> list[int]:
        """The dependents of a token, by one of these relations or any, in text order."""
        return sorted(i for i in self._below[at] if not deps or self.deps[i] in deps)

    def first(self, at: int) -> int:
        """The first token of the subtree of `at`."""
        here, left = at, [at]
        while left:
            one = left.pop()
            here = min(here, one)
            left += self._below[one]
        return here

    def hang(self, at: int, head: int, dep: str) -> None:
        """Attach a token to a head outside its own subtree, or make it a root."""
        self._below[self.heads[at]].discard(at)
        self.heads[at], self.deps[at] = head, dep
        if head != at:
            self._below[head].add(at)

    def lift(self, at: int, dep: str, below: str) -> None:
        """Let a token replace its head, by `dep`; the old head, by `below`, and its dependents attach to it."""
        high = self.heads[at]
        top = self.heads[high]
        self.hang(at, *((at, self.deps[high]) if top == high else (top, dep)))
        for i in self.below(high):
            self.hang(i, at, self.deps[i])
        self.hang(high, at, below)


def _coordinate(tree: Tree) -> None:
    """Attach "and" and commas to the following part, and each part to the first."""
    joined = [i for i, dep in enumerate(tree.deps) if dep == "conj" and tree.heads[i] != i]
    for link in (i for i, dep in enumerate(tree.deps) if dep == "cc" and tree.heads[i] < i):
        following = (i for i in tree.below(tree.heads[link], "conj") if i > link)
        tree.hang(link, next(following, tree.heads[link]), "cc")
    for at in joined:
        comma, head = tree.first(at) - 1, tree.heads[at]
        if head < comma and tree.heads[comma] == head and tree.parse.words[comma] in (",", ";"):
            tree.hang(comma, at, tree.deps[comma])
    for at in joined:
        head = tree.heads[at]
        while tree.deps[head] == "conj" and tree.heads[head] != head and not _shares(tree, at, head):
            head = tree.heads[head]
        tree.hang(at, head, "conj")


def _shares(tree: Tree, at: int, head: int) -> bool:
    """Whether a part shares the subject of the previous part: "he came and she sat and read"."""
    return bool(tree.below(head, *SUBJECTS)) and not tree.below(at, *SUBJECTS)


def _invert_copulas(tree: Tree) -> None:
    """Make the complement of "be" the head of its clause; in "there is" it is the subject."""
    parse = tree.parse
    for at in range(len(parse)):
        is_be = parse.lemmas[at].lower() == "be" or parse.lowers[at] in BE
        predicates = tree.below(at, "acomp", "attr") if is_be and tree.deps[at] not in ("aux", "auxpass") else []
        if not predicates:
            continue
        if any(parse.lowers[i] == "there" for i in tree.below(at, "expl")):
            if tree.deps[predicates[0]] == "attr" and not tree.below(at, "nsubj"):
                tree.hang(predicates[0], at, "nsubj")
        else:
            tree.lift(predicates[0], tree.deps[at], "cop")


def _invert_prepositions(tree: Tree) -> None:
    """Make the object of a preposition the head of the phrase, the innermost first."""
    for at in reversed(tree.order()):
        thing = _governed(tree, at)
        if thing is None:
            continue
        outer = tree.heads[at]
        if tree.deps[at] == "prep" and tree.deps[outer] in PREPOSITIONS and _governed(tree, outer) is not None:
            tree.hang(at, tree.heads[outer] if tree.heads[outer] != outer else outer, "prep")  # from A to B
        verbal = tree.parse.tags[thing].startswith("VB") or bool(tree.below(thing, *CLAUSAL))
        clause = tree.deps[thing] == "pcomp" and verbal
        tree.lift(thing, _relation(tree, at, clause=clause), "mark" if clause else "case")
        for i in tree.below(thing, "pcomp"):
            if tree.parse.pos[i] == "ADP" and not tree.below(i):  # the "of" of "because of"
                tree.hang(i, thing, "case")


def _governed(tree: Tree, at: int) -> int | None:
    """The object or clause of a preposition."""
    return next(iter(tree.below(at, "pobj") or tree.below(at, "pcomp")), None)


def _relation(tree: Tree, at: int, *, clause: bool) -> str:
    """The relation of a preposition's phrase to the preposition's head."""
    parse, dep, outer = tree.parse, tree.deps[at], tree.heads[at]
    if outer != at and _opens(tree, outer, at):
        return "pcomp" if clause else "pobj"
    if dep not in PHRASES:
        return dep
    if dep == "agent" and not clause:
        return "obl:agent"
    nominal = parse.pos[outer] in NOMINAL and parse.pos[parse.heads[at]] not in VERBAL
    return ("acl" if nominal else "advcl") if clause else ("nmod" if nominal else "obl")


def _opens(tree: Tree, outer: int, at: int) -> bool:
    """Whether two prepositions form one: "out of", "because of"; the outer one then governs the inner one's object."""
    if _governed(tree, outer) not in (None, at) or tree.deps[at] not in ("prep", "pcomp", "pobj"):
        return False
    if outer == at - 1 and _pair(tree.parse, at) in FIXED:
        return True
    pos, dep = tree.parse.pos[outer], tree.deps[outer]
    return (pos == "ADP" and dep != "prt") or (dep in PREPOSITIONS and pos not in NOMINAL | VERBAL)


def _pair(parse: Parse, at: int) -> str:
    return " ".join(parse.lowers[max(at - 1, 0) : at + 1])


def _raise_subjects(tree: Tree) -> None:
    """Make the subject of a clause without a finite verb the object of the verb above: "saw him leave"."""
    parse = tree.parse
    for at in (i for i, dep in enumerate(tree.deps) if dep == "ccomp"):
        verb, subjects = tree.heads[at], tree.below(at, "nsubj", "nsubjpass")
        if parse.pos[verb] != "VERB" or not subjects or not verb < subjects[0] < at:
            continue
        finite = any(parse.tags[i] in FINITE for i in (at, *tree.below(at, "aux", "auxpass", "cop")))
        open_clause = not finite and not tree.below(at, "mark") and parse.lowers[subjects[0]] not in NOMINATIVE
        if open_clause and not tree.below(verb, "dobj"):
            tree.hang(subjects[0], verb, "dobj")
            tree.hang(at, verb, "xcomp")


def _fix(tree: Tree) -> None:
    """Attach the second word of "because of" and the like to the first."""
    for at in range(1, len(tree.parse)):
        head, dep = tree.heads[at], tree.deps[at]
        beside = tree.heads[at - 1] == head and head not in (at, at - 1)
        if beside and dep in ("case", "mark") and _pair(tree.parse, at) in FIXED:
            tree.hang(at - 1, head, dep)
            tree.hang(at, at - 1, "fixed")


def _rename(tree: Tree) -> None:
    """Rename the remaining relations to Universal Dependencies."""
    parse = tree.parse
    for at, dep in enumerate(tree.deps):
        if dep == "aux" and parse.tags[at] == "TO":
            tree.deps[at] = "mark"
        elif dep == "dative" and parse.pos[at] != "ADP" and parse.tags[at] not in ("IN", "TO"):
            tree.deps[at] = "iobj"
        elif dep == "npadvmod":
            tree.deps[at] = "nmod:unmarked" if parse.pos[tree.heads[at]] in NOMINAL else "obl:unmarked"
        else:
            tree.deps[at] = RENAMED.get(dep, dep)
