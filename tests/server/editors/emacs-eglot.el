;;; emacs-eglot.el --- Eglot with editors/emacs/exportlint-eglot.el  -*- lexical-binding: t -*-

;;; Code:

(load (expand-file-name "plan.el" (file-name-directory load-file-name)))
(plan-require 'eglot)
(load (concat (plan-get :config) "/exportlint-eglot.el"))

(defun code-of (diagnostic)
  "Return the code that Eglot got with DIAGNOSTIC."
  (plist-get (cdr (assq 'eglot-lsp-diag (flymake-diagnostic-data diagnostic))) :code))

(defun hover ()
  "Return what Eglot gives ElDoc to show."
  (let (shown)
    (eglot-hover-eldoc-function (lambda (text &rest _) (setq shown (or text "nothing"))))
    (plan-wait (lambda () shown))
    (substring-no-properties (or shown ""))))

(defun choose (title kind diagnostic)
  "Choose the action with TITLE and KIND at DIAGNOSTIC, or in the whole buffer."
  (let ((last-nonmenu-event t))
    (cl-letf (((symbol-function 'completing-read) (plan-answer title)))
      (eglot-code-actions (if diagnostic (flymake-diagnostic-beg diagnostic) (point-min))
                          (if diagnostic (flymake-diagnostic-end diagnostic) (point-max))
                          kind t)))
  (eglot--signal-textDocument/didChange))

(setq make-backup-files nil
      eglot-sync-connect 30
      eglot-confirm-server-initiated-edits nil
      eglot-confirm-server-edits nil)
(find-file (plan-get :file))
(python-mode)
(apply #'eglot (let ((current-prefix-arg nil)) (eglot--guess-contact)))
;; batch Emacs has no idle timers: tell the server of changes before it is waited for
(advice-add 'flymake-start :before (lambda (&rest _) (eglot--signal-textDocument/didChange)))
(plan-follow #'code-of #'hover #'choose)
;;; emacs-eglot.el ends here
