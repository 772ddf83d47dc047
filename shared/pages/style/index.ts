import { colors } from './colors.ts';
import { BAR } from './bar.ts';
import { BASE } from './base.ts';
import { FORMS } from './forms.ts';
import { FRAME } from './frame.ts';
import { LISTS } from './lists.ts';
import { PARTS } from './parts.ts';
import { TABLES } from './tables.ts';

/** The style in the operator's color, cached, since the color does not change while a server runs. */
let latest = { color: '', style: '', withBar: '' };

/** Returns the style of pages in the operator's color (`#rrggbb`). `hasBar`: also of pages with a bar below the head. */
export function styleOf(color: string, hasBar: boolean): string {
  if (latest.color !== color) {
    const all = [colors(color), BASE, FRAME, FORMS, PARTS, LISTS, TABLES];
    const style = shortened(all.join(''));
    latest = { color, style, withBar: style + shortened(BAR) };
  }
  return hasBar ? latest.withBar : latest.style;
}

/** Removes comments, and white space without meaning. */
const shortened = (style: string) =>
  style.replaceAll(/\/\*.*?\*\/|\s+/gs, ' ').replaceAll(/ *([{};]) */g, '$1');
