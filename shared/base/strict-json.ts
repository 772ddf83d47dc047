const FAULTS = {
  'not-json': 'is not JSON',
  'no-member': 'is no member: remove it',
  twice: 'is there twice: remove one of them',
} as const;

/**
 * Thrown for text that is not JSON, or has a member twice. `cause`: the parser's message, which may quote the text.
 * `path`: the path of the repeated member.
 */
export class StrictJsonError extends Error {
  override readonly name = 'StrictJsonError';
  readonly path: readonly string[];
  readonly fault: keyof typeof FAULTS;

  constructor(path: readonly string[], fault: keyof typeof FAULTS, options?: ErrorOptions) {
    super(FAULTS[fault], options);
    this.path = path;
    this.fault = fault;
  }
}

/** An open object with its members so far, or an open list with the index of its next entry. */
type Open = { readonly members: Set<string>; at: string } | { at: number };

const UTF_8 = new TextDecoder('utf-8', { fatal: true });
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/gs;

/**
 * Parses JSON in which each object has each member once, since RFC 8259 section 4 does not say which of two equal
 * members applies. A member `__proto__` is refused. Octets must be UTF-8 (section 8.1). Throws `StrictJsonError`.
 */
export function parseStrictJson(content: string | Uint8Array): unknown {
  let text: string;
  let value: unknown;
  try {
    text = typeof content === 'string' ? content : UTF_8.decode(content);
    value = JSON.parse(text);
  } catch (cause) {
    throw new StrictJsonError([], 'not-json', { cause });
  }
  refuseRepeated(text);
  return value;
}

/** Throws if `text`, which is JSON, has a repeated member. */
function refuseRepeated(text: string): void {
  const open: Open[] = [];
  let isName = false;
  for (const [token] of text.matchAll(TOKEN)) {
    const inner = open.at(-1);
    if (token === '{' || token === '[') {
      open.push(token === '{' ? { members: new Set(), at: '' } : { at: 0 });
      isName = token === '{';
    } else if (token === '}' || token === ']') {
      open.pop();
    } else if (token === ',') {
      isName = inner !== undefined && 'members' in inner;
      if (typeof inner?.at === 'number') inner.at += 1;
    } else if (token === ':') {
      isName = false;
    } else if (isName && inner !== undefined && 'members' in inner) {
      inner.at = JSON.parse(token) as string;
      const fault = faultOf(inner.at, inner.members);
      if (fault !== undefined) {
        throw new StrictJsonError(
          open.map(({ at }) => String(at)),
          fault,
        );
      }
      inner.members.add(inner.at);
    }
  }
}

function faultOf(name: string, members: ReadonlySet<string>) {
  if (name === '__proto__') return 'no-member';
  return members.has(name) ? 'twice' : undefined;
}
