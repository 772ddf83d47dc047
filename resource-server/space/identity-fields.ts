import { subjectOf } from '#shared/auth/person.ts';
import type { Outcome, Principal } from '#shared/auth/scheme.ts';
import type { Told, ToldFields } from '#shared/config/identity-schema.ts';

/** The admitted principal, and the scheme that admitted it. */
export type Passed = Pick<Extract<Outcome, { kind: 'pass' }>, 'scheme' | 'principal'>;

/** The identity of an admitted client, as applications get it. An absent member is unknown. */
export interface Identity {
  /** An identifier that is permanent and does not depend on the scheme. Absent if the scheme names no one. */
  readonly subject?: string;
  /** A person's name, if the scheme gives it. It may change. */
  readonly name?: string;
  /** The primary email address, if verified, and the groups, if the space asks the directory. */
  readonly email?: string;
  readonly groups: readonly string[];
  readonly client?: string;
  readonly scopes: readonly string[];
  readonly scheme: string;
}

export function identityOf({ scheme, principal }: Passed): Identity {
  const subject = subjectOf(principal);
  const client = principal.claims?.['client_id'];
  const { about } = principal;
  const name = about?.name ?? (principal.kind === 'person' ? principal.name : undefined);
  return {
    ...(subject !== undefined && { subject }),
    ...(name !== undefined && name !== subject && { name }),
    ...(about?.email !== undefined && { email: about.email }),
    groups: about?.groups ?? [],
    ...(client !== undefined && { client }),
    scopes: [...(principal.scopes ?? [])],
    scheme,
  };
}

/** Returns the values of the fields, empty if unknown. */
function valuesOf(identity: Identity): Readonly<Record<Told, string>> {
  const { subject = '', name = '', email = '', groups, client = '', scopes, scheme } = identity;
  return {
    subject: safe(subject),
    name: safe(name),
    email: safe(email),
    groups: groups.map(member).join(','),
    client: safe(client),
    scope: scopes.map(safe).join(' '),
    scheme,
  };
}

/** The names of the server's own fields. */
const X_AUTH: ToldFields = {
  'X-Auth-Subject': 'subject',
  'X-Auth-Name': 'name',
  'X-Auth-Email': 'email',
  'X-Auth-Groups': 'groups',
  'X-Auth-Client': 'client',
  'X-Auth-Scope': 'scope',
  'X-Auth-Scheme': 'scheme',
};

/**
 * The fields of a principal's last request. They are cached, since a token gives the same principal object each time.
 */
interface Last {
  readonly scheme: string;
  readonly fields: ToldFields;
  readonly lines: Readonly<Record<string, string>>;
}

const last = new WeakMap<Principal, Last>();

/** Returns all fields, even unknown ones, so that a proxy that copies them overwrites everything that a client sent. */
export function identityFields(
  passed: Passed,
  fields: ToldFields = X_AUTH,
): Readonly<Record<string, string>> {
  const { scheme, principal } = passed;
  const before = last.get(principal);
  if (before?.scheme === scheme && before.fields === fields) return before.lines;
  const lines = linesOf(passed, fields);
  last.set(principal, { scheme, fields, lines });
  return lines;
}

function linesOf(passed: Passed, fields: ToldFields): Readonly<Record<string, string>> {
  const values = valuesOf(identityOf(passed));
  const lines: Record<string, string> = {};
  // A loop, since this runs for each request, and `Object.entries` with `Object.fromEntries` would take three times as
  // long.
  for (const name in fields) {
    const told = fields[name];
    if (told !== undefined) lines[name] = values[told];
  }
  return lines;
}

/** The field of the statement that the gateway signs. */
export const STATEMENT_FIELD = 'X-Auth-Statement';

const PERCENT = 0x25;

/** True if all characters are visible ASCII, and none is the percent sign. */
function isPlain(value: string): boolean {
  // A loop, since this runs for each value of each request, and a regular expression would take five times as long.
  for (let at = 0; at < value.length; at += 1) {
    const code = value.charCodeAt(at);
    if (code < 0x21 || code > 0x7e || code === PERCENT) return false;
  }
  return true;
}

/**
 * Percent-encodes all characters but visible ASCII, and the percent sign itself, so that no value can end its field.
 */
function safe(value: string): string {
  if (isPlain(value)) return value;
  return value.toWellFormed().replaceAll(/[^\x21-\x24\x26-\x7e]/gu, encodeURIComponent);
}

/** Encodes a member of a list, including commas, which would otherwise separate members. */
const member = (value: string) => safe(value).replaceAll(',', '%2C');
