import type Provider from 'oidc-provider';
import {
  discardGrant,
  endGrant,
  extendAccess,
  findAccess,
  isAt,
  recordAccess,
} from '#shared/people/access/grants.ts';
import type { Access } from '#shared/people/access/grants.ts';
import type { ScopeItem } from '#shared/people/access/consents.ts';
import { isOfClient } from '#shared/people/access/grants.ts';
import { redirectOrigin } from './consented.ts';
import { satisfying } from '#shared/jose/acr.ts';
import { isOfDescription } from './described-since.ts';
import { epochSeconds } from '#shared/base/clock.ts';
import { findSignIn } from '#shared/people/access/sign-ins.ts';
import type { SignIn } from '#shared/people/access/sign-ins.ts';
import { asPerson } from '../base/acting.ts';
import { mayUseNow } from '../base/may-use.ts';
import type { PagesServer } from '../base/server.ts';

/** The decision of a person about a client's request. */
export interface GrantDecision {
  readonly clientId: string;
  /** The sign-in of the browser in which the person decided. */
  readonly signIn: SignIn;
  readonly allowed: readonly ScopeItem[];
  /** The items that the person refused; they are not asked for again under this grant. */
  readonly refused?: readonly ScopeItem[];
  /** The redirect URI that the code goes to; absent for a device. */
  readonly redirectUri?: unknown;
  /** A grant of the same person and client, to be extended if it is of this browser and redirect host. */
  readonly extend?: string | undefined;
  /**
   * The time since when the client has the description that the person saw, in milliseconds since the epoch. An
   * `extend` of another description ends.
   */
  readonly describedSince?: number;
  /** Whether the person was asked, and so allowed the client something now. */
  readonly asked?: boolean;
  /** Whether no person was asked because the client is the operator's own. */
  readonly byOperator?: boolean;
  /** The IP address and user agent of a device; its grant outlives the browser's session. */
  readonly device?: Access['device'];
}

type Grant = InstanceType<Provider['Grant']>;

/**
 * Writes a grant. Resolves to its id, or to undefined if the sign-in ended meanwhile, or if the client's rules forbid it
 * to the person.
 */
export type GiveGrant = (decision: GrantDecision) => Promise<string | undefined>;

/**
 * Writes the engine's Grant and the Access beside it. A grant with `offline_access` (OpenID Connect Core 1.0 section
 * 11), or of a device, outlives the sign-in; any other grant ends with the sign-in.
 */
export function createGiveGrant(server: PagesServer, provider: Provider): GiveGrant {
  const { config, clock } = server;

  /**
   * Returns the grant to extend and its Access, or the id of a grant to replace, since it was given for another
   * description of the client.
   */
  async function existing(
    { extend, describedSince, signIn, clientId }: GrantDecision,
    place: Access['place'],
    clientGeneration: number,
  ): Promise<{ known?: { grant: Grant; access: Access }; replaced?: string }> {
    const [grant, access] = await Promise.all([
      extend === undefined ? undefined : provider.Grant.find<Grant>(extend),
      extend === undefined ? undefined : findAccess(server, extend),
    ]);
    const theirs = grant?.accountId === signIn.accountId && grant.clientId === clientId;
    if (!theirs || !access || !isOfClient(access, clientGeneration)) return {};
    if (describedSince !== undefined && !isOfDescription(access, describedSince)) {
      return { replaced: access.grantId };
    }
    return place && isAt(access, place) ? { known: { grant, access } } : {};
  }

  return async (decision) => {
    const { clientId, signIn, allowed, refused = [], device } = decision;
    const { accountId, generation, address, agent } = signIn;
    const browser = {
      ...(address !== undefined && { address }),
      ...(agent !== undefined && { agent }),
    };
    const place = device
      ? undefined
      : { browser: signIn.uid, redirectOrigin: redirectOrigin(decision.redirectUri) };
    const [clientGeneration, client] = await Promise.all([
      server.stores.revocations.generation('client', clientId),
      server.stores.clients.get(clientId),
    ]);
    const { known, replaced } = await existing(decision, place, clientGeneration);
    const grant = known?.grant ?? new provider.Grant({ accountId, clientId });
    for (const item of allowed) allow(grant, item);
    for (const item of refused) refuse(grant, item);
    const grantId = await grant.save();

    const outlives =
      device !== undefined || grant.getOIDCScope().split(' ').includes('offline_access');
    const passkey = signIn.passkey ?? known?.access.passkey;
    const identity = signIn.identity ?? known?.access.identity;
    const { acr } = signIn.assurance;
    // An earlier code or token of the grant may come from a weaker sign-in.
    const isWeakest =
      known === undefined || satisfying(acr).some((one) => one === known.access.acr);
    const weakest = isWeakest ? acr : known.access.acr;
    const access: Access = {
      grantId,
      accountId,
      clientId,
      generation,
      clientGeneration,
      since: known?.access.since ?? clock.now(),
      ...(decision.describedSince !== undefined && { describedSince: decision.describedSince }),
      ...(weakest !== undefined && { acr: weakest }),
      ...(!outlives && { signIn: signIn.uid }),
      ...(passkey !== undefined && { passkey }),
      ...(identity !== undefined && { identity }),
      ...(place && { place }),
      ...(place && client?.backchannel_logout_uri && { uid: place.browser }),
      ...(decision.byOperator && { byOperator: true }),
      ...(device ? { device } : { browser }),
    };
    const rest = signIn.since / 1000 + config.people.session - epochSeconds(clock);
    const seconds = outlives ? grant.remainingTTL : Math.min(grant.remainingTTL, Math.max(1, rest));
    const acting = asPerson(server, accountId);
    const given = { kind: 'consent.given', person: accountId, client: clientId } as const;
    const events = decision.asked ? [given] : [];
    const kept =
      known === undefined
        ? await recordAccess(acting, access, seconds, ...events).then(() => true)
        : await extendAccess(acting, access, known.access, seconds, ...events);
    if (replaced !== undefined) {
      const about = { person: accountId, grant: replaced, client: clientId };
      await discardGrant(server, replaced, { kind: 'grant.ended', ...about });
    }
    // The code that ends a sign-in, or takes a group from a person, does so first and then looks for grants. So either
    // that search or this check notices.
    const [there, rules] = await Promise.all([
      findSignIn(server, signIn.uid),
      server.stores.clients.get(clientId),
    ]);
    const isAllowed = await mayUseNow(server, rules, accountId, acr);
    if (kept && there !== undefined && isAllowed) return grantId;
    await endGrant(server, grantId);
    return undefined;
  };
}

function allow(grant: Grant, { scope, resource }: ScopeItem): void {
  if (resource === undefined) grant.addOIDCScope(scope);
  else grant.addResourceScope(resource, scope);
  // Otherwise the engine would still omit items that the person refused once and allows now.
  const { openid, resources } = grant.rejected ?? {};
  if (resource === undefined) {
    if (openid?.scope !== undefined) openid.scope = without(openid.scope, scope);
  } else if (resources?.[resource] !== undefined) {
    resources[resource] = without(resources[resource], scope);
  }
}

function refuse(grant: Grant, { scope, resource }: ScopeItem): void {
  if (resource === undefined) grant.rejectOIDCScope(scope);
  else grant.rejectResourceScope(resource, scope);
}

const without = (scopes: string, gone: string) =>
  scopes
    .split(' ')
    .filter((scope) => scope !== gone)
    .join(' ');
