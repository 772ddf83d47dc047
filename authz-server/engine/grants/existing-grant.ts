import type { Grant, KoaContextWithOIDC } from 'oidc-provider';
import { satisfying } from '#shared/jose/acr.ts';
import { endGrant, findAccess, findAccessOf, isOfClient } from '#shared/people/access/grants.ts';
import { askedScopes } from '../../consent/asked.ts';
import { redirectOrigin } from '../../consent/consented.ts';
import { mayUseNow } from '../../base/may-use.ts';
import { orTemporarilyUnavailable } from '../../base/errors.ts';
import { isAsDescribed } from '../../consent/described-since.ts';
import { grantUnasked } from './grant-unasked.ts';
import type { Access } from '#shared/people/access/grants.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import type { AuthzServer } from '../../base/server.ts';

interface Found {
  readonly grant: Grant;
  /** Whether the sign-in is weaker than the weakest that the grant was used with. */
  readonly isForWeaker: boolean;
}

/**
 * Returns the person's grant to the client: the grant of this session, or a new grant if the person allowed the client
 * in another browser. Returns undefined if the grant has ended, so that the person is asked; the engine would issue no
 * token for an ended grant.
 */
export function existingGrant(server: AuthzServer) {
  /** Returns this session's grant for the host that gets the code, if the grant has not ended. */
  async function ofSession({ oidc }: KoaContextWithOIDC): Promise<Found | undefined> {
    const { result, session, client, account, provider, params } = oidc;
    const { accountId } = account ?? {};
    const clientId = client?.clientId ?? '';
    const decided = result?.consent?.grantId;
    const last = decided ?? session?.grantIdFor(clientId);
    if (!last || accountId === undefined) return undefined;
    const place = {
      browser: session?.uid ?? '',
      redirectOrigin: redirectOrigin(params?.['redirect_uri']),
    };
    const access = await orTemporarilyUnavailable(
      decided
        ? findAccess(server, decided)
        : findAccessOf(server, { accountId, clientId, place }, last),
    );
    if (access?.accountId !== accountId) return undefined;
    const { revocations } = server.stores;
    const generation = await orTemporarilyUnavailable(revocations.generation('client', clientId));
    if (!isOfClient(access, generation)) return undefined;
    if (access.byOperator && !(await orTemporarilyUnavailable(isFirstParty(clientId)))) {
      await orTemporarilyUnavailable(endGrant(server, access.grantId));
      return undefined;
    }
    const record = await orTemporarilyUnavailable(server.stores.clients.get(clientId));
    if (!decided && record?.document && isAskedAnew(record, access)) return undefined;
    const grant = await provider.Grant.find(access.grantId);
    return grant && { grant, isForWeaker: !isAsStrong(session?.acr, access) };
  }

  const isPermitted = async ({ oidc: { client, account, session } }: KoaContextWithOIDC) =>
    account === undefined ||
    mayUseNow(
      server,
      await server.stores.clients.get(client?.clientId ?? ''),
      account.accountId,
      session?.acr,
    );

  const isFirstParty = async (clientId: string) =>
    (await server.stores.clients.get(clientId))?.first_party === true;

  return async (ctx: KoaContextWithOIDC): Promise<Grant | undefined> => {
    const { provider, client, params, result } = ctx.oidc;
    // The login policy, which runs next, refuses the person.
    if (!(await orTemporarilyUnavailable(isPermitted(ctx)))) return undefined;
    const { grant, isForWeaker } = (await ofSession(ctx)) ?? {};
    const scope = String(client?.['allowed_scope']);
    const asked = askedScopes(
      server.config,
      { client_id: client?.clientId ?? '', scope },
      params ?? {},
    );
    // If the person was asked in this interaction, every item is decided.
    const isWhole = (one: Grant) =>
      result?.consent !== undefined || asked.every((item) => isDecided(one, item));
    if (grant && !isForWeaker && isWhole(grant)) return grant;
    const id = await orTemporarilyUnavailable(grantUnasked(server, ctx, grant?.jti));
    return id ? provider.Grant.find(id) : grant;
  };
}

/**
 * Whether the person is asked again about a client that describes itself: any program could have begun this request, or
 * the client's document has changed (Client ID Metadata Document sections 6.1 and 6.3).
 */
const isAskedAnew = (client: ClientRecord, access: Access): boolean =>
  client.application_type === 'native' || !isAsDescribed(access, client);

/** Whether a sign-in is as strong as the weakest that the grant was used with. */
const isAsStrong = (acr: string | undefined, access: Access): boolean =>
  access.acr === undefined || satisfying(access.acr).some((one) => one === acr);

/** Whether the person has allowed or refused this scope or resource in that grant. */
function isDecided(
  grant: Grant,
  { scope, resource }: { readonly scope: string; readonly resource?: string },
): boolean {
  const decided =
    resource === undefined
      ? grant.getOIDCScopeEncountered()
      : grant.getResourceScopeEncountered(resource);
  return decided.split(' ').includes(scope);
}
