import { isUtf8 } from 'node:buffer';
import { remembering } from '#shared/base/recent-map.ts';

/** The paths that an application may read in the path of a request. */
export interface Readings {
  /** In the form in which paths are compared, with a slash at the end; one for each way in which servers read paths. */
  readonly paths: readonly string[];
  /** Whether a part means what the application alone knows, so that it may be any path. */
  readonly unclear: boolean;
}

/** How often proxies, servers and frameworks in a row may decode. */
const TIMES = 3;
/** Parameters are removed before or after each decoding, or never; honest paths have four spellings at most. */
const MOST_SPELLINGS = 8;

/**
 * All readings of the path of a target. Servers decode more than once, merge slashes, take a backslash or a wide slash
 * for a slash, compare without case, accents and what is invisible, and drop what an ending of a path or name may be:
 * parameters (before or after decoding), what follows a decoded `?` or `#`, dots and spaces. URL parsers drop a host
 * after two slashes, front controllers the script before the path that it gets (PHP's path info), or its ending;
 * ASP.NET drops sessions (`/(S(id))/`), and Rails, Spring and others the format at the end (`.json`).
 * Undefined: with a dot segment, by which it would lead out of where it seems to be, with NUL, at which it would end,
 * or with more spellings than anybody has a use for.
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

/** Octets, as characters of Latin-1, after all decodings. Undefined: too many spellings. */
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

/** The spellings as they are compared, each with all its slashes. Undefined: too many. */
function textsOf(spellings: readonly string[]): readonly string[] | undefined {
  const texts = distinct(spellings.map(compared).flatMap(withoutParameters));
  if (texts.length > MOST_SPELLINGS) return undefined;
  const cut = texts.map((text) => text.replace(/[?#].*$/s, ''));
  return distinct([...texts, ...cut].map((text) => text.replaceAll('\\', '/')));
}

/** Whether a lax decoder finds a dot segment in what is unclear. */
function leadsOut(path: string): boolean {
  const spellings = spellingsOf(path, laxlyDecoded);
  const texts = spellings && textsOf(spellings);
  return !texts || texts.some((text) => NEVER.test(text.replaceAll(CONTROLS, '')));
}

const PARAMETERS = /;[^/]*/g;
/** The same where a backslash is a slash. */
const PARAMETERS_BACKSLASH = /;[^/\\]*/g;

const withoutParameters = (text: string) =>
  text.includes(';')
    ? [text, text.replaceAll(PARAMETERS, ''), text.replaceAll(PARAMETERS_BACKSLASH, '')]
    : [text];

/** NUL, and names that are dots alone, with spaces around them. */
const NEVER = /\0|\/ *\.[. ]*(?=\/|$)/;

/** An escape that is none (RFC 3986 section 2.1). */
const MALFORMED = /%(?![\da-f]{2})/i;

/**
 * Matches a path that applications may read in several ways: a part is still percent-encoded, is a control character,
 * or names a stream (`::$DATA`) or a short name (`ADMINI~1`) of Windows.
 */
const UNCLEAR =
  /%(?:[\da-f]{2}|u[\da-f]{4})|\p{Cc}|:\$|\/[^/~]{1,6}~\d{1,6}(?:\.[^/.]{0,3})?(?=\/|$)/u;

/** Octets, as characters of Latin-1, decoded once; what is malformed stays. */
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

/** `%u002e` of old scripts and Microsoft's servers. */
const ESCAPE_OF_UTF16 = /%u([\da-f]{4})/gi;
/** Longer than UTF-8 allows (RFC 3629 section 3), of ASCII; two octets also where the second is none that follows. */
const OVERLONG =
  /[\xc0\xc1][^]|(?:\xe0|\xf0\x80|\xf8\x80\x80|\xfc\x80\x80\x80)[\x80\x81][\x80-\xbf]/g;
/** URL parsers drop some of them, others end a name there. */
const CONTROLS = /(?!\0)\p{Cc}/gu;

/** As decoders that take what is no percent-encoding of UTF-8 for what it looks like. */
function laxlyDecoded(text: string): string {
  const octets = text.replaceAll(ESCAPE_OF_UTF16, (_, unit: string) =>
    Buffer.from(String.fromCharCode(parseInt(unit, 16))).toString('latin1'),
  );
  return decoded(octets).replaceAll(OVERLONG, (octet) => ascii(octet));
}

/** The last seven bits of what is longer than it may be. */
function ascii(overlong: string): string {
  const [before = 0, last = 0] = Buffer.from(overlong.slice(-2), 'latin1');
  return String.fromCharCode(((before & 1) << 6) | (last & 0x3f));
}

const isText = (octets: string) => isUtf8(Buffer.from(octets, 'latin1'));

/** Characters that look like a slash or a backslash and that NFKD leaves: U+2044, U+2215, U+2216, U+29F5, U+29F8 and U+29F9. */
const LIKE_SLASHES = /[\u2044\u2215\u2216\u29f5\u29f8\u29f9]/g;

const MARKS = /[\p{M}\p{Default_Ignorable_Code_Point}]+/gu;

/**
 * Octets as text in the form in which names are compared: plain, small letters without accents, and a plus, as in
 * forms, as a space. Marks go first, too: to put thousands of one letter in order takes a time that grows with their square.
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

/** Without spaces before names, and without dots and spaces behind them; only the first of a row is tried. */
const withPlainNames = (path: string) =>
  path.replaceAll(/\/ +/g, '/').replaceAll(/(?<![. ])[. ]+(?=\/|$)/g, '');

/** After two slashes a URL has a host. */
const HOST = /(?<!\/)\/{2,}[^/]+/;
const ENDING = String.raw`\.(?:php\d?|phtml|f?cgi|pl|py|rb|aspx?|jspx?|cfm|dll)`;
const SCRIPT = new RegExp(`/[^/]*${ENDING}(?=/)`, 'g');

const ENDING_OF_SCRIPT = new RegExp(`(?<=[^/])${ENDING}(?=/)`, 'g');
/** Matches a segment that ASP.NET takes for an id of its own, and drops with or without the slash before it. */
const SESSION = /\((?:[a-z]\([^()/]*\))+\)/g;
const SESSION_SLASH = /\/\((?:[a-z]\([^()/]*\))+\)/g;
const FORMAT = /(?<=[^/])\.[^/.]*\/*$/;

/** In that order: what is none of a path where one of them is dropped. */
const DROPPED = [HOST, SESSION, SESSION_SLASH, SCRIPT, ENDING_OF_SCRIPT, FORMAT];

/** The path itself, and what is left of it where a host, a session, a script or its ending, or a format is none of it. */
const routes = (path: string) =>
  DROPPED.reduce<readonly string[]>(
    (paths, dropped) => distinct(paths.flatMap((each) => [each, each.replace(dropped, '')])),
    [path],
  ).map((each) => `${each}/`.replaceAll(/\/+/g, '/'));

const distinct = (texts: readonly string[]) => [...new Set(texts)];
