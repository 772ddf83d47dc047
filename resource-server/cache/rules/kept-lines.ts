import type { Lines } from '../../forwarding/fields.ts';
import { controlOf } from './control.ts';
import { valuesOf, without } from './lines.ts';
import type { Rules, Times } from './rules.ts';

/**
 * Returns the lines of an answer that are stored (RFC 9111 section 3.1): all but the fields that `no-cache` and, in a
 * shared cache, `private` name. Age stays as it came, since the answer's age depends on it. An answer without Date
 * gets one (RFC 9110 section 6.6.1).
 */
export function keptLines(
  lines: Lines,
  { received }: Pick<Times, 'received'>,
  { shared, targeted }: Rules,
): Lines {
  const { fields } = controlOf(lines, targeted).directives;
  const hidden = [...(fields.get('no-cache') ?? []), ...((shared && fields.get('private')) || [])];
  const kept = without(lines, new Set(hidden));
  if (valuesOf(kept, 'date').length > 0) return kept;
  return [...kept, ['Date', new Date(received).toUTCString()]];
}
