"""A relational graph network over the words of a text, whose edges are its predicates' arguments.

For SBERT-RGCN, with which "Predicate-Argument Based Bi-Encoder for Paraphrase Identification" compares (Peng et al.
2021; the layers are those of Schlichtkrull et al. 2018). Edges lead from each word of a predicate to each word of an
argument, and back. Each role has one matrix per direction, and a word's own state has a further matrix.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from encheck.errors import ModelError
from encheck_papers.frames import Argument

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import ModuleList

OTHER = "other"  # for a role that is not listed
MODIFIERS = "ADJ ADV CAU COM DIR DIS EXT GOL LOC LVB MNR MOD NEG PNC PRD PRP REC TMP"
ROLES = {
    "parse": (*"nsubj obj iobj obl advmod advcl ccomp xcomp".split(), OTHER),
    "frames": (*(f"ARG{i}" for i in "012345A"), *(f"ARGM-{kind}" for kind in MODIFIERS.split()), OTHER),
}


def edges_of(arguments: Sequence[Argument], *, roles: Sequence[str], words: Collection[int]) -> NDArray[np.int64]:
    """Edges [e, 3]: from which word, to which, and the number of their relation; only between these `words`.

    C- and R- roles count as the roles that they continue or refer to.

    >>> edges_of([Argument((1,), (0,), "R-obj")], roles=("nsubj", "obj", "other"), words={0, 1}).tolist()
    [[1, 0, 1], [0, 1, 4]]
    """
    number = {role: i for i, role in enumerate(roles)}
    found: list[tuple[int, int, int]] = []
    for predicate, argument, role in arguments:
        relation = number.get(role.removeprefix("C-").removeprefix("R-"), number[OTHER])
        pairs = [(a, b) for a in predicate for b in argument if a in words and b in words]
        found += [edge for a, b in pairs for edge in ((a, b, relation), (b, a, relation + len(roles)))]
    return np.array(found, np.int64).reshape(-1, 3)


def relational_layers(dimension: int, *, roles: Sequence[str], count: int) -> ModuleList:
    """This many layers of torch_geometric, with two relations per role; ModelError if that package is missing."""
    from torch.nn import ModuleList

    try:
        with warnings.catch_warnings():  # it compiles functions in a way that torch deprecates
            warnings.simplefilter("ignore", DeprecationWarning)
            from torch_geometric.nn import RGCNConv
    except ImportError as error:
        raise ModelError(
            f"a graph network needs torch_geometric, which cannot be imported ({error}). Remedy: pip install "
            "./papers[rgcn], or pip install torch_geometric"
        ) from error
    return ModuleList(RGCNConv(dimension, dimension, num_relations=2 * len(roles)) for _ in range(count))


def convolved(layers: ModuleList, vectors: Tensor, there: Tensor, edges: Tensor) -> Tensor:
    """The vectors of words [n, w, d] after the layers, with ReLU between them; words not `there` [n, w] are zeros.

    `edges` has shape [n, e, 3], as from `edges_of`, padded with -1.
    """
    import torch

    number = there.flatten().cumsum(dim=0) - 1  # of each word among all that are there
    first = torch.arange(len(vectors), device=vectors.device) * vectors.shape[1]
    used = edges[:, :, 2] >= 0
    ends = number[(edges[:, :, :2] + first[:, None, None])[used]].T
    states = vectors[there]
    for i, layer in enumerate(layers):
        states = _layer_output(layer, states.relu() if i else states, ends, edges[:, :, 2][used])
    found = torch.zeros_like(vectors, dtype=states.dtype)
    found[there] = states
    return found


def _layer_output(layer: Any, states: Tensor, ends: Tensor, relations: Tensor) -> Tensor:
    """The output of an RGCNConv, shape [words, d].

    Its own `forward` indexes the matrices one by one, which gives each a gradient of the size of them all.
    """
    size = (len(states), len(states))
    found: Tensor = states @ layer.root + layer.bias
    for number, matrix in enumerate(layer.weight.unbind()):
        found = found + layer.propagate(ends[:, relations == number], size=size, x=states, edge_type_ptr=None) @ matrix
    return found
