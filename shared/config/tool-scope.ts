/** A key of `scopes` that names a tool of an MCP server begins so. */
const PREFIX = 'tool:';

/** Returns the scopes that tools need beside those of the method, by the names of the tools. */
export const toolScopes = (
  scopes: Readonly<Record<string, readonly string[]>>,
): ReadonlyMap<string, readonly string[]> =>
  new Map(
    Object.entries(scopes).flatMap(([key, needed]) =>
      key.startsWith(PREFIX) ? [[key.slice(PREFIX.length), needed] as const] : [],
    ),
  );
