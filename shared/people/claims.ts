import type { Person } from './directory.ts';

type Told = (person: Person) => unknown;

/**
 * The claims of each scope about a person (OpenID Connect Core 1.0 sections 5.1 and 5.4), with their values. The name
 * `groups` is that of RFC 9068 section 2.2.3.1.
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
  // An empty list is sent, too: otherwise an application that stores groups would keep a person's former groups.
  groups: { groups: ({ profile }) => profile?.groups ?? [] },
} satisfies Readonly<Record<string, Readonly<Record<string, Told>>>>;

/** The claims of each scope about a person. */
export const CLAIMS_OF_SCOPES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(CLAIMS).map(([scope, claims]) => [scope, Object.keys(claims)]),
);

/**
 * Returns the claims about a person that these scopes allow, without claims whose value is unknown (section 5.3.2).
 */
export function claimsOf(
  person: Person,
  scopes: ReadonlySet<string>,
): Readonly<Record<string, unknown>> {
  const granted = Object.entries<Readonly<Record<string, Told>>>(CLAIMS).filter(([scope]) =>
    scopes.has(scope),
  );
  const told = granted.flatMap(([, claims]) =>
    Object.entries(claims).map(([claim, tell]) => [claim, tell(person)] as const),
  );
  return Object.fromEntries(told.filter(([, value]) => value !== undefined));
}
