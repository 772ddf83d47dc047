import { createHash } from 'node:crypto';
import { derivedKey } from '#shared/base/derived-key.ts';
import type { Clock } from '#shared/base/clock.ts';
import { VERIFY_SCOPE } from './token-spaces.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';

/** The client as which the resource server has tokens verified by the issuer of its own pair. */
export const RESOURCE_SERVER = 'resource-server';

/** Derived by both servers, so that nobody has to carry it from one to the other. */
export function secret(master: Buffer): string {
  return derivedKey(master, 'countersign private-token resource-server').toString('base64url');
}

/** Returns its registration at the authorization server. `resource`: URL of the verification endpoint. */
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
