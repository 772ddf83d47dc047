import { isUtf8 } from 'node:buffer';
import { remembering } from '#shared/base/recent-map.ts';

/** The paths that an application may read in the path of a request. */
export interface Readings {
  /** One path for each way in which servers read paths, normalized for comparison, with a slash at the end. */
  readonly paths: readonly string[];
  /** Whether only the application can interpret a part, so that it may mean any path. */
  readonly unclear: boolean;
}

/** The most decodings by a chain of proxies, servers and frameworks. */
const TIMES = 3;
/**
 * The most spellings. Parameters are removed before or after each decoding, or never, so ordinary paths have at most
 * four.
 */
const MOST_SPELLINGS = 8;

/**
 * All readings of the path of a target.
 * Servers decode more than once, merge slashes, and read a backslash or a wide slash as a slash. They compare without
 * case, accents and invisible characters. They drop certain endings of a path or name: parameters (before or after
 * decoding), the part after a decoded `?` or `#`, dots and spaces. URL parsers drop a host after two slashes. Front
 * controllers drop the script before the path (PHP's path info), or its file extension. ASP.NET drops sessions
 * (`/(S(id))/`), and Rails, Spring and others the format at the end (`.json`).
 * Undefined: the path has a dot segment, which could lead out of the space, NUL, which could end it, or too many
 * spellings.
 */
export const readingsOf: (target: string) => Readings | undefined = remembering(read, {
  capacity: 1000,
  longest: 512,
});

function read(target: string): Readings | undefined {
  const path = target.replace(/^[a-z]+:\/\/[^/?]*/i, '').replace(/\?.*$/s, '');
  const spellings = spellingsOf(path, decoded);
  const texts = spellings && textsOf(spellings);
  if (texts === undefined || texts.some((text) => NEVER.test(text))) return undefined;
  const unclear =
    MALFORMED.test(path) || texts.some((text) => UNCLEAR.test(text)) || !spellings?.every(isText);
  if (unclear && leadsOut(path)) return undefined;
  return { paths: distinct(texts.map(withPlainNames).flatMap(routes)), unclear };
}

/** The spellings after all decodings, as octets in Latin-1 characters. Undefined: too many spellings. */
function spellingsOf(
  path: string,
  decode: (text: string) => string,
): readonly string[] | undefined {
  let spellings: readonly string[] = [path];
  for (let time = 0; time < TIMES; time += 1) {
    spellings = distinct(spellings.flatMap(withoutParameters).map(decode));
    if (spellings.length > MOST_SPELLINGS) return undefined;
  }
  return spellings;
}

