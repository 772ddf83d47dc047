/** Scopes that a call of an MCP server's tool needs in addition to those of the method, by the name of the tool. */
export type ToolScopes = ReadonlyMap<string, readonly string[]>;

/**
 * Returns the scopes of the tools that a JSON-RPC request, or a batch, calls. It reads every member that a server
 * could take for a tool's name. Go accepts `NAME` and `paramſ`, C ends a text at U+0000, and a copied JavaScript
 * object inherits from `__proto__`.
 */
export function scopesOfCalls(tools: ToolScopes, message: unknown): readonly string[] {
  const names = [message]
    .flat()
    .filter((one) => membersOf(one, 'METHOD').map(textOf).includes('tools/call'))
    .flatMap((call) => membersOf(call, 'PARAMS'))
    .flatMap((params) => membersOf(params, 'NAME'));
  return [...new Set(names.flatMap((name) => tools.get(textOf(name)) ?? []))];
}

function membersOf(value: unknown, name: string): readonly unknown[] {
  const own = entriesOf(value);
  const inherited = own.filter(([key]) => textOf(key) === '__proto__');
  return [...own, ...inherited.flatMap(([, member]) => entriesOf(member))]
    .filter(([key]) => textOf(key).toUpperCase() === name)
    .map(([, member]) => member);
}

/** The members of an object. They may be in a Map, if the parser made one. */
function entriesOf(value: unknown): readonly (readonly [unknown, unknown])[] {
  if (value instanceof Map) return [...value];
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? (value.split('\0', 1)[0] ?? '') : '';
