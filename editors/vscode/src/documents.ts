/** Which documents concern exportlint. */

/** The names of configuration files. */
export const CONFIGURATION_FILES = ["pyproject.toml", "exportlint.toml", ".exportlint.toml"] as const;

/** Whether verifying reads a document, and so has to find it saved: code, and what says how to build models. */
export function isVerified({ languageId, uri }: Document): boolean {
  const name = uri.path.split("/").at(-1);
  return uri.scheme === "file" && (languageId === "python" || CONFIGURATION_FILES.some((known) => known === name));
}

interface Document {
  readonly languageId: string;
  readonly uri: { readonly scheme: string; readonly path: string };
}
