;;; plan.el --- follows the plan of drive.py in Emacs  -*- lexical-binding: t -*-

;;; Commentary:
;; What is the same for Eglot and lsp-mode.  Each of their scripts loads this file, defines
;; how to connect, hover and choose an action, and calls `plan-follow'.

;;; Code:

(require 'flymake)
(require 'json)

(defvar plan (with-temp-buffer
               (insert-file-contents (getenv "EXPORTLINT_PLAN"))
               (json-parse-buffer :object-type 'plist :array-type 'list)))

(defun plan-get (&rest keys)
  "Return what stands under KEYS in the plan."
  (let ((value plan))
    (dolist (key keys value)
      (setq value (plist-get value key)))))

(defun plan-wait (done)
  "Wait until DONE returns non-nil or time is up; batch Emacs has no idle timers, so kick Flymake."
  (let ((end (+ (float-time) (/ (plan-get :wait) 1000.0))))
    (while (and (not (funcall done)) (< (float-time) end))
      (accept-process-output nil 0.05)
      (flymake-start))))

(defun plan-text ()
  "Return the whole text."
  (buffer-substring-no-properties (point-min) (point-max)))

(defun plan-codes (code)
  "Return the sorted codes of what Flymake shows, by the function CODE."
  (sort (mapcar code (flymake-diagnostics)) #'string<))

(defun plan-state (code wanted)
  "Return what is shown once it is WANTED, or when time is up.  CODE gives the code of a diagnostic."
  (plan-wait (lambda () (equal (plan-codes code) wanted)))
  (list :findings
        (vconcat
         (mapcar (lambda (d)
                   (list :code (funcall code d)
                         :line (line-number-at-pos (flymake-diagnostic-beg d))
                         :text (buffer-substring-no-properties
                                (flymake-diagnostic-beg d) (flymake-diagnostic-end d))))
                 (flymake-diagnostics)))
        :text (plan-text)))

(defun plan-place (code wanted)
  "Go to the finding with the code WANTED and return its diagnostic.  CODE is as above."
  (let ((found (seq-find (lambda (d) (equal (funcall code d) wanted)) (flymake-diagnostics))))
    (when found (goto-char (flymake-diagnostic-beg found)))
    found))

(defun plan-answer (title)
  "Return a `completing-read' that chooses the entry with TITLE."
  (lambda (_prompt collection &rest _)
    (let ((titles (all-completions "" collection)))
      (or (seq-find (lambda (entry) (string-match-p (regexp-quote title) entry)) titles)
          (error "No %s among %S" title titles)))))

(defun plan-follow (code hover choose)
  "Follow the plan in this buffer and write the report.
CODE gives the code of a diagnostic, HOVER the text at point.
CHOOSE applies the action of a title and a kind, at a diagnostic."
  (let (report)
    (condition-case problem
        (progn
          (setq report (plist-put report :client (format "emacs %s" emacs-version)))
          (setq report (plist-put report :opened (plan-state code (plan-get :opened))))
          (let ((finding (plan-place code (plan-get :quickfix :finding))))
            (setq report (plist-put report :hover (funcall hover)))
            (funcall choose (plan-get :quickfix :title) "quickfix" finding))
          (setq report (plist-put report :quickfix (plan-state code (plan-get :quickfix :codes))))
          (goto-char (point-min))
          (forward-line (1- (plan-get :edit :line)))
          (insert (plan-get :edit :text) "\n")
          (setq report (plist-put report :edit (plan-state code (plan-get :edit :codes))))
          (funcall choose (plan-get :fixall :title) (plan-get :fixall :kind) nil)
          (setq report (plist-put report :fixall (plan-state code (plan-get :fixall :codes))))
          (save-buffer))
      (error (setq report (plist-put report :error (format "%S" problem)))))
    (let ((coding-system-for-write 'utf-8-unix))
      (with-temp-file (plan-get :report)
        (json-insert report)))))

(provide 'plan)
;;; plan.el ends here
