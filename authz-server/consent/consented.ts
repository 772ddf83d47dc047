import { isLoopback } from '#shared/http/loopback.js';
import { isSignInClient } from '#shared/config/sign-in-clients.ts';
import { decided, findConsent } from '#shared/people/access/consents.ts';
import type { ConsentKey, ScopeItem } from '#shared/people/access/consents.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { describedSince, isAsDescribed } from './described-since.ts';
import type { AuthzServer } from '../base/server.ts';

/**
 * Returns the host of a redirect URI at which only the client can receive the code. Returns undefined for loopback
 * and private-use redirect URIs, since any program on the machine may take them (RFC 8252 section 8.6).
 */
export function provenHost(redirectUri: unknown): string | undefined {
  const url = typeof redirectUri === 'string' ? URL.parse(redirectUri) : null;
  return url?.protocol === 'https:' && !isLoopback(url.hostname) ? url.host : undefined;
}

/**
 * Returns a redirect URI's scheme and authority, which tell grants apart. Native clients may use any port
 * (RFC 8252 section 7.3).
 */
export function redirectOrigin(redirectUri: unknown): string {
  const url = typeof redirectUri === 'string' ? URL.parse(redirectUri) : null;
  if (url === null) return '';
  return `${url.protocol}//${isLoopback(url.hostname) ? url.hostname : url.host}`;
}

/** Returns the key of the consent that covers a request, or undefined if the person is asked in each browser. */
export function consentKey(
  client: ClientRecord,
  accountId: string,
  redirectUri: unknown,
): ConsentKey | undefined {
  const redirectHost = provenHost(redirectUri);
  if (redirectHost === undefined || client.application_type === 'native') return undefined;
  return { accountId, clientId: client.client_id, redirectHost };
}

/** The access that a client gets without a new question to the person. */
export interface Unasked {
  readonly allowed: readonly ScopeItem[];
  readonly refused?: readonly ScopeItem[];
  /** Has the meaning of this member of `Access`. */
  readonly describedSince?: number;
  /** Whether no person was asked because the client is the operator's own. */
  readonly byOperator?: boolean;
}

/**
 * Returns the earlier decision about these items, or undefined if the person has to be asked. Clients for sign-in
 * before applications, and the operator's own (`first_party`), get what they ask for.
 */
export async function consented(
  server: Pick<AuthzServer, 'stores' | 'clock' | 'longestLife'>,
  client: ClientRecord,
  accountId: string,
  { asked, redirectUri }: { readonly asked: readonly ScopeItem[]; readonly redirectUri: unknown },
): Promise<Unasked | undefined> {
  if (isSignInClient(client.client_id)) return { allowed: asked };
  // Another program on the machine could impersonate a client without a secret.
  const proven = client.token_endpoint_auth_method !== 'none' || provenHost(redirectUri);
  if (client.first_party && proven) return { allowed: asked, byOperator: true };
  const key = consentKey(client, accountId, redirectUri);
  const found = key && (await findConsent(server, key, client));
  // A GNAP client that was removed and then registered again has the same identifier.
  const consent = found && isAsDescribed(found, client) ? found : undefined;
  const decision = consent && decided(consent, asked);
  return (
    decision && {
      ...decision,
      ...(client.document && { describedSince: describedSince(client) }),
    }
  );
}
