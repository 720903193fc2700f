-- Drives Neovim through the plan of tests/server/editors/drive.py; both configurations, 0.11's and the older one.
local plan = vim.fn.json_decode(table.concat(vim.fn.readfile(vim.env.EXPORTLINT_PLAN), "\n"))
local report = {}
local buffer

local function codes()
  local found = vim.tbl_map(function(d)
    return d.code
  end, vim.diagnostic.get(buffer))
  table.sort(found)
  return found
end

local function text()
  return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n") .. "\n"
end

local function covered(d)
  local lines = vim.api.nvim_buf_get_lines(buffer, d.lnum, d.end_lnum + 1, false)
  lines[#lines] = lines[#lines]:sub(1, d.end_col)
  lines[1] = lines[1]:sub(d.col + 1)
  return table.concat(lines, "\n")
end

-- Report what the editor shows once it shows the findings that are waited for, or when time is up; that is the end then.
local function show(step, wanted)
  local reached = vim.wait(plan.wait, function()
    return vim.deep_equal(codes(), wanted)
  end, 20)
  local findings = {}
  for _, d in ipairs(vim.diagnostic.get(buffer)) do
    table.insert(findings, { code = d.code, line = d.lnum + 1, text = covered(d) })
  end
  report[step] = { findings = findings, text = text() }
  assert(reached, "the findings did not come: " .. step)
end

local function go_to(code)
  for _, d in ipairs(vim.diagnostic.get(buffer)) do
    if d.code == code then
      vim.api.nvim_win_set_cursor(0, { d.lnum + 1, d.col })
    end
  end
end

-- Choose the action with this title, as a user does in the menu.
local function choose(title, only)
  local before = text()
  vim.ui.select = function(items, options, on_choice)
    for index, item in ipairs(items) do
      local label = options.format_item and options.format_item(item) or ""
      if label:find(title, 1, true) then
        return on_choice(item, index)
      end
    end
    on_choice(nil, nil)
  end
  -- 0.7 takes the context itself
  vim.lsp.buf.code_action(only and { context = { only = { only } }, only = { only } })
  vim.wait(plan.wait, function()
    return text() ~= before
  end, 20)
end

local function hover()
  local shown = ""
  local function read(_, result)
    local contents = result and result.contents
    shown = type(contents) == "table" and contents.value or contents or "nothing"
  end
  local _, client = next((vim.lsp.get_clients or vim.lsp.buf_get_clients)())
  if client then
    report.client = ("nvim %d.%d, %s"):format(vim.version().major, vim.version().minor, client.offset_encoding)
    local position = vim.lsp.util.make_position_params(0, client.offset_encoding)
    vim.lsp.buf_request(buffer, "textDocument/hover", position, read)
  end
  vim.wait(plan.wait, function()
    return shown ~= ""
  end, 20)
  return shown
end

local function main()
  vim.o.swapfile = false
  vim.cmd("filetype on")
  if vim.lsp.enable then
    vim.opt.runtimepath:prepend(plan.config)
    vim.lsp.enable("exportlint")
  else
    dofile(plan.config .. "/exportlint-0.7.lua")
  end
  vim.cmd("edit " .. vim.fn.fnameescape(plan.file))
  buffer = vim.api.nvim_get_current_buf()

  show("opened", plan.opened)
  go_to(plan.quickfix.finding)
  report.hover = hover()
  choose(plan.quickfix.title)
  show("quickfix", plan.quickfix.codes)
  vim.api.nvim_buf_set_lines(buffer, plan.edit.line - 1, plan.edit.line - 1, false, { plan.edit.text })
  show("edit", plan.edit.codes)
  choose(plan.fixall.title, plan.fixall.kind)
  show("fixall", plan.fixall.codes)
  vim.cmd("silent write")
end

local passed, message = xpcall(main, debug.traceback)
if not passed then
  report.error = message
end
-- not json_encode(), which refuses the halves of characters that a broken server underlines
vim.fn.writefile({ vim.json.encode(report) }, plan.report)
vim.cmd("qall!")
