/** Scopes that tools of an MCP server need beside those of the method, by the names of the tools. */
export type ToolScopes = ReadonlyMap<string, readonly string[]>;

/**
 * Returns the scopes of the tools that a message calls: a request of JSON-RPC, or a batch of requests. Every member that
 * some server could read as the name of a tool counts, also in other letters: Go takes `NAME` and `paramſ`.
 */
export function scopesOfCalls(tools: ToolScopes, message: unknown): readonly string[] {
  const names = [message]
    .flat()
    .filter((one) => membersOf(one, 'METHOD').includes('tools/call'))
    .flatMap((call) => membersOf(call, 'PARAMS'))
    .flatMap((params) => membersOf(params, 'NAME'))
    .filter((name) => typeof name === 'string');
  return [...new Set(names.flatMap((name) => tools.get(name) ?? []))];
}

function membersOf(value: unknown, name: string): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value)
    .filter(([key]) => key.toUpperCase() === name)
    .map(([, member]: [string, unknown]) => member);
}
