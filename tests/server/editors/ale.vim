" Drives Vim with ALE through the plan of drive.py, with the linter of editors/vim.
set nocompatible hidden noswapfile nobackup encoding=utf-8
let s:plan = json_decode(join(readfile($EXPORTLINT_PLAN), "\n"))
let s:report = {'client': 'vim ' . v:version}
exe 'set runtimepath^=' . fnameescape($EXPORTLINT_ALE)
exe 'set runtimepath^=' . fnameescape(s:plan.config)
let g:ale_linters = {'python': ['exportlint']}
let g:ale_lint_delay = 0
let g:ale_hover_to_preview = 1
filetype plugin on
runtime! plugin/**/*.vim
if !exists(':ALECodeAction')
    call writefile([json_encode({'missing': 'ALE'})], s:plan.report)
    qall!
endif
" ALE asks for the number of an action: choose it by what the menu says
runtime autoload/ale/util.vim
let s:wanted = ''
let s:asked = 0
function! ale#util#Input(message, value, ...) abort
    let s:asked = 1
    for l:line in split(a:message, "\n")
        if stridx(l:line, ') ' . s:wanted) > 0
            return matchstr(l:line, '^\d\+')
        endif
    endfor
    let s:report.error = 'no ' . s:wanted . ' in ' . a:message
    return ''
endfunction

function! s:Wait(done) abort
    let l:left = s:plan.wait
    while l:left > 0 && !a:done()
        sleep 50m
        let l:left -= 50
    endwhile
    return a:done()
endfunction

function! s:Findings() abort
    return filter(copy(ale#engine#GetLoclist(s:buffer)), {_, found -> get(found, 'linter_name', '') ==# 'exportlint'})
endfunction

function! s:Codes() abort
    return sort(map(s:Findings(), {_, found -> get(found, 'code', '?')}))
endfunction

function! s:Text() abort
    return join(getbufline(s:buffer, 1, '$'), "\n") . "\n"
endfunction

function! s:Underlined(found) abort
    let l:line = getbufline(s:buffer, a:found.lnum)[0]
    return {'code': a:found.code, 'line': a:found.lnum, 'text': l:line[a:found.col - 1 : a:found.end_col - 1]}
endfunction

" Report what is shown once it is what is waited for, or when time is up; that is the end then.
function! s:Show(step, wanted) abort
    let l:reached = s:Wait({-> s:Codes() ==# a:wanted})
    let s:report[a:step] = {'findings': map(s:Findings(), {_, found -> s:Underlined(found)}), 'text': s:Text()}
    if !l:reached
        throw 'the findings did not come: ' . a:step
    endif
endfunction

function! s:GoTo(code) abort
    for l:found in s:Findings()
        if l:found.code ==# a:code
            call cursor(l:found.lnum, l:found.col)
        endif
    endfor
endfunction

function! s:Preview() abort
    let l:shown = ''
    for l:window in range(1, winnr('$'))
        if getwinvar(l:window, '&previewwindow')
            let l:shown = join(getbufline(winbufnr(l:window), 1, '$'), "\n")
        endif
    endfor
    return l:shown
endfunction

function! s:Hover() abort
    ALEHover
    call s:Wait({-> !empty(s:Preview())})
    let l:shown = s:Preview()
    pclose
    return l:shown
endfunction

function! s:Choose(title) abort
    let s:wanted = a:title
    let s:asked = 0
    let l:before = s:Text()
    ALECodeAction
    call s:Wait({-> s:asked && s:Text() !=# l:before})
endfunction

function! s:Main() abort
    exe 'edit' fnameescape(s:plan.file)
    let s:buffer = bufnr('')
    call s:Show('opened', s:plan.opened)
    call s:GoTo(s:plan.quickfix.finding)
    let s:report.hover = s:Hover()
    call s:Choose(s:plan.quickfix.title)
    call ale#Queue(0, '')
    call s:Show('quickfix', s:plan.quickfix.codes)
    call append(s:plan.edit.line - 1, s:plan.edit.text)
    call ale#Queue(0, '')
    call s:Show('edit', s:plan.edit.codes)
    call s:Choose(s:plan.fixall.title)
    call ale#Queue(0, '')
    call s:Show('fixall', s:plan.fixall.codes)
    write
endfunction

try
    call s:Main()
catch
    let s:report.error = v:exception . ' at ' . v:throwpoint
endtry
call writefile([json_encode(s:report)], s:plan.report)
qall!
