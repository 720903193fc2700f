;;; emacs-lsp.el --- lsp-mode with editors/emacs/exportlint-lsp.el  -*- lexical-binding: t -*-

;;; Code:

(load (expand-file-name "plan.el" (file-name-directory load-file-name)))
(plan-require 'lsp-mode)
(load (concat (plan-get :config) "/exportlint-lsp.el"))
(require 'lsp-diagnostics)

(defun code-of (diagnostic)
  "Return the code of the finding of lsp-mode that became DIAGNOSTIC."
  (let ((line (1- (line-number-at-pos (flymake-diagnostic-beg diagnostic))))
        (text (flymake-diagnostic-text diagnostic)))
    (or (seq-some (lambda (found)
                    (let ((range (lsp:diagnostic-range found)))
                      (and (= line (lsp:position-line (lsp:range-start range)))
                           (string-match-p (regexp-quote (lsp:diagnostic-message found)) text)
                           (lsp:diagnostic-code? found))))
                  (gethash (lsp--fix-path-casing buffer-file-name) (lsp-diagnostics t)))
        "?")))

(defun hover ()
  "Return what `lsp-describe-thing-at-point' shows."
  (lsp-describe-thing-at-point)
  (with-current-buffer "*lsp-help*" (plan-text)))

(defun choose (title kind diagnostic)
  "Choose the action with TITLE and KIND at DIAGNOSTIC, or in the whole buffer."
  (unless diagnostic
    (goto-char (point-min))
    (set-mark (point-max))
    (activate-mark))
  (cl-letf (((symbol-function 'completing-read) (plan-answer title)))
    (lsp-execute-code-action
     (lsp--select-action (lsp-code-actions-at-point kind))))
  (deactivate-mark))

(setq make-backup-files nil
      lsp-session-file (concat (getenv "HOME") "/session")
      lsp-auto-guess-root t
      lsp-warn-no-matched-clients nil
      lsp-enable-file-watchers nil
      lsp-enable-snippet nil
      lsp-headerline-breadcrumb-enable nil
      lsp-lens-enable nil
      lsp-diagnostics-provider :flymake
      lsp-restart 'ignore)
(find-file (plan-get :file))
(python-mode)
(lsp-workspace-folders-add default-directory)
(lsp)
(plan-wait (lambda () (bound-and-true-p lsp--buffer-workspaces)))
(plan-follow #'code-of #'hover #'choose)
;;; emacs-lsp.el ends here
