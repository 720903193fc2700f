// Runs in the extension host of a window with two folders: VS Code loads this and calls `run`.
exports.run = () => require("../suite").runAll(__dirname);
