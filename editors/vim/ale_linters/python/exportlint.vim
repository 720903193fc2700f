" exportlint for Vim through ALE: a directory on 'runtimepath' that has this file as ale_linters/python/exportlint.vim

call ale#Set('python_exportlint_executable', 'exportlint')
" for example {'mode': 'strict'}; the server reads the project's own pyproject.toml in any case
call ale#Set('python_exportlint_settings', {})

function! ale_linters#python#exportlint#GetProjectRoot(buffer) abort
    for l:name in ['exportlint.toml', '.exportlint.toml', 'pyproject.toml']
        let l:file = ale#path#FindNearestFile(a:buffer, l:name)

        if !empty(l:file)
            return fnamemodify(l:file, ':h')
        endif
    endfor

    let l:git = ale#path#FindNearestDirectory(a:buffer, '.git')

    return !empty(l:git) ? fnamemodify(l:git, ':h:h') : expand('#' . a:buffer . ':p:h')
endfunction

call ale#linter#Define('python', {
\   'name': 'exportlint',
\   'lsp': 'stdio',
\   'executable': {b -> ale#Var(b, 'python_exportlint_executable')},
\   'command': '%e server',
\   'project_root': function('ale_linters#python#exportlint#GetProjectRoot'),
\   'initialization_options': {b -> {'settings': ale#Var(b, 'python_exportlint_settings')}},
\})
