"""Builds a tiny sentence-transformers checkpoint: the real format, one layer, 16 dimensions, random weights."""

import string
from pathlib import Path

MAX_LENGTH = 24
WORDS = "the a dog cat sings sleeps red blue on under".split()


def build(folder: Path, *, seed: int = 0, **settings: object) -> Path:
    """Save a checkpoint in `folder`; settings go to SentenceTransformer (prompts, default_prompt_name, ...)."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

    plain = build_plain(folder / "plain", seed=seed)
    modules = [Transformer(str(plain), max_seq_length=MAX_LENGTH), Pooling(16, "mean"), Normalize()]
    SentenceTransformer(modules=modules, device="cpu", **settings).save(str(folder / "whole"), create_model_card=False)
    return folder / "whole"


def build_plain(folder: Path, *, seed: int = 0) -> Path:
    """Save the transformer alone, as transformers does: no modules.json."""
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(seed)
    words = tokenizer()
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=2 * MAX_LENGTH,
        initializer_range=0.5,
    )
    BertModel(config).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def tokenizer():
    """A WordPiece tokenizer of letters and a few words."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = string.ascii_lowercase + string.digits + ".,!?"
    tokens = dict.fromkeys([*special, *letters, *(f"##{c}" for c in letters), *WORDS])
    vocabulary = {token: i for i, token in enumerate(tokens)}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
    made.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), special, strict=True))
    return PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=MAX_LENGTH, **names)
