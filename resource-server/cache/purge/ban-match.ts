import type { BanRule } from '#shared/http/ban-rule.ts';
import type { Stored } from '../rules/stored.ts';

export type Banned = Pick<Stored, 'target' | 'status' | 'tags'>;

export interface Spelling {
  /** The number of path segments of the space. Paths in ban rules leave them out. */
  readonly depth: number;
  /** Normalizes a target (RFC 3986 section 6.2.2), as targets of stored answers are. */
  readonly normal: (target: string) => string;
}

/** Returns whether a ban rule matches a stored answer: all its conditions hold. */
export function banMatch(
  { path, tag, status }: BanRule,
  { depth, normal }: Spelling,
): (stored: Banned) => boolean {
  const ofPath = path === undefined ? undefined : pathMatch(path, normal);
  const ofStatus = status?.replace('xx', '');
  return (stored) =>
    (ofStatus === undefined || String(stored.status).startsWith(ofStatus)) &&
    (tag === undefined || stored.tags.includes(tag)) &&
    (ofPath === undefined || ofPath(below(stored.target, depth)));
}

/** A pattern without a question mark matches a path with any query. */
function pathMatch(pattern: string, normal: Spelling['normal']): (target: string) => boolean {
  const spelled = pattern.startsWith('*') ? normal(`/${pattern}`).slice(1) : normal(pattern);
  const matches = glob(spelled);
  if (pattern.includes('?')) return matches;
  return (target) => matches(target.split('?', 1)[0] ?? '');
}

/** Returns the part of a target after the first `depth` segments of its path. */
function below(target: string, depth: number): string {
  const [{ length: end } = ''] = target.split('?', 1);
  let at = 0;
  for (let passed = 0; passed < depth; passed += 1) {
    at = target.indexOf('/', at + 1);
    if (at === -1 || at > end) return `/${target.slice(end)}`;
  }
  return target.slice(at);
}

/**
 * `*` matches any number of characters, including zero. The time grows linearly with the text and the number of parts.
 */
function glob(pattern: string): (text: string) => boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  if (last === undefined) return (text) => text === first;
  return (text) => {
    const end = text.length - last.length;
    if (!text.startsWith(first) || !text.endsWith(last) || first.length > end) return false;
    let at = first.length;
    for (const part of parts) {
      const found = text.indexOf(part, at);
      if (found === -1 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  };
}
