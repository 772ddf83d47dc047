import { colors } from './colors.ts';
import { BASE } from './base.ts';
import { FORMS } from './forms.ts';
import { FRAME } from './frame.ts';
import { LISTS } from './lists.ts';
import { PARTS } from './parts.ts';

/** The one style of all pages, in the operator's colour (`#rrggbb`). */
export function styleOf(color: string): string {
  return [colors(color), BASE, FRAME, FORMS, PARTS, LISTS].join('');
}
