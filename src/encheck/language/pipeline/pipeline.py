"""The spaCy pipeline for parsing: the bundled English one, or an installed one.

spaCy's own English models have ClearNLP labels; their trees are converted to Universal Dependencies. In ClearNLP a
preposition heads its noun and "be" its predicate; in UD both depend on it, by case and cop. Only heads and relations
change, and structures without a rule stay unchanged.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from configparser import ConfigParser
from configparser import Error as ConfigError
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from encheck.errors import LanguageError
from encheck.language.parse import Parse, intern_strings, parse_from_spacy
from encheck.store import file_sha256
from encheck.system.files import expand_home

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

ENCODERS = ("spacy.MaxoutWindowEncoder.", "spacy.MishWindowEncoder.")
EMBEDDINGS = ("spacy.MultiHashEmbed.",)
OF_THE_WORD_ALONE = frozenset(["NORM", "LOWER", "ORTH", "PREFIX", "SUFFIX", "SHAPE", "IS_SPACE"])
Section = Mapping[str, Any]


def find_tagger_reach(folder: Path) -> int | None:
    """Return the number of words on each side that this pipeline's tagger uses, or None if unknown from its
    configuration.

    spaCy's window encoder uses `window_size` words on each side, `depth` times; hash embeddings use only the word. Any
    other network or tokenizer may use the whole text.
    """
    config = _read_spacy_config(folder / "config.cfg")
    # The tagger has its own encoder, not the pipeline's.
    name = (
        "tagger.model.tok2vec"
        if not _is_registered(
            config.get("components.tagger.model.tok2vec", {}), "@architectures", ("spacy.Tok2VecListener.",)
        )
        else "tok2vec.model"
    )
    embed, encode = (config.get(f"components.{name}.{part}", {}) for part in ("embed", "encode"))
    known = (
        _is_registered(config.get("nlp.tokenizer", {}), "@tokenizers", ("spacy.Tokenizer.",))
        and _is_registered(config.get("components.tagger.model", {}), "@architectures", ("spacy.Tagger.",))
        and _is_registered(embed, "@architectures", EMBEDDINGS)
        and _is_registered(encode, "@architectures", ENCODERS)
        and OF_THE_WORD_ALONE.issuperset(embed.get("attrs") or ("?",))
    )
    size, depth = encode.get("window_size"), encode.get("depth")
    return size * depth if known and isinstance(size, int) and isinstance(depth, int) else None


def _is_registered(section: Section, kind: str, names: tuple[str, ...]) -> bool:
    return str(section.get(kind)).startswith(names)


def _read_spacy_config(path: Path) -> dict[str, Section]:
    """Return the sections of a spaCy configuration, or {} if it cannot be read."""
    parser = ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(path.read_text("utf-8"))
    except (OSError, ValueError, ConfigError):
        return {}
    config: dict[str, Any] = {name: dict(parser[name]) for name in parser.sections()}
    for section in config.values():
        for key, text in section.items():
            with suppress(ValueError):
                section[key] = json.loads(text)
    return config


BUNDLED = Path(__file__).parent / "english"
MAX_CHARACTERS = 100_000  # longer texts are not parsed and have no variants
NEEDED = ("tagger", "parser")
NOT_READ = ("__pycache__/*", "*.md", "LICENSE*")  # files of a pipeline that no parse depends on
CONVERTED = "+ud1"  # marks in a fingerprint that labels were converted, with the version of the rules
SURROGATE = re.compile(r"[\ud800-\udfff]")
FileHash = Callable[[Path], str]


class Pipeline:
    """A pipeline by name: None for the bundled one, an installed package, or a folder.

    Raises LanguageError if it does not exist. Everything is read on demand.
    """

    def __init__(self, name: str | None = None, *, file_hash: FileHash = file_sha256) -> None:
        self.folder = BUNDLED if name is None else _find_spacy_pipeline_folder(name)
        self._hash = file_hash

    @cached_property
    def meta(self) -> dict[str, Any]:
        """The content of its meta.json; LanguageError if it is missing."""
        try:
            result: dict[str, Any] = json.loads((self.folder / "meta.json").read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise LanguageError(
                f"{self.folder} is not a spaCy pipeline: cannot read its meta.json ({error})"
            ) from error
        return result

    @property
    def label(self) -> str:
        """Name and version from its meta.json."""
        return "{lang}_{name} {version}".format(**{"lang": "?", "name": "?", "version": "?"} | self.meta)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the pipeline's files but for notices and licences, and whether parses are converted.

        spaCy is not imported, unless meta.json does not list the parser's labels.
        """
        digest = hashlib.sha256()
        for path in sorted(p for p in self.folder.rglob("*") if p.is_file() and not any(map(p.match, NOT_READ))):
            digest.update(f"{path.relative_to(self.folder).as_posix()} {self._hash(path)}\n".encode())
        name = f"{self.meta.get('lang')}_{self.meta.get('name')}-{digest.hexdigest()[:16]}"
        return name + CONVERTED if self.is_converted else name

    @cached_property
    def reach(self) -> int | None:
        """The number of words on each side that the tagger uses; None if it may use the whole text."""
        return find_tagger_reach(self.folder)

    @cached_property
    def is_converted(self) -> bool:
        """Whether its parser has ClearNLP labels, so its parses are converted to Universal Dependencies."""
        listed = self.meta.get("labels")
        labels = listed.get("parser") if isinstance(listed, dict) else None
        if isinstance(labels, list):
            return has_clearnlp_labels(map(str, labels))
        return has_clearnlp_labels(getattr(self._nlp.get_pipe("parser"), "labels", ()))

    @cached_property
    def _nlp(self) -> Language:
        return _load_once(self.folder) if self.folder == BUNDLED else _load_spacy_pipeline(self.folder)

    def parse(self, texts: Iterable[str]) -> Iterator[Parse]:
        """Yield the parse of each text, in order. A text longer than MAX_CHARACTERS has no tokens."""
        result = (parse_from_spacy(doc, text) for doc, text in self._pipe_texts(texts, disable=()))
        yield from map(convert_to_universal, result) if self.is_converted else result

    def tag(self, texts: Iterable[str]) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
        """Yield words and Penn tags of each text, by the tagger alone."""
        keep = {"tok2vec", "transformer", "tagger"}
        names = self._nlp.vocab.strings
        for doc, text in self._pipe_texts(texts, disable=[n for n in self._nlp.pipe_names if n not in keep]):
            rows = doc.to_array(["IDX", "LENGTH", "TAG"]).tolist()  # one object per token would be slow
            yield (
                intern_strings([text[at : at + length] for at, length, _ in rows]),
                intern_strings([names[tag] for _, _, tag in rows]),
            )

    def _pipe_texts(self, texts: Iterable[str], *, disable: Iterable[str]) -> Iterator[tuple[Doc, str]]:
        # Replace characters without UTF-8 one for one; empty if the text is too long.
        given = [(SURROGATE.sub("\ufffd", text) if len(text) <= MAX_CHARACTERS else "", text) for text in texts]
        yield from self._nlp.pipe(given, as_tuples=True, disable=list(disable), batch_size=256)


