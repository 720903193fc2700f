;;; exportlint-lsp.el --- exportlint through lsp-mode  -*- lexical-binding: t -*-

;;; Commentary:
;; (load "/path/to/exportlint-lsp.el"), then `M-x lsp' in a Python buffer.
;; exportlint is an add-on: it runs beside another Python server.

;;; Code:

(require 'lsp-mode)

(defgroup exportlint nil
  "Findings about torch.export."
  :group 'lsp-mode)

(defcustom exportlint-settings nil
  "Settings of the server as a plist, for example (:mode \"strict\")."
  :type '(plist))

(lsp-register-client
 (make-lsp-client
  :new-connection (lsp-stdio-connection '("exportlint" "server"))
  :activation-fn (lsp-activate-on "python")
  :server-id 'exportlint
  :add-on? t
  :priority -1
  :initialization-options
  (lambda ()
    (list :settings (or exportlint-settings (make-hash-table))))))

(provide 'exportlint-lsp)
;;; exportlint-lsp.el ends here
