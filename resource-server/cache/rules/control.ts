import { type Member, parseDictionary } from '#shared/http/structured-fields.ts';
import type { Lines } from '../../forwarding/fields.ts';
import { type Argument, type Directives, directivesOf, parseDirectives } from './directives.ts';
import { valuesOf } from './lines.ts';

/** The directives and fields that decide about an answer. */
export interface Control {
  readonly directives: Directives;
  /** A targeted field decided, so Cache-Control and Expires are ignored (RFC 9213 section 2.2). */
  readonly targeted: boolean;
}

/** Returns the first targeted field that is valid and not empty, else Cache-Control (RFC 9213 section 2.2). */
export function controlOf(lines: Lines, targeted: readonly string[]): Control {
  for (const name of targeted) {
    const members = parseDictionary(valuesOf(lines, name).join(', '));
    if (members !== undefined && members.size > 0) {
      const given = [...members].flatMap(([key, member]) => {
        const argument = argumentOf(member);
        return argument === false ? [] : [[key, argument] as const];
      });
      return { directives: directivesOf(given), targeted: true };
    }
  }
  return { directives: parseDirectives(valuesOf(lines, 'cache-control')), targeted: false };
}

/**
 * Reads an argument (RFC 9213 section 2.1). False: the directive is absent. A type that no directive allows is
 * malformed.
 */
function argumentOf({ type, value }: Member): Argument | false {
  if (type === 'boolean') return value;
  if (type === 'integer') return String(value);
  return type === 'string' && !/^\d/.test(value) ? value : undefined; // quoted digits are not delta-seconds
}
