import { renderUnicodeCompact } from 'uqr';

/** Modules around the symbol (ISO/IEC 18004 section 5.3.8). */
const QUIET_ZONE = 4;
/** Characters; the symbol of a longer text is wider than terminals are. */
const LONGEST = 300;

/** White on black, from the part of the palette that no theme changes. */
const COLORS = '\u001b[38;5;231;48;5;16m';
const RESET = '\u001b[0m';

/**
 * The lines of a QR code in half blocks. They name their own colours, or a terminal with dark text on
 * white would show the code inverted. Undefined when it is wider than `columns`.
 */
export function qrLines(text: string, columns: number): string[] | undefined {
  if (text.length > LONGEST) return undefined;
  const lines = renderUnicodeCompact(text, { border: QUIET_ZONE }).split('\n');
  if ((lines[0]?.length ?? 0) > columns) return undefined;
  return lines.map((line) => COLORS + line + RESET);
}