def _load_spacy_pipeline(folder: Path) -> Language:
    import spacy
    from thinc.api import NumpyOps, get_current_ops, use_ops

    # numpy's matrix products are twice as fast as spaCy's default
    on_cpu = type(get_current_ops()) is NumpyOps
    try:
        with use_ops("numpy", use_blis=False) if on_cpu else nullcontext():
            nlp = spacy.load(folder)
    except Exception as error:
        raise LanguageError(f"the spaCy pipeline {folder} cannot be loaded: {error!r}") from error
    if lacking := [name for name in NEEDED if name not in nlp.pipe_names]:
        raise LanguageError(f"the spaCy pipeline {folder} has no {' and no '.join(lacking)}: {nlp.pipe_names}")
    return nlp


_load_once = cache(_load_spacy_pipeline)


def _find_spacy_pipeline_folder(name: str) -> Path:
    """Return the folder of a pipeline: a path, or an installed package with its data, found without importing it."""
    if name.startswith((".", "/", "~")) or Path(name).is_dir():
        return expand_home(name)
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        spec = None
    for root in map(Path, (spec.submodule_search_locations or ()) if spec else ()):
        for meta in sorted(root.rglob("meta.json")):
            if (meta.parent / "config.cfg").exists():
                return meta.parent
    raise LanguageError(
        f"there is no spaCy pipeline {name!r} here, as a folder or an installed package. Download it where there is "
        f"a network (python -m spacy download {name}), or leave --spacy-model out"
    )


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


