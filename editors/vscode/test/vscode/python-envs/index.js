const vscode = require("vscode");

exports.activate = () => {
  const changed = new vscode.EventEmitter();
  const chosen = new Map();
  return {
    getEnvironment: async (scope) => {
      const run = chosen.get(String(scope)) ?? { executable: process.env.EXPORTLINT_PYTHON };
      return { execInfo: { run } };
    },
    onDidChangeEnvironment: changed.event,
    /** What a user does who picks an interpreter for a folder. */
    choose(scope, executable, ...args) {
      chosen.set(String(scope), { executable, args });
      changed.fire({ uri: scope });
    },
  };
};
