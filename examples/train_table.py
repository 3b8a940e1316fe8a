# SPDX-License-Identifier: MIT
"""A recommender whose table of items stays in host memory while the model trains on a device.

    python3 train_table.py [device]
"""

import sys

import torch

import sheaf.torch

ITEMS, WIDTH = 2000, 16


# [example train-table]
class Recommender(torch.nn.Module):
    """How well an item goes with a history of items."""

    def __init__(self):
        super().__init__()
        self.items = sheaf.torch.Table(0.1 * torch.randn(ITEMS, WIDTH))  # stays in host memory
        self.history = torch.nn.Linear(WIDTH, WIDTH)

    def forward(self, history, item):
        rows = self.items(torch.cat([history, item[:, None]], 1))  # on the device of the ids
        user = self.history(rows[:, :-1].mean(1))
        return (user * rows[:, -1]).sum(1)


def train(model, batches):
    rows = sheaf.torch.RowWiseAdagrad(model.items, lr=0.3)  # one number of state for each row
    dense = torch.optim.Adagrad(model.history.parameters(), lr=0.1)
    for history, item, liked in batches:
        rows.zero_grad()
        dense.zero_grad()
        score = model(history, item)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(score, liked)
        loss.backward()  # the rows of the batch get sums, each once
        rows.step()      # applied to host memory
        dense.step()
        yield loss.item()
# [/example]


def some_batches(count, device):
    """People like items of the kind that they had before; there are two kinds."""
    for _ in range(count):
        kind = torch.randint(2, (64, 1), device=device)
        history = 2 * torch.randint(ITEMS // 2, (64, 8), device=device) + kind
        item = torch.randint(ITEMS, (64,), device=device)
        yield history, item, (item % 2 == kind[:, 0]).float()


def main(device="cpu"):
    torch.manual_seed(0)
    model = Recommender().to(device)
    losses = list(train(model, some_batches(200, device)))
    first, last = (sum(part) / 20 for part in (losses[:20], losses[-20:]))
    print(f"loss {first:.2f}, then {last:.2f}; the table is on {model.items.weight.device.type}")
    return first, last


if __name__ == "__main__":
    main(*sys.argv[1:])
