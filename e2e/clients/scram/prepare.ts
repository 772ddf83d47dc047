/** Prepares names and passwords before they are used. */

/**
 * OpaqueString (RFC 8265 section 4.2.1, formerly RFC 7613), which RFC 7804 section 2.2 requires for
 * passwords: spaces become U+0020, and the text NFC. It implements the FreeformClass without the exceptions
 * and contextual rules of RFC 5892; unassigned code points are those of Node's Unicode version.
 */
export function opaqueString(text: string): string {
  return allowed(text.replaceAll(/\p{Zs}/gu, ' ').normalize('NFC'), NOT_FREEFORM);
}

const NOT_FREEFORM = /[\p{C}\p{Default_Ignorable_Code_Point}]/u;

/**
 * SASLprep (RFC 4013), which RFC 5802 requires. It uses Node's NFKC instead of Unicode 3.2, allows
 * unassigned code points, and uses \p{L} for the table of left-to-right characters.
 */
export function saslprep(text: string): string {
  const mapped = text.replaceAll(/[^\P{Zs} ]|\u200b/gu, ' ').replaceAll(TO_NOTHING, '');
  const prepared = allowed(mapped.normalize('NFKC'), PROHIBITED);
  if (!RIGHT_TO_LEFT.test(prepared)) return prepared;
  const letters = Array.from(prepared).filter((char) => /\p{L}/u.test(char));
  const ends = Array.from(prepared).filter((_, at, all) => at === 0 || at === all.length - 1);
  const mixed = letters.some((char) => !RIGHT_TO_LEFT.test(char));
  if (mixed || !ends.every((char) => RIGHT_TO_LEFT.test(char))) {
    throw new Error('mixes the directions of writing (RFC 3454 section 6)');
  }
  return prepared;
}

/** Characters of RFC 3454 table B.1, which are removed. */
const TO_NOTHING =
  /\u00ad|\u034f|\u1806|[\u180b-\u180d]|\u200c|\u200d|\u2060|[\ufe00-\ufe0f]|\ufeff/gu;

/** Characters of RFC 3454 tables C.1.2 and C.2 to C.9, which are prohibited. */
const PROHIBITED = new RegExp(
  [
    String.raw`[^\P{Zs} ]|\p{Cc}|\p{Co}|\p{Cs}|\p{Noncharacter_Code_Point}`,
    String.raw`[\u0340\u0341\u06dd\u070f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2063\u206a-\u206f]`,
    String.raw`[\u2ff0-\u2ffb\ufeff\ufff9-\ufffd\u{1d173}-\u{1d17a}\u{e0001}\u{e0020}-\u{e007f}]`,
  ].join('|'),
  'u',
);

/** Right-to-left characters of RFC 3454 table D.1. */
const RIGHT_TO_LEFT = new RegExp(
  [
    String.raw`[\u05be\u05c0\u05c3\u05d0-\u05ea\u05f0-\u05f4\u061b\u061f\u0621-\u063a\u0640-\u064a]`,
    String.raw`[\u066d-\u066f\u0671-\u06d5\u06dd\u06e5\u06e6\u06fa-\u06fe\u0700-\u070d\u0710]`,
    String.raw`[\u0712-\u072c\u0780-\u07a5\u07b1\u200f\ufb1d\ufb1f-\ufb28\ufb2a-\ufb36\ufb38-\ufb3c]`,
    String.raw`[\ufb3e\ufb40\ufb41\ufb43\ufb44\ufb46-\ufbb1\ufbd3-\ufd3d\ufd50-\ufd8f\ufd92-\ufdc7]`,
    String.raw`[\ufdf0-\ufdfc\ufe70-\ufe74\ufe76-\ufefc]`,
  ].join('|'),
  'u',
);

function allowed(text: string, prohibited: RegExp): string {
  if (text === '') throw new Error('nothing is left of it');
  const found = prohibited.exec(text)?.[0].codePointAt(0);
  if (found !== undefined) throw new Error(`U+${found.toString(16)} is prohibited`);
  return text;
}
