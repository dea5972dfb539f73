"""Writes two tiny models with random weights, and the vectors that they give.

    python3 make_reference.py FOLDER

Needs numpy alone. Tokens are cut and the network is run here, independently of the engine,
in double precision. `bert` is a BERT with word pieces, mean pooling and numbers of single
precision; `e5` an XLM-RoBERTa with a unigram vocabulary, first-token pooling and numbers of
half precision, under the prefixes of E5.
"""

import json
import math
import struct
import sys
from pathlib import Path

import numpy as np

random = np.random.default_rng(20240229)
erf = np.vectorize(math.erf)


def write_safetensors(path, tensors, kind):
    header, offset, body = {"__metadata__": {"format": "pt"}}, 0, b""
    for name, value in tensors.items():
        raw = value.astype(kind).tobytes()
        code = {"<f4": "F32", "<f2": "F16"}[kind]
        header[name] = {"dtype": code, "shape": list(value.shape), "data_offsets": [offset, offset + len(raw)]}
        offset += len(raw)
        body += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def make_tensors(config, prefix, kind):
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    tensors = {}

    def tensor(name, *shape, scale=0.15, around=0.0):
        value = random.normal(around, scale, shape)
        # As the file will hold them.
        tensors[prefix + name] = value.astype(kind).astype(np.float64)

    def linear(name, outputs, inputs):
        tensor(name + ".weight", outputs, inputs)
        tensor(name + ".bias", outputs, scale=0.05)

    def norm(name):
        tensor(name + ".weight", hidden, scale=0.1, around=1.0)
        tensor(name + ".bias", hidden, scale=0.05)

    tensor("embeddings.word_embeddings.weight", config["vocab_size"], hidden, scale=0.5)
    tensor("embeddings.position_embeddings.weight", config["max_position_embeddings"], hidden)
    tensor("embeddings.token_type_embeddings.weight", config["type_vocab_size"], hidden)
    norm("embeddings.LayerNorm")
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}."
        for part in ["query", "key", "value"]:
            linear(layer + "attention.self." + part, hidden, hidden)
        linear(layer + "attention.output.dense", hidden, hidden)
        norm(layer + "attention.output.LayerNorm")
        linear(layer + "intermediate.dense", inner, hidden)
        linear(layer + "output.dense", hidden, inner)
        norm(layer + "output.LayerNorm")
    return tensors


def forward(config, tensors, prefix, tokens, first_position):
    get = lambda name: tensors[prefix + name]
    linear = lambda x, name: x @ get(name + ".weight").T + get(name + ".bias")

    def norm(x, name):
        mean = x.mean(axis=1, keepdims=True)
        variance = ((x - mean) ** 2).mean(axis=1, keepdims=True)
        x = (x - mean) / np.sqrt(variance + config["layer_norm_eps"])
        return x * get(name + ".weight") + get(name + ".bias")

    x = get("embeddings.word_embeddings.weight")[tokens]
    x = x + get("embeddings.position_embeddings.weight")[first_position : first_position + len(tokens)]
    x = norm(x + get("embeddings.token_type_embeddings.weight")[0], "embeddings.LayerNorm")
    heads = config["num_attention_heads"]
    size = config["hidden_size"] // heads
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}."
        split = lambda part: linear(x, layer + "attention.self." + part).reshape(len(tokens), heads, size)
        query, key, value = split("query"), split("key"), split("value")
        scores = np.einsum("ihd,jhd->hij", query, key) / math.sqrt(size)
        scores = np.exp(scores - scores.max(axis=2, keepdims=True))
        shares = scores / scores.sum(axis=2, keepdims=True)
        context = np.einsum("hij,jhd->ihd", shares, value).reshape(len(tokens), heads * size)
        x = norm(x + linear(context, layer + "attention.output.dense"), layer + "attention.output.LayerNorm")
        inner = linear(x, layer + "intermediate.dense")
        inner = 0.5 * inner * (1.0 + erf(inner / math.sqrt(2.0)))
        x = norm(x + linear(inner, layer + "output.dense"), layer + "output.LayerNorm")
    return x


def unit(vector):
    return (vector / np.linalg.norm(vector)).tolist()


# --- BERT: word pieces -----------------------------------------------------------------

WORDS = "the key is under blue pot tea no sugar where cat sat mat and then it red a".split()
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", ",", "?", "车", "蓝"] + WORDS
PIECES += ["##s", "##ing", "##ed", "sleep", "walk"]


def word_pieces(text):
    text = text.lower()
    for mark in ".,?车蓝色":
        text = text.replace(mark, f" {mark} ")
    tokens = []
    for word in text.split():
        found, start = [], 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = ("##" if start else "") + word[start:end]
                if piece in PIECES:
                    found.append(PIECES.index(piece))
                    start = end
                    break
            else:
                found = [PIECES.index("[UNK]")]
                break
        tokens += found
    return tokens


