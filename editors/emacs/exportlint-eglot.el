;;; exportlint-eglot.el --- exportlint through Eglot  -*- lexical-binding: t -*-

;;; Commentary:
;; (load "/path/to/exportlint-eglot.el"), then `M-x eglot' in a Python buffer.
;; Eglot runs one server per major mode: this one replaces any other.

;;; Code:

(require 'eglot)

(defgroup exportlint nil
  "Findings about torch.export."
  :group 'eglot)

(defcustom exportlint-settings nil
  "Settings of the server as a plist, for example (:mode \"strict\")."
  :type '(plist))

(defun exportlint--contact (&rest _)
  "Return how Eglot starts exportlint."
  (list "exportlint" "server"
        :initializationOptions
        (list :settings (or exportlint-settings (make-hash-table)))))

(add-to-list 'eglot-server-programs
             '((python-mode python-ts-mode) . exportlint--contact))

(provide 'exportlint-eglot)
;;; exportlint-eglot.el ends here
