import { isUtf8 } from 'node:buffer';
import type { Explained } from './explained.ts';

/** Matches a text that is only base64 or base64url, also in quotes (RFC 4648 sections 4 and 5). */
const BASE64 = /^"?([A-Za-z0-9+/_-]{4,}={0,2})"?$/;

function decoded(value: string): string | undefined {
  const [, encoded = ''] = BASE64.exec(value) ?? [];
  const octets = Buffer.from(encoded, 'base64');
  const text = isUtf8(octets) ? octets.toString() : '';
  return text === '' || /[^\P{Cc}\t\r\n]/u.test(text) ? undefined : text;
}

/** True if the value is only base64 and encodes text. */
export const isBase64Text = (value: string): boolean => decoded(value) !== undefined;

/** Explains the text that base64 encodes, such as the data of SCRAM without its field. */
export const explainBase64Text = (value: string): Explained => ({
  what: 'Text in base64',
  standard: 'RFC 4648 section 4',
  parts: [{ name: 'text', value: Buffer.from(decoded(value) ?? '').toString('latin1') }],
  checks: [],
});
