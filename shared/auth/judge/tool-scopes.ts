/** Scopes that tools of an MCP server need beside those of the method, by the names of the tools. */
export type ToolScopes = ReadonlyMap<string, readonly string[]>;

/**
 * Returns the scopes of the tools that a message calls: a request of JSON-RPC, or a batch of requests. Every member that
 * some server could read as the name of a tool counts: in other letters, since Go takes `NAME` and `paramſ`; in front of
 * U+0000, where C ends a text; in `__proto__`, from which a copied object of JavaScript inherits.
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

/** The members of an object, which a parser may have put into a Map. */
function entriesOf(value: unknown): readonly (readonly [unknown, unknown])[] {
  if (value instanceof Map) return [...value];
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? (value.split('\0', 1)[0] ?? '') : '';
