import type { Provider } from 'oidc-provider';
import { PLAYGROUND_SCOPE } from '#shared/config/playground.ts';
import { PLAYGROUND_CLIENT, PLAYGROUND_PERSON } from '#shared/config/playground-client.ts';

/**
 * Gives the playground's client what its person allows; resolves to the identifier of the grant. It is the engine's record
 * alone, without `Access` beside it: no page lists it, and it ends within a minute (provider.ts). A token that comes of it
 * has its identifier, so that the end of the grant ends the token.
 */
export function giveOwnGrant(provider: Provider, resource: string): Promise<string> {
  const grant = new provider.Grant({ accountId: PLAYGROUND_PERSON, clientId: PLAYGROUND_CLIENT });
  grant.addResourceScope(resource, PLAYGROUND_SCOPE);
  return grant.save();
}
