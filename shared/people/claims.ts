import type { Person } from './directory.ts';

type Told = (person: Person) => unknown;

/** Returns the value of a person's attribute. */
export const attributeOf = ({ profile }: Person, name: string): string | undefined =>
  profile?.attributes?.find((attribute) => attribute.name === name)?.value;

/** Returns claims that the attributes of the same names give. */
const ofAttributes = <Name extends string>(...names: readonly Name[]) =>
  Object.fromEntries(
    names.map((name) => [name, (person: Person) => attributeOf(person, name)]),
  ) as Readonly<Record<Name, Told>>;

const ADDRESS = [
  'formatted',
  'street_address',
  'locality',
  'region',
  'postal_code',
  'country',
] as const;

/** Returns the claim `address` (section 5.1.1), of attributes such as `address.locality`. */
function addressOf(person: Person) {
  const members = ADDRESS.map((name) => [name, attributeOf(person, `address.${name}`)] as const);
  const known = members.filter(([, value]) => value !== undefined);
  return known.length === 0 ? undefined : Object.fromEntries(known);
}

/**
 * The claims of each scope about a person (OpenID Connect Core 1.0 sections 5.1 and 5.4), with their values. Attributes
 * give what the record has no member for. The name `groups` is that of RFC 9068 section 2.2.3.1.
 */
const CLAIMS = {
  profile: {
    name: ({ profile }) => profile?.display_name,
    ...ofAttributes('given_name', 'family_name', 'middle_name', 'nickname'),
    preferred_username: ({ name }) => name,
    picture: ({ profile }) => profile?.picture,
    locale: ({ profile }) => profile?.locale,
    ...ofAttributes('profile', 'website', 'gender', 'birthdate', 'zoneinfo'),
    // NumericDate.
    updated_at: ({ changedAt }) =>
      changedAt === undefined ? undefined : Math.floor(changedAt / 1000),
  },
  email: {
    email: ({ profile }) => profile?.emails?.[0]?.address,
    email_verified: ({ profile }) => profile?.emails?.[0]?.verified,
  },
  phone: {
    ...ofAttributes('phone_number'),
    // This server confirms no number.
    phone_number_verified: (person) =>
      attributeOf(person, 'phone_number') === undefined ? undefined : false,
  },
  address: { address: addressOf },
  // An empty list is sent, too: otherwise an application that stores groups would keep a person's former groups.
  groups: { groups: ({ profile }) => profile?.groups ?? [] },
} satisfies Readonly<Record<string, Readonly<Record<string, Told>>>>;

/** The claims of each scope about a person. */
export const CLAIMS_OF_SCOPES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(CLAIMS).map(([scope, claims]) => [scope, Object.keys(claims)]),
);

/**
 * Returns the claims about a person that these scopes give, and those that are named one by one (section 5.5), without
 * claims whose value is unknown (section 5.3.2).
 */
export function claimsOf(
  person: Person,
  scopes: ReadonlySet<string>,
  named: ReadonlySet<string> = new Set(),
): Readonly<Record<string, unknown>> {
  const told = Object.entries<Readonly<Record<string, Told>>>(CLAIMS).flatMap(([scope, claims]) =>
    Object.entries(claims)
      .filter(([claim]) => scopes.has(scope) || named.has(claim))
      .map(([claim, tell]) => [claim, tell(person)] as const),
  );
  return Object.fromEntries(told.filter(([, value]) => value !== undefined));
}
