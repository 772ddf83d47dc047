const SPACE = /[ \t\n\r]*/y;
const TOKEN =
  /"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[ !#-[\]-\uffff]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[{}[\],:]/y;

type State = keyof typeof NEXT;
type Row = Readonly<Record<string, State | 'after'>>;

const VALUE = { text: 'after', scalar: 'after', '{': 'members', '[': 'entries' } as const;

/** The state after each possible token; `after` depends on the open object or array. */
const NEXT = {
  value: VALUE,
  entries: { ...VALUE, ']': 'after' },
  members: { text: 'colon', '}': 'after' },
  name: { text: 'colon' },
  colon: { ':': 'value' },
  '{': { ',': 'name', '}': 'after' },
  '[': { ',': 'value', ']': 'after' },
  end: {},
} as const;

/**
 * Returns the place of the first fault in a text that is not JSON (RFC 8259), such as `line 2, column 7`; undefined
 * if the text is JSON.
 */
export function jsonFault(text: string): string | undefined {
  const open: ('{' | '[')[] = [];
  let state: State = 'value';
  let at = 0;
  for (;;) {
    at += lengthOf(SPACE, text, at);
    const length = lengthOf(TOKEN, text, at);
    if (length === 0) return state === 'end' && at === text.length ? undefined : placeOf(text, at);
    const kind = kindOf(text.charAt(at));
    const next: State | 'after' | undefined = (NEXT[state] as Row)[kind];
    if (next === undefined) return placeOf(text, at);
    if (kind === '{' || kind === '[') open.push(kind);
    if (kind === '}' || kind === ']') open.pop();
    state = next === 'after' ? (open.at(-1) ?? 'end') : next;
    at += length;
  }
}

function lengthOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0].length ?? 0;
}

function kindOf(first: string): string {
  if (first === '"') return 'text';
  return '{}[],:'.includes(first) ? first : 'scalar';
}

function placeOf(text: string, at: number): string {
  const lines = text.slice(0, at).split('\n');
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}
