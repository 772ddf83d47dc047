import { remembering } from '#shared/base/recent-map.ts';
import { isHost } from './host.ts';

/*
 * THE rule of how a path is read: which targets are malformed or ambiguous, and so 400.
 *
 *  - `parseTarget`: endpoints, and the authorization server.
 *  - `parseTreeTarget`: documents, where a doubled slash means one.
 *  - `parsePassedTarget`: an application behind the gateway, which reads its path itself.
 *  - `parseAskedTarget`: the target that a proxy sends to `/verify`.
 *
 * `resource-server/exchange/exchange.ts` picks, `front-door.ts` answers 400. For an application each reading of the
 * path has to lie in its space: `resource-server/space/within.ts`.
 */

/** A request target (RFC 9112 section 3.2), parsed once; all code that checks a path reads `segments`. */
export interface Target {
  readonly form: 'origin' | 'absolute' | 'asterisk';
  /**
   * The decoded segments. None is empty, `.` or `..`, and none has a slash, a backslash or a control character (for
   * exceptions see `odd`).
   */
  readonly segments: readonly string[];
  /**
   * The index of the first segment after a doubled slash, or with a carriage return, as in names of the Finder's icon
   * files. Such a path may only lead to a tree of documents, or to an application that reads the path itself.
   */
  readonly odd?: number;
  /** True for `/`, too. */
  readonly trailingSlash: boolean;
  /** The path in its normal form, in which characters are encoded only if necessary. */
  readonly path: string;
  /** The text after the first `?`, as received. */
  readonly query: string | undefined;
}

const ASTERISK: Target = {
  form: 'asterisk',
  segments: [],
  trailingSlash: false,
  path: '*',
  query: undefined,
};

/** Matches visible ASCII without `#`, since a fragment is no part of a target. */
const VISIBLE = /^[!-"$-~]+$/;
const ABSOLUTE = /^https?:\/\/([^/?]+)(.*)$/i;
const FORBIDDEN = /[/\\]|(?!\r)\p{Cc}/u;
const ODD = /^$|\r/;
const UNENCODED = /%(?:24|26|2B|2C|3A|3B|3D|40)/g;

function decode(segment: string): string | undefined {
  try {
    const decoded = decodeURIComponent(segment);
    const usable = decoded !== '.' && decoded !== '..' && !FORBIDDEN.test(decoded);
    return usable ? decoded : undefined;
  } catch {
    return undefined;
  }
}

/** Percent-encodes all characters except pchar (RFC 3986 section 3.3). */
function encode(segment: string): string {
  return encodeURIComponent(segment).replaceAll(UNENCODED, decodeURIComponent);
}

/**
 * Parses origin-form, absolute-form and `*`. Returns undefined, which becomes 400, if the target is malformed or
 * could be read in two ways. Such targets have an encoded slash, a backslash, a control character, percent-encoding
 * that is not UTF-8, a dot segment, an empty segment, or userinfo (RFC 9110 section 4.2.4).
 */
export function parseTarget(target: string): Target | undefined {
  const parsed = parseTreeTarget(target);
  return parsed?.odd === undefined ? parsed : undefined;
}

const TARGETS = { capacity: 1000, longest: 512 };

/**
 * Parses a target that may lead into a tree of documents. It also accepts a doubled slash, except at the beginning.
 */
export const parseTreeTarget = remembering((target) => parse(target), TARGETS);

/**
 * Parses a target that may lead to an application, which reads the path itself: a segment that could be read in two
 * ways stays as received, and is odd.
 */
export const parsePassedTarget = remembering((target) => parse(target, (part) => part), TARGETS);

/**
 * Parses a target of an application that a proxy asks about. A segment that is not UTF-8 stays as received; any other
 * segment that could be read in two ways is refused.
 */
export const parseAskedTarget = remembering(
  (target) => (DOUBTFUL.test(target) ? undefined : parse(target, ofNoText)),
  TARGETS,
);

/** Matches an empty segment, or an encoded slash, backslash or control character. */
const DOUBTFUL = /^[^?]*(?:\/\/|%(?:[01][\da-f]|2f|5c|7f))/i;
const OF_NO_TEXT = /^(?:[^%\\]|%[\da-f]{2})*$/i;

function ofNoText(part: string): string | undefined {
  return OF_NO_TEXT.test(part) && !isText(part) ? part : undefined;
}

function isText(part: string): boolean {
  try {
    return decodeURIComponent(part) !== undefined;
  } catch {
    return false;
  }
}

/** Returns path and query of a parsed target in their original spelling (RFC 9112 section 3.2.1). */
export function originForm(target: string): string {
  const relative = target.replace(/^https?:\/\/[^/?]+/i, '');
  return relative.startsWith('/') ? relative : `/${relative}`;
}

function parse(
  target: string,
  ambiguous?: (part: string) => string | undefined,
): Target | undefined {
  if (target === '*') return ASTERISK;
  if (!VISIBLE.test(target)) return undefined;
  const absolute = target.startsWith('/') ? undefined : ABSOLUTE.exec(target);
  if (absolute === null || (absolute && !isHost(absolute[1] ?? ''))) return undefined;

  const relative = absolute?.[2] ?? target;
  const mark = relative.indexOf('?');
  const rawPath = (mark === -1 ? relative : relative.slice(0, mark)) || '/';
  const query = mark === -1 ? undefined : relative.slice(mark + 1);

  const parts = rawPath.slice(1).split('/');
  const trailingSlash = parts.at(-1) === '';
  if (trailingSlash) parts.pop();
  const plain = parts.map(decode);
  const decoded = plain.map((segment, index) => segment ?? ambiguous?.(parts[index] ?? ''));
  if (decoded[0] === '' || !decoded.every((segment) => segment !== undefined)) return undefined;
  const segments = decoded.filter((segment) => segment !== '');
  const odd = plain.findIndex((segment) => segment === undefined || ODD.test(segment));

  const tail = trailingSlash && segments.length > 0 ? '/' : '';
  const path = `/${segments.map(encode).join('/')}${tail}`;
  return {
    form: absolute ? 'absolute' : 'origin',
    segments,
    ...(odd !== -1 && { odd }),
    trailingSlash,
    path,
    query,
  };
}
