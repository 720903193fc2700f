const vscode = require("vscode");

exports.activate = () => {
  const changed = new vscode.EventEmitter();
  let chosen;
  return {
    environments: {
      getActiveEnvironmentPath: () => ({ id: chosen ?? "none", path: chosen ?? "none" }),
      resolveEnvironment: async ({ path }) =>
        path === "none" ? undefined : { executable: { uri: vscode.Uri.file(path) } },
      onDidChangeActiveEnvironmentPath: changed.event,
    },
    /** What a user does who picks an interpreter. */
    choose(path) {
      chosen = path;
      changed.fire({ id: path, path });
    },
  };
};
