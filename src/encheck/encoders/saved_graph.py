"""What a SavedModel's graph would do outside of TensorFlow: files, network, Python; told by its operators' names.

TensorFlow's own functions for saving and restoring stand in every SavedModel. They are passed over where nothing but
the saver refers to them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

RULE = re.compile(
    "File|Reader|Save|Restore|Checkpoint|PyFunc|Rpc|Remote|Debug|Print|SummaryWriter|SummaryFileWriter|SummaryDbWriter"
    "|Write.*Summary|Snapshot|Dataset|LMDB|ImmutableConst|DumpTensor|LoadAndRemapMatrix|HostCompute|Collective"
    "|^_?(?:Host)?(?:Send|Recv)$"
)
VOCABULARY = {"InitializeTableFromTextFile", "InitializeTableFromTextFileV2"}  # a word a line, of the model's assets


def reaching_out(graph: bytes) -> list[str]:
    """Operators of a saved_model.pb that touch files, the network or Python, sorted; TensorFlow is imported.

    Raises google.protobuf's DecodeError if the bytes are no SavedModel.
    """
    from tensorflow.core.protobuf import saved_model_pb2

    saved = saved_model_pb2.SavedModel.FromString(graph)
    return sorted({op for meta in saved.meta_graphs for op in _operators(meta) if is_outside(op)})


def is_outside(operator: str) -> bool:
    """Whether an operator of this name touches files, the network or Python.

    >>> is_outside("WriteFile"), is_outside("ReadVariableOp"), is_outside("TextLineDataset")
    (True, False, True)
    """
    return operator not in VOCABULARY and RULE.search(operator) is not None


def _operators(meta: Any) -> Iterator[str]:
    """The operators of a graph and its functions, except for those that only its saver leads to."""
    scopes, savers = _saver(meta)
    for node in meta.graph_def.node:
        if node.name not in savers and not node.name.startswith(scopes):
            yield node.op
    exempt = {name for node in meta.graph_def.node if node.name in savers for name in _called(node)}
    exempt -= _called_otherwise(meta, savers)
    for function in meta.graph_def.library.function:
        if function.signature.name not in exempt:
            yield from (node.op for node in function.node_def)


def _saver(meta: Any) -> tuple[tuple[str, ...], set[str]]:
    """The scope of a saver from before TensorFlow 2, and the nodes of one since; none where others lead to them."""
    saver, scope = meta.saver_def, meta.saver_def.restore_op_name.rpartition("/")[0]
    own = {saver.save_tensor_name.partition(":")[0], saver.restore_op_name}
    inside = {n.name for n in meta.graph_def.node if n.name in own or (scope and n.name.startswith(f"{scope}/"))}
    outputs = {t.name for s in meta.signature_def.values() for t in s.outputs.values()}
    used = {_node(name) for node in meta.graph_def.node if node.name not in inside for name in node.input}
    if inside & (used | {_node(name) for name in outputs} | _run_first(meta)):
        return (), set()
    return ((f"{scope}/",) if scope else ()), own


def _run_first(meta: Any) -> set[str]:
    """The nodes that whoever loads the graph runs."""
    named = ("saved_model_main_op", "legacy_init_op", "saved_model_train_op")
    found = [meta.collection_def[name].node_list.value for name in named if name in meta.collection_def]
    return {_node(name) for names in found for name in names}


def _node(name: str) -> str:
    """The node that an input names.

    >>> _node("^save/restore"), _node("dense:1")
    ('save/restore', 'dense')
    """
    return name.removeprefix("^").partition(":")[0]


def _called(node: Any) -> set[str]:
    """The functions that a node names."""
    own = {value.func.name for value in node.attr.values() if value.HasField("func")}
    return own | {f.name for value in node.attr.values() for f in value.list.func}


def _called_otherwise(meta: Any, savers: set[str]) -> set[str]:
    """The functions that anything but the saver refers to: nodes, other functions, the objects, gradients."""
    library = meta.graph_def.library
    nodes = [n for n in meta.graph_def.node if n.name not in savers] + [n for f in library.function for n in f.node_def]
    found = {name for node in nodes for name in (*_called(node), node.op)}  # an operator can be a function's name
    gradients = {name for g in library.gradient for name in (g.function_name, g.gradient_func)}
    return found | gradients | {*meta.object_graph_def.concrete_functions}
