" exportlint for Vim through vim-lsp: `source` this file in your vimrc

augroup exportlint
    autocmd!
    autocmd User lsp_setup call lsp#register_server({
    \   'name': 'exportlint',
    \   'cmd': {server_info -> ['exportlint', 'server']},
    \   'root_uri': {server_info -> lsp#utils#path_to_uri(lsp#utils#find_nearest_parent_file_directory(
    \       lsp#utils#get_buffer_path(), ['exportlint.toml', '.exportlint.toml', 'pyproject.toml', '.git/']))},
    \   'allowlist': ['python'],
    \   'initialization_options': {'settings': {}},
    \})
augroup END
