import type { BanRule } from '#shared/http/ban-rule.ts';
import type { Stored } from '../rules/stored.ts';

export type Banned = Pick<Stored, 'target' | 'status' | 'tags'>;

export interface Spelling {
  /** Segments of the space, which a path in a rule does not have. */
  readonly depth: number;
  /** The one spelling of a target (RFC 3986 section 6.2.2), which that of a stored one is. */
  readonly normal: (target: string) => string;
}

/** Whether a rule has a stored answer: all that it names is true of it. */
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

/** A pattern without a question mark has a path with any query. */
function pathMatch(pattern: string, normal: Spelling['normal']): (target: string) => boolean {
  const spelled = pattern.startsWith('*') ? normal(`/${pattern}`).slice(1) : normal(pattern);
  const matches = glob(spelled);
  if (pattern.includes('?')) return matches;
  return (target) => matches(target.split('?', 1)[0] ?? '');
}

/** Returns the part of a target after so many segments of its path. */
function below(target: string, depth: number): string {
  const [{ length: end } = ''] = target.split('?', 1);
  let at = 0;
  for (let passed = 0; passed < depth; passed += 1) {
    at = target.indexOf('/', at + 1);
    if (at === -1 || at > end) return `/${target.slice(end)}`;
  }
  return target.slice(at);
}

/** `*` stands for any characters, none among them. In time that grows with the text and the parts, no more. */
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
