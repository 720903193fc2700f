import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist/", "out/", "bundled/", "node_modules/", "test/vscode/", "**/*.mjs"] },
  ...tseslint.configs.strictTypeChecked,
  ...tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
    },
  },
  {
    // node:test gives promises that it awaits itself
    files: ["test/**"],
    rules: { "@typescript-eslint/no-floating-promises": "off" },
  },
);
