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
 * Fields that the gateway writes itself. The application does not get the client's value, so two requests cannot be
 * compared by it.
 */
const MADE_HERE =
  /^(?:via|x-request-id|x-auth-.+|forwarded|x-forwarded-(?:for|host|prefix|proto)|max-forwards)$/;

/**
 * The application gets the same value with each request: the host name is fixed, and the gateway removes the other
 * fields from clients.
 */
const isAlwaysTheSame = ({ canonical, vouched, overriding }: Name) =>
  canonical === 'host' || vouched || overriding;

/** Fields whose values are stored as digests, so that no credentials are on disk. */
const SECRET =
  /^(?:authorization|cookie|dpop|concealed-auth-export|.*(?:key|token|secret|signature).*)$/;

/** The values of Vary, and Origin if the answer allows a single origin to read it. */
export function varyOf(answer: Lines): readonly string[] {
  const isForOne = valuesOf(answer, 'access-control-allow-origin').some((one) => one !== '*');
  return [...valuesOf(answer, 'vary'), ...(isForOne ? ['Origin'] : [])];
}

/**
 * Returns the fields that Vary nominates (RFC 9111 section 4.1) with their values in the request. A string: the member
 * that matches no request. `made`: as in `Rules`.
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

/** A field name; `*` is not a field name. */
const FIELD_NAME = /^(?!\*$)[!#$%&'*+.^_`|~0-9a-z-]+$/;

/**
 * Whether the application did not get the field as the client sent it. Either Connection removed the field (`taken`:
 * the names in Connection), or a similar field may replace it.
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

/** Whether a request has the stored values of the nominated fields (RFC 9111 section 4.1). */
export function matches(vary: readonly Nominated[], rawHeaders: readonly string[]): boolean {
  return vary.every(([name, value]) => valueIn(rawHeaders, name) === value);
}

/** The prefix of a digest. A value that begins so is hashed, too. */
const DIGEST = 'sha256:';

/**
 * Selects the variant that answers a request (RFC 9111 section 4.1): the most recent match by Date. A variant without
 * Vary matches only if no other variant has Vary.
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

/** The normalized values of each request, cached for the comparison with all variants of a key. */
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

/** Fields that are not lists, or in which white space may matter. Their values are compared unchanged. */
const NO_LIST =
  /^(?:authorization|cookie|date|from|if-(?:modified|unmodified)-since|if-range|origin|referer|user-agent|sec-.+)$/;

/** Lists whose members are case-insensitive (RFC 9110 sections 8.4.1, 8.3.2 and 8.5.1). */
const CASELESS = new Set(['accept-charset', 'accept-encoding', 'accept-language']);

/**
 * Normalizes the lines of a field, so that equal meanings compare equal (RFC 9111 section 4.1). The order of members
 * stays, since some servers prefer the first.
 */
export function normalised(name: string, values: readonly string[]): string {
  // The gateway joins cookies by semicolons for the application (RFC 9113 section 8.2.3).
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

/** Undefined: the value is not a list, or the list is too long. */
function membersOf(value: string): readonly string[] | undefined {
  try {
    return listMembers([value]).map((member) => member.trim());
  } catch (error) {
    if (error instanceof BadRequest) return undefined;
    throw error;
  }
}
