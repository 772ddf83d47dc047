import { isUtf8 } from 'node:buffer';
import { partsOf } from './http1-message.ts';

const OCTETS_IN_A_LINE = 32;
const LINE = new RegExp(`.{${2 * OCTETS_IN_A_LINE}}(?!$)`, 'g');

/**
 * Returns a recorded message as people read it: with LF for CR LF, and without empty lines at the end. Content that is no
 * text is shown as its octets in hexadecimal.
 */
export function shownText(octets: Buffer): {
  readonly text: string;
  readonly hexadecimal: boolean;
} {
  const { content } = partsOf(octets);
  const head = octets.subarray(0, octets.length - content.length).toString('latin1');
  const hexadecimal = !isText(content);
  const text = hexadecimal ? inHexadecimal(content) : content.toString();
  return { text: (head + text).replaceAll('\r\n', '\n').trimEnd(), hexadecimal };
}

/** True for UTF-8 without control characters but those of lines. */
const isText = (content: Buffer) => isUtf8(content) && !/[^\P{Cc}\t\r\n]/u.test(content.toString());

const inHexadecimal = (content: Buffer) => content.toString('hex').replaceAll(LINE, '$&\n');
