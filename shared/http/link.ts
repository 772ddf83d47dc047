import { lines } from './fields.ts';

/** Matches a link-value (RFC 8288 section 3); a quoted string may have any character. */
const LINK =
  /<([^<>]*)>((?:[ \t]*;[ \t]*[^\s=;,"]+[ \t]*(?:=[ \t]*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]*))?)*)/gy;
const BETWEEN = /[ \t,]*/y;
const PARAM = /;[ \t]*([^\s=;,"]+)[ \t]*(?:=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?/g;

/**
 * Returns the URI-References of a request's links with a relation type (RFC 8288 section 3). If a link has several
 * `rel`, the first applies (section 3.3). Malformed text ends the reading of its line.
 */
export function linksTo(raw: readonly string[], relation: string): readonly string[] {
  return lines(raw, 'link').flatMap((line) => {
    const found: string[] = [];
    for (let at = 0; at < line.length; at = LINK.lastIndex) {
      BETWEEN.lastIndex = at;
      BETWEEN.exec(line);
      LINK.lastIndex = BETWEEN.lastIndex;
      const [, reference, params = ''] = LINK.exec(line) ?? [];
      if (reference === undefined) break;
      const rel = [...params.matchAll(PARAM)].find(([, name]) => name?.toLowerCase() === 'rel');
      const types = (rel?.[2] ?? rel?.[3] ?? '').toLowerCase().split(/[ \t]+/);
      if (types.includes(relation)) found.push(reference);
    }
    return found;
  });
}
