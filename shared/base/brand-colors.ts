/** The colors that are derived from the operator's color; all are `#rrggbb`. */
export interface BrandColors {
  /** The colour of buttons, as the operator chose it. */
  readonly fill: string;
  /** Text on `fill`. */
  readonly onFill: string;
  /** The colour that is mixed into `fill` under the pointer, so that the text on it stays readable. */
  readonly shade: string;
  /** Links and marks on light and on dark backgrounds. */
  readonly light: string;
  readonly dark: string;
}

/** The contrast that text needs (WCAG 2.2, success criterion 1.4.3). */
export const READABLE = 4.5;

const WHITE = '#ffffff';
const BLACK = '#000000';

/** The backgrounds of links: of the two backgrounds in each scheme, the one with less contrast. */
export const BACKGROUND = { light: '#f4f5f7', dark: '#23272f' } as const;

/**
 * Returns the brand's colors. Text is readable on every color that an operator may choose, because black or white is
 * readable on any background.
 */
export function brandColors(color: string): BrandColors {
  const onFill = contrast(color, WHITE) >= READABLE ? WHITE : BLACK;
  return {
    fill: color,
    onFill,
    shade: onFill === WHITE ? BLACK : WHITE,
    light: readable(color, BACKGROUND.light, BLACK),
    dark: readable(color, BACKGROUND.dark, WHITE),
  };
}

/** Returns the color, mixed with as little of `towards` as makes it readable on the background. */
function readable(color: string, background: string, towards: string): string {
  let mixed = color;
  for (let part = 0; contrast(mixed, background) < READABLE; part += 0.02) {
    mixed = mix(color, towards, part);
  }
  return mixed;
}

function mix(color: string, other: string, part: number): string {
  const others = channels(other);
  const mixed = channels(color).map((channel, index) =>
    Math.round(channel + ((others[index] ?? 0) - channel) * Math.min(part, 1)),
  );
  return `#${mixed.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}

/** Returns the contrast, from 1 to 21 (WCAG 2.2, definition of contrast ratio). */
export function contrast(one: string, other: string): number {
  const lighter = Math.max(luminance(one), luminance(other));
  const darker = Math.min(luminance(one), luminance(other));
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = channels(color).map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function channels(color: string): readonly number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
}
