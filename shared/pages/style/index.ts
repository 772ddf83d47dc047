import { colors } from './colors.ts';
import { BASE } from './base.ts';
import { FORMS } from './forms.ts';
import { FRAME } from './frame.ts';
import { LISTS } from './lists.ts';
import { PARTS } from './parts.ts';
import { TABLES } from './tables.ts';

/** The style in the operator's color, cached, since the color does not change while a server runs. */
let latest = { color: '', style: '' };

/** Returns the style of all pages, in the operator's color (`#rrggbb`). */
export function styleOf(color: string): string {
  if (latest.color !== color) {
    const all = [colors(color), BASE, FRAME, FORMS, PARTS, LISTS, TABLES];
    latest = { color, style: shortened(all.join('')) };
  }
  return latest.style;
}

/** Removes comments, and white space without meaning. */
const shortened = (style: string) =>
  style.replaceAll(/\/\*.*?\*\/|\s+/gs, ' ').replaceAll(/ *([{};]) */g, '$1');
