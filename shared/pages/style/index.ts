import { colors } from './colors.ts';
import { BASE } from './base.ts';
import { FORMS } from './forms.ts';
import { FRAME } from './frame.ts';
import { LISTS } from './lists.ts';
import { PARTS } from './parts.ts';
import { TABLES } from './tables.ts';

/** The style for the operator's colour, which does not change while a server runs. */
let latest = { color: '', style: '' };

/** The one style of all pages, in the operator's colour (`#rrggbb`). */
export function styleOf(color: string): string {
  if (latest.color !== color) {
    const all = [colors(color), BASE, FRAME, FORMS, PARTS, LISTS, TABLES];
    latest = { color, style: shortened(all.join('')) };
  }
  return latest.style;
}

/** Without comments, and without the white space that parts nothing. */
const shortened = (style: string) =>
  style.replaceAll(/\/\*.*?\*\/|\s+/gs, ' ').replaceAll(/ *([{};]) */g, '$1');
