/** What of the settings is for the server. */

const CLIENT_ONLY: ReadonlySet<string> = new Set(["path", "interpreter", "logFile", "showNotifications", "trace"]);
const PATHS: ReadonlySet<string> = new Set(["configuration", "verify.python"]);

type Settings = Readonly<Record<string, unknown>>;

/**
 * `settings` without those of the extension, with the variables in paths replaced. In a folder that is not trusted
 * nothing is verified, for that runs its code.
 */
export function forServer(
  settings: Settings,
  replace: (text: string) => string,
  isTrusted: boolean,
): Record<string, unknown> {
  const adapt = (key: string, value: unknown): unknown =>
    PATHS.has(key) && typeof value === "string" ? replace(value) : value;
  const adaptAll = (of: Settings, prefix = ""): Record<string, unknown> =>
    Object.fromEntries(Object.entries(of).map(([key, value]) => [key, adapt(prefix + key, value)]));
  const given = Object.fromEntries(Object.entries(settings).filter(([key]) => !CLIENT_ONLY.has(key)));
  const verify = { ...adaptAll((given.verify ?? {}) as Settings, "verify."), ...(isTrusted ? {} : { enable: false }) };
  return { ...adaptAll(given), verify };
}
