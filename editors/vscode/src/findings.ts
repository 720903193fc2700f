/** Diagnostics, as VS Code has them. */

/** The code of a diagnostic: VS Code has it bare, or together with the link to its page. */
export function codeOf(diagnostic: {
  readonly code?: string | number | { readonly value: string | number } | undefined;
}): string | undefined {
  const { code } = diagnostic;
  const value = typeof code === "object" ? code.value : code;
  return value === undefined ? undefined : String(value);
}
