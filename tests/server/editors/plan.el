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

(defvar plan-report nil "What was shown.")

(defun plan-report (key value)
  "Put VALUE into the report under KEY."
  (setq plan-report (plist-put plan-report key value)))

(defun plan-wait (done)
  "Wait until DONE returns non-nil, and return that, or until time is up.
Batch Emacs has no idle timers, so kick Flymake."
  (let ((end (+ (float-time) (/ (plan-get :wait) 1000.0))) result)
    (while (and (not (setq result (funcall done))) (< (float-time) end))
      (accept-process-output nil 0.05)
      (flymake-start))
    result))

(defun plan-text ()
  "Return the whole text."
  (buffer-substring-no-properties (point-min) (point-max)))

(defun plan-codes (code)
  "Return the sorted codes of what Flymake shows, by the function CODE."
  (sort (mapcar code (flymake-diagnostics)) #'string<))

(defun plan-shown (code)
  "Return what is shown.  CODE gives the code of a diagnostic."
  (list :findings
        (vconcat
         (mapcar (lambda (d)
                   (list :code (funcall code d)
                         :line (line-number-at-pos (flymake-diagnostic-beg d))
                         :text (buffer-substring-no-properties
                                (flymake-diagnostic-beg d) (flymake-diagnostic-end d))))
                 (flymake-diagnostics)))
        :text (plan-text)))

(defun plan-show (step code wanted)
  "Report what is shown after STEP once it is WANTED, or when time is up; that is the end then.
CODE is as above."
  (let ((reached (plan-wait (lambda () (equal (plan-codes code) wanted)))))
    (plan-report step (plan-shown code))
    (unless reached (error "The findings did not come: %s" step))))

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

(defun plan-write ()
  "Write the report."
  (let ((coding-system-for-write 'utf-8-unix))
    (with-temp-file (plan-get :report)
      (json-insert plan-report))))

(defun plan-require (feature)
  "Load FEATURE, also from the packages of the distribution, which `-Q' leaves out; without it that is the report."
  (unless (require feature nil t)
    (require 'package)
    (add-to-list 'package-directory-list "/usr/share/emacs/site-lisp/elpa")
    (package-initialize)
    (unless (require feature nil t)
      (plan-report :missing (symbol-name feature))
      (plan-write)
      (kill-emacs))))

(defun plan-follow (code hover choose)
  "Follow the plan in this buffer and write the report.
CODE gives the code of a diagnostic, HOVER the text at point.
CHOOSE applies the action of a title and a kind, at a diagnostic."
  (condition-case problem
      (progn
        (plan-report :client (format "emacs %s" emacs-version))
        (plan-show :opened code (plan-get :opened))
        (let ((finding (plan-place code (plan-get :quickfix :finding))))
          (plan-report :hover (funcall hover))
          (funcall choose (plan-get :quickfix :title) "quickfix" finding))
        (plan-show :quickfix code (plan-get :quickfix :codes))
        (goto-char (point-min))
        (forward-line (1- (plan-get :edit :line)))
        (insert (plan-get :edit :text) "\n")
        (plan-show :edit code (plan-get :edit :codes))
        (funcall choose (plan-get :fixall :title) (plan-get :fixall :kind) nil)
        (plan-show :fixall code (plan-get :fixall :codes))
        (save-buffer))
    (error (plan-report :error (format "%S" problem))))
  (plan-write))

(provide 'plan)
;;; plan.el ends here
