"""`python digits.py [FOLDER]`: scikit-learn's handwritten digits as digits.npz, for digits.sx. Without a folder, beside this file.

The archive holds `image`, f32[1797 8 8] in [0, 1], and `label`, i32[1797]. The first 1,437 records are for training, the easy ones
first; the last 360, every fifth of each digit, are for evaluation. An image is hard when it lies nearer to the mean of another
digit than to that of its own, and the harder the more. The same bytes are written every time.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits


def records() -> tuple[np.ndarray, np.ndarray]:
    """Images `[n, 8, 8]` and labels `[n]`, in the order described above."""
    pixels, digits = load_digits(return_X_y=True)
    images = (pixels.reshape(-1, 8, 8) / 16).astype(np.float32)
    labels = digits.astype(np.int32)
    turn = np.empty(len(labels), np.int64)  # the how-manieth of its digit each one is
    for digit in range(10):
        turn[labels == digit] = np.arange((labels == digit).sum())
    held_out = turn % 5 == 4
    means = np.stack([images[~held_out & (labels == digit)].mean(axis=0) for digit in range(10)])
    distances = np.linalg.norm((images[:, None] - means).reshape(len(labels), 10, -1), axis=-1)
    own = np.take_along_axis(distances, labels[:, None], axis=1)[:, 0]
    np.put_along_axis(distances, labels[:, None], np.inf, axis=1)
    hardness = own - distances.min(axis=1)
    training = np.flatnonzero(~held_out)
    order = np.concatenate([training[np.argsort(hardness[training], kind="stable")], np.flatnonzero(held_out)])
    return images[order], labels[order]


def main() -> None:
    parser = argparse.ArgumentParser(description="Write scikit-learn's handwritten digits as digits.npz.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parent, help="where to write it (beside this file)")
    path = parser.parse_args().folder / "digits.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    image, label = records()
    np.savez(path, image=image, label=label)
    print(f"{path}: {len(label)} records")


if __name__ == "__main__":
    main()
