import { type ClaimRule, isRule, parseRule } from './claim-rules.ts';
import { attributeOf, claimsOf } from './claims.ts';
import type { Person } from './directory.ts';
import { addressKey } from './names/mail-address.ts';

type Claims = Readonly<Record<string, unknown>>;

/**
 * Returns the claims that a client gets about a person: those of the scopes, those that are named one by one, and in
 * their place those of the client's rules, which need no scope.
 */
export const toldClaims = (
  person: Person,
  scopes: ReadonlySet<string>,
  rules: readonly string[] | undefined,
  named?: ReadonlySet<string>,
): Claims => ({ ...claimsOf(person, scopes, named), ...ruledClaims(rules, person) });

/**
 * Returns the claims of a client's rules. Of the rules for one claim, the first counts that is for the person and has
 * something to tell. Without a person, a rule counts if it says the same of everybody.
 */
export function ruledClaims(rules: readonly string[] = [], person: Person | undefined): Claims {
  const claims = new Map<string, unknown>();
  for (const { claim, value, condition } of rules.map(parseRule).filter(isRule)) {
    if (claims.has(claim) || !isFor(condition, person)) continue;
    const told = valueOf(value, person);
    if (told !== undefined) claims.set(claim, told);
  }
  const email = claims.get('email');
  if (email !== undefined) claims.set('email_verified', isVerified(email, person));
  return Object.fromEntries(claims);
}

function isFor(condition: ClaimRule['condition'], person: Person | undefined): boolean {
  if (condition === undefined) return true;
  if ('group' in condition) return person?.profile?.groups?.includes(condition.group) === true;
  if ('person' in condition) return person?.name === condition.person;
  return person !== undefined && attributeOf(person, condition.attribute) === condition.is;
}

function valueOf(value: ClaimRule['value'], person: Person | undefined): unknown {
  if ('text' in value) return value.text;
  if (person === undefined) return undefined;
  if ('attribute' in value) return attributeOf(person, value.attribute);
  return MEMBERS[value.member](person);
}

const MEMBERS = {
  // An unverified address may be that of another person.
  email: ({ profile }: Person) => {
    const [first] = profile?.emails ?? [];
    return first?.verified ? first.address : undefined;
  },
  name: ({ profile }: Person) => profile?.display_name,
  username: ({ name }: Person) => name,
  groups: ({ profile }: Person) => profile?.groups ?? [],
};

/** Whether an address that a rule tells is a verified address of the person. */
const isVerified = (email: unknown, person: Person | undefined): boolean =>
  typeof email === 'string' &&
  (person?.profile?.emails ?? []).some(
    ({ address, verified }) => verified && addressKey(address) === addressKey(email),
  );
