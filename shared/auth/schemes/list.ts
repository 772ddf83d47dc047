import type { KeptKind } from '#shared/people/verifier-kind.ts';
import { apiKeyEntry } from './api-key/entry.ts';
import { basicEntry } from './basic/entry.ts';
import { bearerEntry } from './bearer/entry.ts';
import { concealedEntry } from './concealed/entry.ts';
import { digestEntry } from './digest/entry.ts';
import { dpopEntry } from './dpop/entry.ts';
import { gnapEntry } from './gnap/entry.ts';
import { hobaEntry } from './hoba/entry.ts';
import { mutualEntry } from './mutual/entry.ts';
import { negotiateEntry } from './negotiate/entry.ts';
import { privateTokenEntry } from './private-token/entry.ts';
import type { SchemeEntry, SchemeParts } from './parts/scheme-entry.ts';
import { scramSha1Entry, scramSha256Entry } from './scram/entry.ts';

/** THE list of schemes, strongest first. Each scheme has a folder of its own and a line here. */
export const SCHEMES = [
  concealedEntry,
  negotiateEntry,
  dpopEntry,
  gnapEntry,
  hobaEntry,
  mutualEntry,
  scramSha256Entry,
  digestEntry,
  scramSha1Entry,
  bearerEntry,
  basicEntry,
  privateTokenEntry,
  apiKeyEntry,
] as const;

type Entry = (typeof SCHEMES)[number];
type PersonEntry = Extract<Entry, { forPeople: true }>;
export type SchemeName = Entry['name'];
/** The name of a scheme that a proxy can ask for, too. */
export type PersonSchemeName = PersonEntry['name'];

/** Turns the union A | B into the intersection A & B. */
type AllOf<Union> = (Union extends unknown ? (one: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

const merged = (entries: readonly SchemeEntry[]): object =>
  Object.assign({}, ...entries.map(({ settings }) => settings));

/** The members of a protection space's, and of a proxy's, configuration that are about schemes. */
export const SPACE_SETTINGS = merged(SCHEMES) as AllOf<Entry['settings']>;
export const PROXY_SETTINGS = merged(SCHEMES.filter(({ forPeople }) => forPeople)) as AllOf<
  PersonEntry['settings']
>;

/** All kinds of password verifiers that schemes may need in the store. */
export const VERIFIER_KINDS: readonly KeptKind[] = (SCHEMES as readonly SchemeEntry[]).flatMap(
  ({ verifier }) => verifier?.kinds ?? [],
);

type NeededBy = Extract<Entry, { verifier: object }>['verifier']['neededBy'];
/** Members of a space's or the proxy's configuration that decide which verifiers its schemes need. */
export type VerifierSettings = NeededBy extends (settings: infer Settings) => unknown
  ? Settings
  : never;

type MakerOf<Name extends SchemeName> = Awaited<ReturnType<Extract<Entry, { name: Name }>['open']>>;
/** The functions that make each scheme for a space or a proxy, by the scheme's name. */
export type Schemes = { readonly [Name in SchemeName]: MakerOf<Name> };

/** The schemes that check a password and no second factor. */
export const PASSWORD_ALONE = (SCHEMES as readonly SchemeEntry[]).filter(
  ({ passwordAlone }) => passwordAlone,
);

/** Opens every scheme. */
export async function openSchemes(parts: SchemeParts): Promise<Schemes> {
  return Object.fromEntries(await opened(SCHEMES, parts)) as Schemes;
}

/**
 * Returns the same schemes for spaces that require no second factor: the password-only schemes are opened again, with
 * these `parts`.
 */
export async function withoutSecondFactor(schemes: Schemes, parts: SchemeParts): Promise<Schemes> {
  return { ...schemes, ...Object.fromEntries(await opened(PASSWORD_ALONE, parts)) };
}

const opened = (entries: readonly SchemeEntry[], parts: SchemeParts) =>
  Promise.all(entries.map(async ({ name, open }) => [name, await open(parts)] as const));