def has_clearnlp_labels(labels: Iterable[str]) -> bool:
    """Return whether these are a parser's labels of ClearNLP.

    >>> has_clearnlp_labels(["ROOT", "dobj", "prep"]), has_clearnlp_labels(["ROOT", "obj", "case"])
    (True, False)
    """
    known = set(labels)
    return "dobj" in known and "obj" not in known


def convert_to_universal(parse: Parse) -> Parse:
    """Return the parse with heads and relations converted to Universal Dependencies; unchanged if it is not a tree."""
    tree = DependencyTree(parse)
    if len(tree.tokens_top_down()) != len(parse):
        return parse
    for change in (
        _convert_coordination,
        _invert_copulas,
        _invert_prepositions,
        _turn_subjects_into_objects,
        _attach_fixed_expressions,
        _rename_relations,
    ):
        change(tree)
    return replace(parse, heads=tuple(tree.heads), deps=tuple(tree.deps))


class DependencyTree:
    """Heads and relations of a parse during conversion; a root heads itself."""

    def __init__(self, parse: Parse) -> None:
        self.parse = parse
        self.heads, self.deps = list(parse.heads), list(parse.deps)
        self._below: list[set[int]] = [set(result) for result in parse.children]

    def tokens_top_down(self) -> list[int]:
        """Return all tokens of a root's tree, heads before their dependents."""
        result = [i for i, head in enumerate(self.heads) if head == i]
        for at in result:
            result += self._below[at]
        return result

    def dependents(self, at: int, *deps: str) -> list[int]:
        """Return the dependents of a token, by one of these relations or any, in text order."""
        return sorted(i for i in self._below[at] if not deps or self.deps[i] in deps)

    def first_token(self, at: int) -> int:
        """Return the first token of the subtree of `at`."""
        here, left = at, [at]
        while left:
            one = left.pop()
            here = min(here, one)
            left += self._below[one]
        return here

    def attach(self, at: int, head: int, dep: str) -> None:
        """Attach a token to a head outside its own subtree, or make it a root."""
        self._below[self.heads[at]].discard(at)
        self.heads[at], self.deps[at] = head, dep
        if head != at:
            self._below[head].add(at)

    def replace_head(self, at: int, dep: str, below: str) -> None:
        """Let a token replace its head, by `dep`; the old head, by `below`, and its dependents attach to it."""
        high = self.heads[at]
        top = self.heads[high]
        self.attach(at, *((at, self.deps[high]) if top == high else (top, dep)))
        for i in self.dependents(high):
            self.attach(i, at, self.deps[i])
        self.attach(high, at, below)


def _convert_coordination(tree: DependencyTree) -> None:
    """Attach "and" and commas to the following part, and each part to the first."""
    joined = [i for i, dep in enumerate(tree.deps) if dep == "conj" and tree.heads[i] != i]
    for link in (i for i, dep in enumerate(tree.deps) if dep == "cc" and tree.heads[i] < i):
        following = (i for i in tree.dependents(tree.heads[link], "conj") if i > link)
        tree.attach(link, next(following, tree.heads[link]), "cc")
    for at in joined:
        comma, head = tree.first_token(at) - 1, tree.heads[at]
        if head < comma and tree.heads[comma] == head and tree.parse.words[comma] in (",", ";"):
            tree.attach(comma, at, tree.deps[comma])
    for at in joined:
        head = tree.heads[at]
        while tree.deps[head] == "conj" and tree.heads[head] != head:
            if tree.dependents(head, *SUBJECTS) and not tree.dependents(at, *SUBJECTS):
                break  # the part shares the subject of the previous one: "he came and she sat and read"
            head = tree.heads[head]
        tree.attach(at, head, "conj")


def _invert_copulas(tree: DependencyTree) -> None:
    """Make the complement of "be" the head of its clause; in "there is" it is the subject."""
    parse = tree.parse
    for at in range(len(parse)):
        is_be = parse.lemmas[at].lower() == "be" or parse.lowers[at] in BE
        predicates = tree.dependents(at, "acomp", "attr") if is_be and tree.deps[at] not in ("aux", "auxpass") else []
        if not predicates:
            continue
        if any(parse.lowers[i] == "there" for i in tree.dependents(at, "expl")):
            if tree.deps[predicates[0]] == "attr" and not tree.dependents(at, "nsubj"):
                tree.attach(predicates[0], at, "nsubj")
        else:
            tree.replace_head(predicates[0], tree.deps[at], "cop")


