/** What of the settings is for the server. */

const CLIENT_ONLY: ReadonlySet<string> = new Set(["path", "interpreter", "showNotifications", "trace"]);
const PATHS: ReadonlySet<string> = new Set(["configuration", "logFile"]);

/** `settings` without those of the extension, with the variables in paths replaced. */
export function forServer(
  settings: Readonly<Record<string, unknown>>,
  replace: (text: string) => string,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(settings)
      .filter(([key]) => !CLIENT_ONLY.has(key))
      .map(([key, value]) => [key, PATHS.has(key) && typeof value === "string" ? replace(value) : value]),
  );
}
