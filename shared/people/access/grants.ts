import type { Acr } from '#shared/jose/acr.ts';
import type { Identity } from '#shared/stores/people/people.ts';
import { rememberUntil } from '#shared/stores/revocation/lifetime.ts';
import type { ArtefactPlace, ArtefactRange, Slice } from '#shared/stores/oauth/artefacts.ts';
import type { AuditEvent } from '#shared/audit/event-kinds.ts';
import { type AccessStore, changing } from './access-store.ts';
import { surplus, walk } from './walk.ts';

/** Most grants of a person. */
export const MOST_GRANTS = 100;

/** A person's permission for a client, stored beside the engine's Grant and ended with it. */
export interface Access {
  readonly grantId: string;
  readonly accountId: string;
  readonly clientId: string;
  /** The person's generation when they signed in, which every token of the grant has as a claim. */
  readonly generation: number;
  /**
   * The client's generation when the grant was made. A client that was removed and registered again has another
   * generation.
   */
  readonly clientGeneration: number;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Since when the client had the metadata of its document; absent for clients without a document. */
  readonly describedSince?: number;
  /** How strong the weakest sign-in was with which the grant was allowed or used. */
  readonly acr?: Acr;
  /** `uid` of the sign-in whose end also ends the grant; absent if the grant outlives the browser's session. */
  readonly signIn?: string;
  /**
   * The passkey of the sign-in in which the grant was allowed. Removing the passkey ends the grant, even if the grant
   * outlives the browser.
   */
  readonly passkey?: string;
  /** The account elsewhere of that sign-in. Removing the link to it ends the grant, too. */
  readonly identity?: Identity;
  /** The browser that allowed the grant, and the host that receives its codes; absent for a device. */
  readonly place?: GrantPlace;
  /**
   * `uid` of the sign-in, if the client is to be told of the end of the browser's session (OpenID Connect Back-Channel
   * Logout 1.0). The store clears its copy of it when it has written the logout.
   */
  readonly uid?: string;
  /** True if the person was not asked, since the client is the operator's own. */
  readonly byOperator?: boolean;
  /** The origin of the device's request, for a grant of the device flow. */
  readonly device?: { readonly address?: string; readonly agent?: string };
  /** The browser of the sign-in, for any other grant. */
  readonly browser?: { readonly address?: string; readonly agent?: string };
}

/** True if the grant was made for this client, not for an earlier client of the same name. */
export const isOfClient = (
  { clientGeneration }: Pick<Access, 'clientGeneration'>,
  generation: number,
): boolean => clientGeneration === generation;

/** A browser and a redirect host: a permission for one redirect host is not valid for another. */
export interface GrantPlace {
  /** `uid` of the sign-in. */
  readonly browser: string;
  readonly redirectOrigin: string;
}

/** An Access with data of the engine's Grant and of the last token. */
export interface ListedAccess extends Access {
  /** The granted scopes, by resource; the scopes of OpenID Connect have the key ''. */
  readonly scopes: Readonly<Record<string, readonly string[]>>;
  /** When a token was last issued or refreshed, in milliseconds since 1970. */
  readonly lastIssue?: number;
}

/**
 * Stores an access for `seconds`, the remaining life of its Grant. A person with `MOST_GRANTS` loses a grant: among
 * those that would end soonest, the oldest. `events` are recorded with it.
 */
export async function recordAccess(
  store: AccessStore,
  access: Access,
  seconds: number,
  ...events: readonly AuditEvent[]
): Promise<void> {
  const { grantId, accountId } = access;
  const payload = { ...access };
  const artefact = { kind: 'Access', id: grantId, payload, seconds };
  await changing(store, 'artefacts', ...events).put(artefact);
  for (const old of await surplus(store, 'Access', accountId, MOST_GRANTS)) {
    await endGrant(store, String(old['grantId']));
  }
}

/**
 * Replaces `was`, as returned by `findAccess`. Returns false if `was` has ended meanwhile, so that an extension never
 * revives a grant. `events` are recorded with it.
 */
export async function extendAccess(
  store: AccessStore,
  access: Access,
  was: Access,
  seconds: number,
  ...events: readonly AuditEvent[]
): Promise<boolean> {
  const artefact = { kind: 'Access', id: access.grantId, payload: { ...access }, seconds };
  return changing(store, 'artefacts', ...events).replace(artefact, { ...was });
}

/**
 * Finds an access. Returns undefined if it expired, was ended, or all access of the person was ended. Every token of
 * the grant carries `generation`, so that a grant that ends at this moment gives no token that is accepted.
 */
export async function findAccess(
  { stores }: AccessStore,
  grantId: string,
): Promise<Access | undefined> {
  const access = asAccess(await stores.artefacts.get('Access', grantId));
  if (access === undefined) return undefined;
  const generation = await stores.revocations.generation('person', access.accountId);
  return access.generation < generation ? undefined : access;
}

/**
 * Finds an access of a known person, with both requests to the store at once. Returns undefined for the grant of
 * another person.
 */
export async function findAccessOfPerson(
  { stores }: AccessStore,
  { grantId, accountId }: Pick<Access, 'grantId' | 'accountId'>,
): Promise<Access | undefined> {
  const [payload, generation] = await Promise.all([
    stores.artefacts.get('Access', grantId),
    stores.revocations.generation('person', accountId),
  ]);
  const access = asAccess(payload);
  if (access?.accountId !== accountId || access.generation < generation) return undefined;
  return access;
}

