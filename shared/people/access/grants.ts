import { rememberUntil } from '#shared/stores/revocation/lifetime.ts';
import type { Slice } from '#shared/stores/oauth/artefacts.ts';
import type { AccessStore } from './access-store.ts';
import { surplus, walk } from './walk.ts';

/** As many grants as a person has at a time. */
export const MOST_GRANTS = 100;

/** What a person has allowed a client, kept beside the engine's Grant and ended with it. */
export interface Access {
  readonly grantId: string;
  readonly accountId: string;
  readonly clientId: string;
  /** The person's generation when they signed in: it goes into every token of the grant. */
  readonly generation: number;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** `uid` of the sign-in that it ends with; absent: it outlives the browser's session. */
  readonly signIn?: string;
  /** Where it was allowed, and where its codes go; absent: of a device, or of before this was kept. */
  readonly place?: GrantPlace;
  /** Nobody was asked, since the client was the operator's own. */
  readonly byOperator?: boolean;
  /** They were told that `profile` is more than the name to sign in with; before, it was no more. */
  readonly wholeProfile?: boolean;
  /** Of a device that got it by the device flow: where it asked from. */
  readonly device?: { readonly address?: string; readonly agent?: string };
  /** Of any other: where the person signed in. */
  readonly browser?: { readonly address?: string; readonly agent?: string };
}

/** A browser, and where codes go from it: what is allowed for one redirect host is not for another. */
export interface GrantPlace {
  /** `uid` of the sign-in. */
  readonly browser: string;
  readonly redirectOrigin: string;
}

/** Access with what the engine's Grant and the last issue say. */
export interface ListedAccess extends Access {
  /** Scopes granted, by resource; those of OpenID Connect under ''. */
  readonly scopes: Readonly<Record<string, readonly string[]>>;
  /** Milliseconds since the epoch: when a token was last issued or refreshed. */
  readonly lastIssue?: number;
}

/**
 * Keeps it for `seconds`, the rest of the life of the Grant. A person who has `MOST_GRANTS` loses the
 * oldest of those that would end soonest.
 */
export async function recordAccess(
  store: AccessStore,
  access: Access,
  seconds: number,
): Promise<void> {
  const { grantId, accountId } = access;
  const payload = { ...access };
  await store.stores.artefacts.put({ kind: 'Access', id: grantId, payload, seconds });
  for (const old of await surplus(store, 'Access', accountId, MOST_GRANTS)) {
    await endGrant(store, String(old['grantId']));
  }
}

/**
 * Writes it in the place of `was`, as `findAccess` gave it. False when that has ended meanwhile, so that
 * who extends a grant never revives it.
 */
export async function extendAccess(
  { stores }: AccessStore,
  access: Access,
  was: Access,
  seconds: number,
): Promise<boolean> {
  const artefact = { kind: 'Access', id: access.grantId, payload: { ...access }, seconds };
  return stores.artefacts.replace(artefact, { ...was });
}

/**
 * Undefined when it has ended: by itself, by its end, or because everything of the person was ended.
 * Whoever issues a token of the grant puts `generation` in it, so a grant that was ended at this very
 * moment gives no token that is accepted.
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

/** The grant of that place which a client has of a person; `latest`: the one that the browser had last. */
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

/** Whether a grant is of that browser and redirect host. */
export const isAt = ({ place }: Pick<Access, 'place'>, other: GrantPlace): boolean =>
  place?.browser === other.browser && place.redirectOrigin === other.redirectOrigin;

/** Remembers for `seconds`, the life of a grant, that a token of it was issued now. */
export async function noteIssue(
  { stores, clock }: AccessStore,
  grantId: string,
  seconds: number,
): Promise<void> {
  const payload = { grantId, at: clock.now() };
  await stores.artefacts.put({ kind: 'LastIssue', id: grantId, payload, seconds });
}

/** What the person has allowed and has not ended, all or a slice of it; in that the latest first. */
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
 * Ends a grant with all that came of it. The revocation is written first: once it is, every access
 * token of the grant is refused, and a crash before the rest is harmless.
 */
export async function endGrant(store: AccessStore, grantId: string): Promise<void> {
  const until = rememberUntil(store.clock.now(), store.longestLife);
  await store.stores.revocations.revoke('grant', grantId, until);
  await store.stores.artefacts.removeByGrant(grantId);
  await store.stores.artefacts.remove('Grant', grantId);
}

type Payload = Record<string, unknown>;

/** Written by `recordAccess` alone, so its members need no second check. */
function asAccess(payload: Payload | undefined): Access | undefined {
  return payload as Access | undefined;
}

/**
 * The scopes of an engine's Grant, by resource; those of OpenID Connect under ''. The engine keeps them
 * as strings, and the refused ones apart.
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