/** The spellings, normalized for comparison, with all their slashes. Undefined: too many. */
function textsOf(spellings: readonly string[]): readonly string[] | undefined {
  const texts = distinct(spellings.map(compared).flatMap(withoutParameters));
  if (texts.length > MOST_SPELLINGS) return undefined;
  const cut = texts.map((text) => text.replace(/[?#].*$/s, ''));
  return distinct([...texts, ...cut].map((text) => text.replaceAll('\\', '/')));
}

/** Whether a lenient decoder finds a dot segment in an unclear path. */
function leadsOut(path: string): boolean {
  const spellings = spellingsOf(path, laxlyDecoded);
  const texts = spellings && textsOf(spellings);
  return !texts || texts.some((text) => NEVER.test(text.replaceAll(CONTROLS, '')));
}

const PARAMETERS = /;[^/]*/g;
/** Parameters, if a backslash is read as a slash. */
const PARAMETERS_BACKSLASH = /;[^/\\]*/g;

const withoutParameters = (text: string) =>
  text.includes(';')
    ? [text, text.replaceAll(PARAMETERS, ''), text.replaceAll(PARAMETERS_BACKSLASH, '')]
    : [text];

/** NUL, and names that consist of dots, with spaces around them. */
const NEVER = /\0|\/ *\.[. ]*(?=\/|$)/;

/** A malformed escape (RFC 3986 section 2.1). */
const MALFORMED = /%(?![\da-f]{2})/i;

/**
 * Matches a path that applications may read in several ways: a part is still percent-encoded, is a control character,
 * or names a stream (`::$DATA`) or a short name (`ADMINI~1`) of Windows.
 */
const UNCLEAR =
  /%(?:[\da-f]{2}|u[\da-f]{4})|\p{Cc}|:\$|\/[^/~]{1,6}~\d{1,6}(?:\.[^/.]{0,3})?(?=\/|$)/u;

/** Decodes octets, in Latin-1 characters, once. Malformed escapes stay. */
function decoded(text: string): string {
  if (!text.includes('%')) return text;
  const octets = Buffer.from(text, 'latin1');
  let length = 0;
  for (let at = 0; at < octets.length; at += 1, length += 1) {
    const octet = octets[at] ?? 0;
    const high = octet === PERCENT ? digit(octets[at + 1]) : -1;
    const low = high < 0 ? -1 : digit(octets[at + 2]);
    octets[length] = low < 0 ? octet : high * 16 + low;
    if (low >= 0) at += 2;
  }
  return octets.toString('latin1', 0, length);
}

const PERCENT = 0x25;
const DIGITS = Int8Array.from({ length: 256 }, (_, octet) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(octet).toLowerCase()),
);
const digit = (octet = 0) => DIGITS[octet] ?? -1;

/** `%u002e`, as old scripts and Microsoft's servers decode it. */
const ESCAPE_OF_UTF16 = /%u([\da-f]{4})/gi;
/**
 * ASCII in more octets than UTF-8 allows (RFC 3629 section 3). Two octets match even if the second is not a
 * continuation octet.
 */
const OVERLONG =
  /[\xc0\xc1][^]|(?:\xe0|\xf0\x80|\xf8\x80\x80|\xfc\x80\x80\x80)[\x80\x81][\x80-\xbf]/g;
/** Control characters: some URL parsers drop them, others end a name there. */
const CONTROLS = /(?!\0)\p{Cc}/gu;

/** Decodes like lenient decoders, which accept malformed percent-encodings of UTF-8. */
function laxlyDecoded(text: string): string {
  const octets = text.replaceAll(ESCAPE_OF_UTF16, (_, unit: string) =>
    Buffer.from(String.fromCharCode(parseInt(unit, 16))).toString('latin1'),
  );
  return decoded(octets).replaceAll(OVERLONG, (octet) => ascii(octet));
}

/** The last seven bits of an overlong encoding. */
function ascii(overlong: string): string {
  const [before = 0, last = 0] = Buffer.from(overlong.slice(-2), 'latin1');
  return String.fromCharCode(((before & 1) << 6) | (last & 0x3f));
}

const isText = (octets: string) => isUtf8(Buffer.from(octets, 'latin1'));

/**
 * Characters that look like a slash or a backslash and that NFKD does not change: U+2044, U+2215, U+2216, U+29F5,
 * U+29F8 and U+29F9.
 */
const LIKE_SLASHES = /[\u2044\u2215\u2216\u29f5\u29f8\u29f9]/g;

const MARKS = /[\p{M}\p{Default_Ignorable_Code_Point}]+/gu;

/**
 * Normalizes octets to the text in which names are compared: compatible characters, lower case, no accents, and a space
 * for a plus, as in forms. Combining marks are removed first, since sorting thousands of marks after one letter would
 * take quadratic time.
 */
const compared = (octets: string) =>
  Buffer.from(octets, 'latin1')
    .toString()
    .replaceAll(MARKS, '')
    .normalize('NFKD')
    .replaceAll(MARKS, '')
    .toUpperCase()
    .toLowerCase()
    .replaceAll('+', ' ')
    .replaceAll(LIKE_SLASHES, '/');

/** Removes spaces before names, and dots and spaces after them. The lookbehind matches only at the first of a run. */
const withPlainNames = (path: string) =>
  path.replaceAll(/\/ +/g, '/').replaceAll(/(?<![. ])[. ]+(?=\/|$)/g, '');

/** A host after two slashes, as in URLs. */
const HOST = /(?<!\/)\/{2,}[^/]+/;
const ENDING = String.raw`\.(?:php\d?|phtml|f?cgi|pl|py|rb|aspx?|jspx?|cfm|dll)`;
const SCRIPT = new RegExp(`/[^/]*${ENDING}(?=/)`, 'g');

const ENDING_OF_SCRIPT = new RegExp(`(?<=[^/])${ENDING}(?=/)`, 'g');
/** Matches a segment that ASP.NET reads as a session id, and drops with or without the slash before it. */
const SESSION = /\((?:[a-z]\([^()/]*\))+\)/g;
const SESSION_SLASH = /\/\((?:[a-z]\([^()/]*\))+\)/g;
const FORMAT = /(?<=[^/])\.[^/.]*\/*$/;

/** Parts that a server may drop from a path, in the order of dropping. */
const DROPPED = [HOST, SESSION, SESSION_SLASH, SCRIPT, ENDING_OF_SCRIPT, FORMAT];

/** The path itself, and the paths without a host, a session, a script or its extension, or a format. */
const routes = (path: string) =>
  DROPPED.reduce<readonly string[]>(
    (paths, dropped) => distinct(paths.flatMap((each) => [each, each.replace(dropped, '')])),
    [path],
  ).map((each) => `${each}/`.replaceAll(/\/+/g, '/'));

const distinct = (texts: readonly string[]) => [...new Set(texts)];