def bert(folder):
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "architectures": ["BertModel"], "model_type": "bert", "hidden_size": 32, "num_hidden_layers": 2,
        "num_attention_heads": 4, "intermediate_size": 64, "hidden_act": "gelu", "layer_norm_eps": 1e-12,
        "max_position_embeddings": 40, "type_vocab_size": 2, "vocab_size": len(PIECES), "pad_token_id": 0,
    }
    tensors = make_tensors(config, "", "<f4")
    write_safetensors(folder / "model.safetensors", tensors, "<f4")
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    special = [{"id": n, "content": PIECES[n], "single_word": False, "lstrip": False, "rstrip": False,
                "normalized": False, "special": True} for n in range(5)]
    tokenizer = {
        "version": "1.0",
        # As published models have them: the engine sets its own.
        "truncation": {"direction": "Right", "max_length": 8, "strategy": "LongestFirst", "stride": 0},
        "padding": {"strategy": {"Fixed": 8}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0,
                    "pad_type_id": 0, "pad_token": "[PAD]"},
        "added_tokens": special,
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                       "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "TemplateProcessing",
                           "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                                      {"Sequence": {"id": "A", "type_id": 0}},
                                      {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
                           "pair": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                                    {"Sequence": {"id": "A", "type_id": 0}},
                                    {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
                                    {"Sequence": {"id": "B", "type_id": 1}},
                                    {"SpecialToken": {"id": "[SEP]", "type_id": 1}}],
                           "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]},
                                              "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}}},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": {piece: n for n, piece in enumerate(PIECES)}},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False) + "\n")
    (folder / "modules.json").write_text(json.dumps([
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
    ]) + "\n")
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling/config.json").write_text(json.dumps(
        {"word_embedding_dimension": 32, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True,
         "pooling_mode_max_tokens": False, "pooling_mode_mean_sqrt_len_tokens": False}) + "\n")
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 24, "do_lower_case": False}) + "\n")
    cases = []
    for text in ["The key is under the blue pot.", "tea", "车蓝色", "Where? walking, walked, sleeps",
                 "zebra and the cat", "the cat sat " * 20]:
        tokens = [2] + word_pieces(text)[:22] + [3]
        x = forward(config, tensors, "", tokens, 0)
        cases.append({"text": text, "tokens": tokens, "passage": unit(x.mean(axis=0)), "query": unit(x.mean(axis=0))})
    cases += [{"text": text, "tokens": None, "passage": None, "query": None} for text in ["", "  ", "zebra", "🙂"]]
    return cases


# --- XLM-RoBERTa: unigrams ---------------------------------------------------------------

UNIGRAMS = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -3.0), ("▁the", -2.0), ("▁key", -2.5),
            ("▁query", -3.0), ("▁passage", -3.0), (":", -2.0), ("▁pot", -3.0), ("s", -2.2), ("钥匙", -3.5),
            ("在", -2.5), ("花盆", -3.5), ("▁blue", -3.0), ("e", -4.0), ("t", -4.0), ("h", -4.0), ("钥", -6.0)]


def unigrams(text):
    """The most probable segmentation; one unknown token for each run of unknown characters."""
    text = "▁" + " ".join(text.split()).replace(" ", "▁")
    scores = {piece: (score, n) for n, (piece, score) in enumerate(UNIGRAMS) if n > 3}
    unknown = min(score for _, score in UNIGRAMS) - 10.0
    best = [(0.0, [])] + [(-math.inf, None)] * len(text)
    for end in range(1, len(text) + 1):
        for start in range(end):
            piece = text[start:end]
            if piece in scores:
                score, token = scores[piece]
            elif end - start == 1:
                score, token = unknown, 3
            else:
                continue
            total = best[start][0] + score
            if total > best[end][0]:
                best[end] = (total, best[start][1] + [token])
    tokens = best[-1][1]
    return [token for at, token in enumerate(tokens) if token != 3 or at == 0 or tokens[at - 1] != 3]


def e5(folder):
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "_name_or_path": "made-up/tiny-e5-small", "model_type": "xlm-roberta", "hidden_size": 16,
        "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 40, "hidden_act": "gelu",
        "layer_norm_eps": 1e-5, "max_position_embeddings": 34, "type_vocab_size": 1,
        "vocab_size": len(UNIGRAMS), "pad_token_id": 1,
    }
    tensors = make_tensors(config, "roberta.", "<f2")
    write_safetensors(folder / "model.safetensors", tensors, "<f2")
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    special = [{"id": n, "content": UNIGRAMS[n][0], "single_word": False, "lstrip": False, "rstrip": False,
                "normalized": False, "special": True} for n in range(4)]
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": special, "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "WhitespaceSplit"},
            {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}]},
        "post_processor": {"type": "TemplateProcessing",
                           "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                                      {"Sequence": {"id": "A", "type_id": 0}},
                                      {"SpecialToken": {"id": "</s>", "type_id": 0}}],
                           "pair": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                                    {"Sequence": {"id": "A", "type_id": 0}},
                                    {"Sequence": {"id": "B", "type_id": 0}},
                                    {"SpecialToken": {"id": "</s>", "type_id": 0}}],
                           "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]},
                                              "</s>": {"id": "</s>", "ids": [2], "tokens": ["</s>"]}}},
        "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        "model": {"type": "Unigram", "unk_id": 3, "vocab": [[piece, score] for piece, score in UNIGRAMS],
                  "byte_fallback": False},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False) + "\n")
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling/config.json").write_text(json.dumps(
        {"word_embedding_dimension": 16, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}) + "\n")
    cases = []
    for text in ["the key", "钥匙 在 花盆", "the blue pots", "xyz the key", "the key " * 30]:
        case = {"text": text}
        for kind in ["passage", "query"]:
            tokens = [0] + unigrams(f"{kind}: {text}")[:30] + [2]
            x = forward(config, tensors, "roberta.", tokens, 2)
            case[kind] = unit(x[0])
            case["tokens"] = tokens
        cases.append(case)
    return cases


def main():
    folder = Path(sys.argv[1])
    cases = {"bert": bert(folder / "bert"), "e5": e5(folder / "e5")}
    lines = json.dumps(cases, ensure_ascii=False)
    rounded = json.loads(lines, parse_float=lambda text: round(float(text), 7))
    (folder / "expected.json").write_text(json.dumps(rounded, ensure_ascii=False) + "\n")


main()
