-- exportlint for Neovim 0.7 to 0.10: `dofile` this file in init.lua. Neovim >= 0.11 takes lsp/exportlint.lua instead.
local config = {
  name = "exportlint",
  cmd = { "exportlint", "server" },
  init_options = {
    -- for example { mode = "strict" }; the server reads the project's own pyproject.toml in any case
    settings = vim.empty_dict(),
  },
}
local markers = { "exportlint.toml", ".exportlint.toml", "pyproject.toml", ".git" }

local function root_of(file)
  local directory = vim.fn.fnamemodify(file, ":p:h")
  while true do
    for _, marker in ipairs(markers) do
      if vim.loop.fs_stat(directory .. "/" .. marker) then
        return directory
      end
    end
    local parent = vim.fn.fnamemodify(directory, ":h")
    if parent == directory then
      return nil
    end
    directory = parent
  end
end

-- One server for each root, because vim.lsp.start() came with Neovim 0.8 only.
local clients = {}

local function attach(buffer)
  local file = vim.api.nvim_buf_get_name(buffer)
  local root = root_of(file) or vim.fn.getcwd()
  local client = clients[root] and vim.lsp.get_client_by_id(clients[root])
  if not client or client.is_stopped() then
    clients[root] = vim.lsp.start_client(vim.tbl_extend("force", config, { root_dir = root }))
  end
  if clients[root] then
    vim.lsp.buf_attach_client(buffer, clients[root])
  end
end

vim.api.nvim_create_autocmd("FileType", {
  pattern = "python",
  callback = function(event)
    attach(event.buf)
  end,
})