def _invert_prepositions(tree: DependencyTree) -> None:
    """Make the object of each preposition the head of its phrase, starting with the innermost phrase."""
    for at in reversed(tree.tokens_top_down()):
        thing = _find_preposition_object(tree, at)
        if thing is None:
            continue
        outer = tree.heads[at]
        if (
            tree.deps[at] == "prep"
            and tree.deps[outer] in PREPOSITIONS
            and _find_preposition_object(tree, outer) is not None
        ):
            tree.attach(at, tree.heads[outer] if tree.heads[outer] != outer else outer, "prep")  # from A to B
        verbal = tree.parse.tags[thing].startswith("VB") or bool(tree.dependents(thing, *CLAUSAL))
        clause = tree.deps[thing] == "pcomp" and verbal
        tree.replace_head(thing, _relation_of_phrase(tree, at, clause=clause), "mark" if clause else "case")
        for i in tree.dependents(thing, "pcomp"):
            if tree.parse.pos[i] == "ADP" and not tree.dependents(i):  # the "of" of "because of"
                tree.attach(i, thing, "case")


def _find_preposition_object(tree: DependencyTree, at: int) -> int | None:
    """Return the object or clause of a preposition."""
    return next(iter(tree.dependents(at, "pobj") or tree.dependents(at, "pcomp")), None)


def _relation_of_phrase(tree: DependencyTree, at: int, *, clause: bool) -> str:
    """Return the relation of a preposition's phrase to the preposition's head."""
    parse, dep, outer = tree.parse, tree.deps[at], tree.heads[at]
    if outer != at and _forms_one_preposition(tree, outer, at):
        return "pcomp" if clause else "pobj"
    if dep not in PHRASES:
        return dep
    if dep == "agent" and not clause:
        return "obl:agent"
    nominal = parse.pos[outer] in NOMINAL and parse.pos[parse.heads[at]] not in VERBAL
    return ("acl" if nominal else "advcl") if clause else ("nmod" if nominal else "obl")


def _forms_one_preposition(tree: DependencyTree, outer: int, at: int) -> bool:
    """Return whether two prepositions form one: "out of", "because of"; the outer one then governs the inner one's
    object.
    """
    if _find_preposition_object(tree, outer) not in (None, at) or tree.deps[at] not in ("prep", "pcomp", "pobj"):
        return False
    if outer == at - 1 and _two_words_ending_at(tree.parse, at) in FIXED:
        return True
    pos, dep = tree.parse.pos[outer], tree.deps[outer]
    return (pos == "ADP" and dep != "prt") or (dep in PREPOSITIONS and pos not in NOMINAL | VERBAL)


def _two_words_ending_at(parse: Parse, at: int) -> str:
    return " ".join(parse.lowers[max(at - 1, 0) : at + 1])


def _turn_subjects_into_objects(tree: DependencyTree) -> None:
    """Make the subject of a clause without a finite verb the object of the verb above: "saw him leave"."""
    parse = tree.parse
    for at in (i for i, dep in enumerate(tree.deps) if dep == "ccomp"):
        verb, subjects = tree.heads[at], tree.dependents(at, "nsubj", "nsubjpass")
        if parse.pos[verb] != "VERB" or not subjects or not verb < subjects[0] < at:
            continue
        finite = any(parse.tags[i] in FINITE for i in (at, *tree.dependents(at, "aux", "auxpass", "cop")))
        open_clause = not finite and not tree.dependents(at, "mark") and parse.lowers[subjects[0]] not in NOMINATIVE
        if open_clause and not tree.dependents(verb, "dobj"):
            tree.attach(subjects[0], verb, "dobj")
            tree.attach(at, verb, "xcomp")


def _attach_fixed_expressions(tree: DependencyTree) -> None:
    """Attach the second word of "because of" and the like to the first."""
    for at in range(1, len(tree.parse)):
        head, dep = tree.heads[at], tree.deps[at]
        beside = tree.heads[at - 1] == head and head not in (at, at - 1)
        if beside and dep in ("case", "mark") and _two_words_ending_at(tree.parse, at) in FIXED:
            tree.attach(at - 1, head, dep)
            tree.attach(at, at - 1, "fixed")


def _rename_relations(tree: DependencyTree) -> None:
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
