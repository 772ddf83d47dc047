/** Thrown for text that is not JSON, or says a member of an object twice; `path` leads to that. */
export class StrictJsonError extends Error {
  override readonly name = 'StrictJsonError';
  readonly path: readonly string[];

  constructor(path: readonly string[], message: string) {
    super(message);
    this.path = path;
  }
}

/** An object or a list that is open: the members so far, or the place of the next entry. */
type Open = { readonly members: Set<string>; at: string } | { at: number };

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/gs;

/**
 * Parses JSON in which each object has each member once (RFC 8259 section 4 leaves open which of two counts), and none is
 * `__proto__`. Throws `StrictJsonError`.
 */
export function parseStrictJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new StrictJsonError([], 'is not JSON');
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
      const path = open.map(({ at }) => String(at));
      if (inner.at === '__proto__') throw new StrictJsonError(path, 'is no member: remove it');
      if (inner.members.has(inner.at)) {
        throw new StrictJsonError(path, 'is there twice: remove one of them');
      }
      inner.members.add(inner.at);
    }
  }
}
