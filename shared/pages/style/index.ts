import { colors } from './colors.ts';
import { BAR } from './bar.ts';
import { BASE } from './base.ts';
import { FORMS } from './forms.ts';
import { FRAME } from './frame.ts';
import { LISTS } from './lists.ts';
import { PARTS } from './parts.ts';
import { STARTS } from './starts.ts';
import { TABLES } from './tables.ts';

/** The style of parts that few pages have. */
const SPECIAL = { bar: BAR, starts: STARTS, none: '' } as const;

export type SpecialPart = keyof typeof SPECIAL;

type Styles = Readonly<Record<SpecialPart, string>>;

/** The styles in the operator's color, cached, since the color does not change while a server runs. */
let latest: { readonly color: string; readonly styles: Styles } | undefined;

/** Returns the style of pages in the operator's color (`#rrggbb`), with that of a special part. */
export function styleOf(color: string, part: SpecialPart): string {
  if (latest?.color !== color) {
    const all = [colors(color), BASE, FRAME, FORMS, PARTS, LISTS, TABLES];
    const style = shortened(all.join(''));
    const entries = Object.entries(SPECIAL).map(([name, own]) => [name, style + shortened(own)]);
    latest = { color, styles: Object.fromEntries(entries) as Styles };
  }
  return latest.styles[part];
}

/** Removes comments, and white space without meaning. */
const shortened = (style: string) =>
  style.replaceAll(/\/\*.*?\*\/|\s+/gs, ' ').replaceAll(/ *([{};]) */g, '$1');