/** Finds a client's grant from a person at a place; `latest` is the last grant of the browser. */
export async function findAccessOf(
  store: AccessStore,
  { accountId, clientId, place }: Pick<Access, 'accountId' | 'clientId'> & { place: GrantPlace },
  latest: string,
): Promise<Access | undefined> {
  const last = await findAccess(store, latest);
  if (last?.accountId === accountId && isAt(last, place)) return last;
  for await (const access of walk(store, 'Access', accountId)) {
    const found = asAccess(access);
    if (found?.clientId === clientId && isAt(found, place)) return findAccess(store, found.grantId);
  }
  return undefined;
}

/** True if a grant belongs to that browser and redirect host. */
export const isAt = ({ place }: Pick<Access, 'place'>, other: GrantPlace): boolean =>
  place?.browser === other.browser && place.redirectOrigin === other.redirectOrigin;

/** Stores for `seconds`, the life of a grant, that a token of the grant was issued now. */
export async function noteIssue(
  { stores, clock }: AccessStore,
  grantId: string,
  seconds: number,
): Promise<void> {
  const payload = { grantId, at: clock.now() };
  await stores.artefacts.put({ kind: 'LastIssue', id: grantId, payload, seconds });
}

/** Lists the valid grants of a person, all or a slice; a slice is sorted with the latest first. */
export async function listAccess(
  store: AccessStore,
  accountId: string,
  slice?: Slice,
): Promise<readonly ListedAccess[]> {
  const { stores } = store;
  const generation = await stores.revocations.generation('person', accountId);
  const found = await stores.artefacts.listByAccount('Access', accountId, slice);
  const live = found
    .flatMap((payload) => asAccess(payload) ?? [])
    .filter((access) => access.generation >= generation)
    .toSorted((a, b) => b.since - a.since);
  return Promise.all(live.map((access) => withUse(store, access)));
}

/** A page of the grants of a client. */
interface GrantPage {
  readonly grants: readonly ListedAccess[];
  readonly next?: ArtefactPlace;
}

/** Lists the valid grants of a client, by any person, among those on one page of all stored grants. */
export async function pageOfGrants(
  store: AccessStore,
  clientId: string,
  range: ArtefactRange,
): Promise<GrantPage> {
  const { artefacts, revocations } = store.stores;
  const clientGeneration = await revocations.generation('client', clientId);
  const { found, ...next } = await artefacts.pageByClient('Access', clientId, range);
  const grants = await Promise.all(
    found.map(async (payload) => {
      const access = asAccess(payload);
      if (access === undefined || !isOfClient(access, clientGeneration)) return [];
      const generation = await revocations.generation('person', access.accountId);
      return access.generation < generation ? [] : [await withUse(store, access)];
    }),
  );
  return { grants: grants.flat(), ...next };
}

/** Returns the page that has one grant of a client; empty if the client has no such grant. */
export async function grantOfClient(
  store: AccessStore,
  clientId: string,
  grantId: string,
): Promise<GrantPage> {
  const access = await findAccess(store, grantId);
  if (access?.clientId !== clientId) return { grants: [] };
  const generation = await store.stores.revocations.generation('client', clientId);
  return { grants: isOfClient(access, generation) ? [await withUse(store, access)] : [] };
}

async function withUse({ stores }: AccessStore, access: Access): Promise<ListedAccess> {
  const [grant, issue] = await Promise.all([
    stores.artefacts.get('Grant', access.grantId),
    stores.artefacts.get('LastIssue', access.grantId),
  ]);
  const lastIssue = issue?.['at'];
  return {
    ...access,
    scopes: grantedScopes(grant),
    ...(typeof lastIssue === 'number' && { lastIssue }),
  };
}

/**
 * Ends a grant with everything issued from it. It writes the revocation first: from then on every access token of the
 * grant is refused, so that a crash before the remaining steps is harmless. `events` are recorded with it.
 */
export async function endGrant(
  store: AccessStore,
  grantId: string,
  ...events: readonly AuditEvent[]
): Promise<void> {
  const until = rememberUntil(store.clock.now(), store.longestLife);
  await changing(store, 'revocations', ...events).revoke('grant', grantId, until);
  await store.stores.artefacts.removeByGrant(grantId);
  await store.stores.artefacts.remove('Grant', grantId);
}

/**
 * Ends a grant in whose place the same application has another one from the same sign-in. The application is not told:
 * a logout token would end the session that the other grant begins.
 */
export async function discardGrant(
  store: AccessStore,
  grantId: string,
  ...events: readonly AuditEvent[]
): Promise<void> {
  await store.stores.artefacts.remove('Access', grantId);
  await endGrant(store, grantId, ...events);
}

type Payload = Record<string, unknown>;

/** Only `recordAccess` writes these records, so their members need no second check. */
function asAccess(payload: Payload | undefined): Access | undefined {
  return payload as Access | undefined;
}

/**
 * Returns the scopes of an engine's Grant, by resource; the scopes of OpenID Connect have the key ''. The engine
 * stores scopes as strings, and the refused scopes separately.
 */
export function grantedScopes(grant: Payload | undefined): Record<string, string[]> {
  const { openid, resources, rejected } = (grant ?? {}) as GrantPayload;
  const entries = [['', openid?.scope ?? ''], ...Object.entries(resources ?? {})] as const;
  const granted = entries.map(([resource = '', scope = '']) => {
    const refused = resource === '' ? rejected?.openid?.scope : rejected?.resources?.[resource];
    const gone = new Set(refused?.split(' '));
    return [resource, scope.split(' ').filter((one) => one !== '' && !gone.has(one))] as const;
  });
  return Object.fromEntries(granted.filter(([, scopes]) => scopes.length > 0));
}

interface GrantPayload {
  readonly openid?: { readonly scope?: string };
  readonly resources?: Readonly<Record<string, string>>;
  readonly rejected?: Omit<GrantPayload, 'rejected'>;
}
