const FAULTS = {
  'not-json': 'is not JSON',
  'no-member': 'is no member: remove it',
  twice: 'is there twice: remove one of them',
} as const;

/** Thrown for text that is not JSON (`cause`: what the parser says, which may quote it), or has a member twice; `path` leads to that. */
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

/** An object or a list that is open: the members so far, or the place of the next entry. */
type Open = { readonly members: Set<string>; at: string } | { at: number };

const UTF_8 = new TextDecoder('utf-8', { fatal: true });
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/gs;

/**
 * Parses JSON in which each object has each member once (RFC 8259 section 4 leaves open which of two counts), and none is
 * `__proto__`; octets are UTF-8 (section 8.1). Throws `StrictJsonError`.
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

/** `text` is JSON. */
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
