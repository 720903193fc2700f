/** A small model with findings, for those who want to see some. */

import { window, workspace } from "vscode";

const EXAMPLE = `import torch
from torch import Tensor, nn


class Classifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 2)

    def forward(self, x: Tensor) -> Tensor:
        if x.mean() > 0:  # torch.export cannot know which branch to take
            x = x * 2
        if type(x) is torch.Tensor:  # false while torch.export traces: the program gets the other branch
            x = x.relu()
        return self.linear(x.data)
`;

/** Opens it in an editor, in no file. */
export async function openExample(): Promise<void> {
  await window.showTextDocument(await workspace.openTextDocument({ language: "python", content: EXAMPLE }));
}
