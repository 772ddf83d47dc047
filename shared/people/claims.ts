import type { Person } from './directory.ts';

type Told = (person: Person) => unknown;

/**
 * The claims of each scope about a person (OpenID Connect Core 1.0 sections 5.1 and 5.4), and what each says;
 * `groups` as RFC 9068 section 2.2.3.1 names them.
 */
const CLAIMS = {
  profile: {
    name: ({ profile }) => profile?.display_name,
    preferred_username: ({ name }) => name,
    picture: ({ profile }) => profile?.picture,
    locale: ({ profile }) => profile?.locale,
  },
  email: {
    email: ({ profile }) => profile?.emails?.[0]?.address,
    email_verified: ({ profile }) => profile?.emails?.[0]?.verified,
  },
  // Who is in none is told so: what keeps groups from before would keep the last one for good.
  groups: { groups: ({ profile }) => profile?.groups ?? [] },
} satisfies Readonly<Record<string, Readonly<Record<string, Told>>>>;

/** The scopes that tell something of a person, and by which claims. */
export const CLAIMS_OF_SCOPES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(CLAIMS).map(([scope, claims]) => [scope, Object.keys(claims)]),
);

/**
 * What may be told of a person under these scopes. What is not known is left out (section 5.3.2). `wholeProfile`: see
 * `Access`.
 */
export function claimsOf(
  person: Person,
  scopes: ReadonlySet<string>,
  wholeProfile = true,
): Readonly<Record<string, unknown>> {
  if (!wholeProfile) return claimsOf({ ...person, profile: withoutProfile(person) }, scopes);
  const granted = Object.entries<Readonly<Record<string, Told>>>(CLAIMS).filter(([scope]) =>
    scopes.has(scope),
  );
  const told = granted.flatMap(([, claims]) =>
    Object.entries(claims).map(([claim, tell]) => [claim, tell(person)] as const),
  );
  return Object.fromEntries(told.filter(([, value]) => value !== undefined));
}

/** Of the members of a profile, those of other scopes than that. */
const withoutProfile = ({ profile: { emails = [], groups = [] } = {} }: Person) => ({
  emails,
  groups,
});
