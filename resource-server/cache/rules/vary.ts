import { createHash } from 'node:crypto';
import { BadRequest, lines, listMembers, plainMembers } from '#shared/http/fields.ts';
import { isApiKeyLike } from '#shared/people/api-key.ts';
import type { Lines } from '../../forwarding/fields.ts';
import { type Name, nameOf } from '../../forwarding/names.ts';
import type { Nominated, Stored } from './stored.ts';
import { dateOf } from './freshness.ts';
import { valuesOf } from './lines.ts';
import type { Rules } from './rules.ts';

/**
 * Fields that the gateway writes itself. The application does not get the client's value, so a request does not show
 * whether it matches another.
 */
const MADE_HERE =
  /^(?:via|x-request-id|x-auth-.+|forwarded|x-forwarded-(?:for|host|prefix|proto)|max-forwards)$/;

/** The same at each request: the name of the application, or that of the space; what no client can send it. */
const isAlwaysTheSame = ({ canonical, vouched, overriding }: Name) =>
  canonical === 'host' || vouched || overriding;

/** Kept as a digest: what lies on a disk tells no credentials. */
const SECRET =
  /^(?:authorization|cookie|dpop|concealed-auth-export|.*(?:key|token|secret|signature).*)$/;

/** The values of Vary, and Origin where one origin is let read the answer. */
export function varyOf(answer: Lines): readonly string[] {
  const isForOne = valuesOf(answer, 'access-control-allow-origin').some((one) => one !== '*');
  return [...valuesOf(answer, 'vary'), ...(isForOne ? ['Origin'] : [])];
}

/**
 * The fields that the lines of a Vary nominate (RFC 9111 section 4.1) with their values in the request. A string:
 * the member that no request can be said to match. `made`: as in `Rules`.
 */
export function nominate(
  values: readonly string[],
  rawHeaders: readonly string[],
  made: Rules['made'] = new Set(),
): readonly Nominated[] | string {
  const names = new Set(values.flatMap((value) => plainMembers(value.toLowerCase())));
  const taken = new Set(
    lines(rawHeaders, 'connection')
      .flatMap(plainMembers)
      .map((option) => nameOf(option).canonical),
  );
  const isMade = ({ canonical }: Name) => MADE_HERE.test(canonical) || made.has(canonical);
  const varying = [...names].filter((name) => {
    const known = nameOf(name);
    return isMade(known) || !isAlwaysTheSame(known);
  });
  const unmatched = varying.find(
    (name) =>
      !FIELD_NAME.test(name) || isMade(nameOf(name)) || isOtherwiseGot(name, rawHeaders, taken),
  );
  if (unmatched !== undefined) return unmatched;
  return varying.toSorted().map((name) => [name, valueIn(rawHeaders, name)] as const);
}

/** A `*` is none either. */
const FIELD_NAME = /^(?!\*$)[!#$%&'*+.^_`|~0-9a-z-]+$/;

/**
 * Whether Connection took a field away from the application (`taken`: the names in it), or it got one that some take
 * for it.
 */
function isOtherwiseGot(
  name: string,
  rawHeaders: readonly string[],
  taken: ReadonlySet<string>,
): boolean {
  const { canonical } = nameOf(name);
  if (taken.has(canonical)) return true;
  return rawHeaders.some(
    (sent, index) =>
      index % 2 === 0 && sent.toLowerCase() !== name && nameOf(sent).canonical === canonical,
  );
}

/** Whether a request has the values that were nominated (RFC 9111 section 4.1). */
export function matches(vary: readonly Nominated[], rawHeaders: readonly string[]): boolean {
  return vary.every(([name, value]) => valueIn(rawHeaders, name) === value);
}

/** So begin digests alone. */
const DIGEST = 'sha256:';

/**
 * Which of the variants of a key answers a request (RFC 9111 section 4.1): the most recent by Date of those that
 * match. One without Vary is no answer where another one has it.
 */
export function select<T extends Pick<Stored, 'vary' | 'lines' | 'received'>>(
  variants: readonly T[],
  rawHeaders: readonly string[],
): T | undefined {
  const [first, ...more] = variants;
  if (more.length === 0) return first && matches(first.vary, rawHeaders) ? first : undefined;
  const varied = variants.filter(({ vary }) => vary.length > 0);
  const possible = varied.length === 0 ? variants : varied;
  const matching = possible.filter(({ vary }) => matches(vary, rawHeaders));
  if (matching.length < 2) return matching[0];
  return matching.reduce((newest, other) => (dateOf(other) > dateOf(newest) ? other : newest));
}

/** The values of each request, with which all variants of a key are compared. */
const known = new WeakMap<readonly string[], Map<string, string | null>>();

function valueIn(rawHeaders: readonly string[], name: string): string | null {
  const before = known.get(rawHeaders);
  const values = before ?? new Map<string, string | null>();
  if (before === undefined) known.set(rawHeaders, values);
  let value = values.get(name);
  if (value === undefined) values.set(name, (value = readValue(rawHeaders, name)));
  return value;
}

function readValue(rawHeaders: readonly string[], name: string): string | null {
  const values = lines(rawHeaders, name);
  if (values.length === 0) return null;
  const value = normalised(name, values);
  return SECRET.test(name) || isApiKeyLike(value) || value.length > 128 || value.startsWith(DIGEST)
    ? `${DIGEST}${createHash('sha256').update(value).digest('base64url')}`
    : value;
}

/** Values in which a comma separates nothing, or white space around it may mean something: compared as they are. */
const NO_LIST =
  /^(?:authorization|cookie|date|from|if-(?:modified|unmodified)-since|if-range|origin|referer|user-agent|sec-.+)$/;

/** Lists in which case means nothing (RFC 9110 sections 8.4.1, 8.3.2 and 8.5.1). */
const CASELESS = new Set(['accept-charset', 'accept-encoding', 'accept-language']);

/**
 * The lines of a field in the form that all share that mean the same (RFC 9111 section 4.1). The order of members
 * stays: some servers prefer what comes first.
 */
export function normalised(name: string, values: readonly string[]): string {
  // As the application gets it (RFC 9113 section 8.2.3).
  const between = name === 'cookie' ? '; ' : ', ';
  const joined = values.map((value) => value.trim()).join(between);
  if (NO_LIST.test(name)) return joined;
  const members = membersOf(joined);
  if (members === undefined) return joined;
  const plain = members.join(', ');
  return CASELESS.has(name)
    ? plain.toLowerCase().replaceAll(/(?<![ \t])[ \t]*;[ \t]*/g, ';')
    : plain;
}

/** Undefined: it is no list, or too long a one. */
function membersOf(value: string): readonly string[] | undefined {
  try {
    return listMembers([value]).map((member) => member.trim());
  } catch (error) {
    if (error instanceof BadRequest) return undefined;
    throw error;
  }
}
