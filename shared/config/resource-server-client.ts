import { createHash } from 'node:crypto';
import { derivedKey } from '#shared/base/derived-key.ts';
import type { Clock } from '#shared/base/clock.ts';
import { VERIFY_SCOPE } from './token-spaces.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';

/**
 * The id of the client with which the resource server asks the token issuer of the same configuration to verify tokens.
 */
export const RESOURCE_SERVER = 'resource-server';

/**
 * Both servers derive this secret from the master secret, so the operator need not copy it from one server to the
 * other.
 */
export function secret(master: Buffer): string {
  return derivedKey(master, 'countersign private-token resource-server').toString('base64url');
}

/**
 * Returns the registration of this client at the authorization server. `resource`: URL of the verification endpoint.
 */
export function registration(resource: string, master: Buffer, clock: Clock): ClientRecord {
  return {
    client_id: RESOURCE_SERVER,
    client_name: 'Resource server',
    grant_types: ['client_credentials'],
    token_endpoint_auth_method: 'client_secret_basic',
    secret_hash: createHash('sha256').update(secret(master)).digest('base64url'),
    scope: VERIFY_SCOPE,
    resources: [resource],
    created_at: clock.now(),
  };
}
