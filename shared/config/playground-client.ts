import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { derivedKey } from '#shared/base/derived-key.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import {
  hasPlayground,
  PLAYGROUND_REALM,
  PLAYGROUND_SCOPE,
  playgroundSpacePath,
} from './playground.ts';
import type { Config } from './schema.ts';
import type { TokenSpace } from './token-spaces.ts';

/**
 * The client as which the playground asks the authorization server. No operator can register one of this id, and it is in
 * no store: both servers know it by the configuration and the master secret, as long as there is a playground.
 */
export const PLAYGROUND_CLIENT = '(playground)';

/** The exchanges of the playground that ask the authorization server, each with a space of its own. */
const FLOWS = ['client-credentials'];

/** The spaces for which this client gets tokens, and nobody else. Empty: there is no playground. */
export const playgroundTokenSpaces = (config: Config): readonly TokenSpace[] =>
  hasPlayground(config)
    ? FLOWS.map((name) => ({
        url: config.resource + playgroundSpacePath(name),
        realm: PLAYGROUND_REALM,
        scopes: { safe: [PLAYGROUND_SCOPE], unsafe: [PLAYGROUND_SCOPE] },
        alg: 'ES256',
      }))
    : [];

/** The octets of PKCS #8 before the 32 of a private key of Ed25519 (RFC 8410 section 7). */
const BEFORE_SEED = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Derived by both servers, so that nobody has to carry it from one to the other. It is on no page. */
export function playgroundSigningKey(master: Buffer): KeyObject {
  const seed = derivedKey(master, 'countersign playground client');
  return createPrivateKey({
    key: Buffer.concat([BEFORE_SEED, seed]),
    format: 'der',
    type: 'pkcs8',
  });
}

/** The client as the authorization server knows it. Undefined: there is no playground. */
export function playgroundClient(config: Config, master: Buffer): ClientRecord | undefined {
  if (!hasPlayground(config)) return undefined;
  const jwk = createPublicKey(playgroundSigningKey(master)).export({ format: 'jwk' });
  return {
    client_id: PLAYGROUND_CLIENT,
    client_name: 'Playground',
    grant_types: ['client_credentials'],
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [{ ...jwk, alg: 'Ed25519', use: 'sig' }] },
    scope: PLAYGROUND_SCOPE,
    resources: playgroundTokenSpaces(config).map(({ url }) => url),
    created_at: 0,
  };
}
