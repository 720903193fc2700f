-- exportlint for Neovim >= 0.11: `vim.lsp.enable("exportlint")` finds this file as `lsp/exportlint.lua` on the runtimepath.
return {
  cmd = { "exportlint", "server" },
  filetypes = { "python" },
  root_markers = { { "exportlint.toml", ".exportlint.toml" }, "pyproject.toml", ".git" },
  init_options = {
    -- for example { mode = "strict" }; the server reads the project's own pyproject.toml in any case
    settings = vim.empty_dict(),
  },
}
