import { hash } from 'node:crypto';
import { parseScope } from '#shared/jose/scope.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import type { AuditEvent } from '#shared/audit/event-kinds.ts';
import { type AccessStore, changing } from './access-store.ts';
import { batchesOfClient, surplus } from './walk.ts';

/** Most consents of a person. */
export const MOST_CONSENTS = 100;

/** Scopes by resource (RFC 8707); the scopes of OpenID Connect have the key ''. */
export type Scopes = Readonly<Record<string, readonly string[]>>;

/** The key of a consent: a person decides once for each client and each host that receives the client's code. */
export interface ConsentKey {
  readonly accountId: string;
  readonly clientId: string;
  readonly redirectHost: string;
}

/**
 * A person's decision about a client, for all their browsers. Each browser gets a grant of its own by the consent.
 * The end of one grant ends neither the consent nor any other grant.
 */
export interface Consent extends ConsentKey {
  /** The person's generation when they signed in; a later generation ends the consent. */
  readonly generation: number;
  /** The time of the last decision, in milliseconds since 1970. */
  readonly since: number;
  /** As in `Access`: since when the client had the metadata of its document. */
  readonly describedSince?: number;
  readonly allowed: Scopes;
  readonly refused: Scopes;
}

/** A scope of a request; without a resource it concerns data about the person. */
export interface ScopeItem {
  readonly scope: string;
  readonly resource?: string;
}

type ConsentClient = Pick<ClientRecord, 'scope' | 'withdrawn_scopes'>;

const KIND = 'Consent';
const idOf = ({ accountId, clientId, redirectHost }: ConsentKey) =>
  hash('sha256', JSON.stringify([accountId, clientId, redirectHost]), 'base64url');

/** Returns the scopes of a request's items, by resource. */
export function scopesOf(items: readonly ScopeItem[]): Scopes {
  const groups = Map.groupBy(items, ({ resource = '' }) => resource);
  const scopes = [...groups].map(([resource, some]) => [resource, some.map(({ scope }) => scope)]);
  return Object.fromEntries(scopes);
}

const has = (scopes: Scopes, { scope, resource = '' }: ScopeItem) =>
  Object.hasOwn(scopes, resource) && scopes[resource]?.includes(scope) === true;

/** Returns the scopes of `one`, and those of `other` that are not in `besides`. */
function joined(one: Scopes, other: Scopes, besides: Scopes): Scopes {
  const kept = Object.entries(other).flatMap(([resource, scopes]) =>
    scopes
      .map((scope) => ({ scope, resource }))
      .filter((item) => !has(one, item) && !has(besides, item)),
  );
  const own = Object.entries(one).flatMap(([resource, scopes]) =>
    scopes.map((scope) => ({ scope, resource })),
  );
  return scopesOf([...own, ...kept]);
}

/**
 * Returns a consent without the scopes that the client may not request now, or that were withdrawn since the
 * decision.
 */
function possible(consent: Consent, client: ConsentClient): Consent {
  const allowed = parseScope(client.scope);
  const stands = (scope: string) =>
    allowed.has(scope) && !((client.withdrawn_scopes?.[scope] ?? 0) >= consent.since);
  const filtered = (scopes: Scopes) =>
    Object.fromEntries(
      Object.entries(scopes).map(([resource, some]) => [resource, some.filter(stands)]),
    );
  return { ...consent, allowed: filtered(consent.allowed), refused: filtered(consent.refused) };
}

/**
 * Remembers a decision for `seconds`. Earlier decisions about other scopes stay, unless the client's description was
 * different at that time. A person with `MOST_CONSENTS` loses the oldest consent.
 */
export async function recordConsent(
  store: AccessStore,
  consent: Consent,
  client: ConsentClient,
  seconds: number,
): Promise<void> {
  const { artefacts } = store.stores;
  const id = idOf(consent);
  for (;;) {
    const was = await artefacts.get(KIND, id);
    const known = was && possible(asConsent(was), client);
    const isSame =
      known !== undefined &&
      known.generation >= consent.generation &&
      known.describedSince === consent.describedSince;
    const before = isSame ? known : undefined;
    const { allowed, refused } = consent;
    const payload = {
      ...consent,
      allowed: joined(allowed, before?.allowed ?? {}, refused),
      refused: joined(refused, before?.refused ?? {}, allowed),
    };
    const artefact = { kind: KIND, id, payload, seconds };
    if (was === undefined) await artefacts.put(artefact);
    else if (!(await artefacts.replace(artefact, was))) continue;
    break;
  }
  for (const old of await surplus(store, KIND, consent.accountId, MOST_CONSENTS)) {
    await artefacts.remove(KIND, idOf(asConsent(old)));
  }
}

/**
 * Finds a consent. Returns undefined if there is none, if it expired, or if all access of the person was ended since.
 */
export async function findConsent(
  { stores }: AccessStore,
  key: ConsentKey,
  client: ConsentClient,
): Promise<Consent | undefined> {
  const found = await stores.artefacts.get(KIND, idOf(key));
  if (found === undefined) return undefined;
  const consent = asConsent(found);
  const generation = await stores.revocations.generation('person', key.accountId);
  return consent.generation < generation ? undefined : possible(consent, client);
}

/** Splits items into allowed and refused items; undefined if the person was never asked about some of them. */
export function decided<Item extends ScopeItem>(
  { allowed, refused }: Consent,
  asked: readonly Item[],
): { readonly allowed: readonly Item[]; readonly refused: readonly Item[] } | undefined {
  const known = asked.every((item) => has(allowed, item) || has(refused, item));
  const given = asked.filter((item) => has(allowed, item));
  if (!known || given.length === 0) return undefined;
  return { allowed: given, refused: asked.filter((item) => !has(allowed, item)) };
}

/** Lists all valid consents, the latest first. */
export async function listConsents(
  { stores }: AccessStore,
  accountId: string,
): Promise<readonly Consent[]> {
  const generation = await stores.revocations.generation('person', accountId);
  const found = await stores.artefacts.listByAccount(KIND, accountId);
  return found
    .map(asConsent)
    .filter((consent) => consent.generation >= generation)
    .toSorted((a, b) => b.since - a.since);
}

/** Removes decisions of a person; resolves to their number. `events` are recorded if a decision was removed. */
export async function removeConsents(
  store: AccessStore,
  accountId: string,
  such: (consent: Consent) => boolean,
  ...events: readonly AuditEvent[]
): Promise<number> {
  const all = await store.stores.artefacts.listByAccount(KIND, accountId);
  const found = all.map(asConsent).filter(such);
  await changing(store, 'artefacts', ...events).remove(KIND, ...found.map(idOf));
  return found.length;
}

/** Removes the decisions of all people about a client. */
export async function removeConsentsTo(store: AccessStore, clientId: string): Promise<void> {
  for await (const found of batchesOfClient(store, KIND, clientId)) {
    await store.stores.artefacts.remove(KIND, ...found.map((one) => idOf(asConsent(one))));
  }
}

/** Only `recordConsent` writes these records, so their members need no second check. */
const asConsent = (payload: Record<string, unknown>) => payload as unknown as Consent;
