import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { derivedKey } from '#shared/base/derived-key.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import {
  hasPlayground,
  PLAYGROUND_BELOW,
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

/**
 * The person who allows what this client asks for, and nothing else. No record has this id, not even one of imported people:
 * nobody signs in as this person, and only the key of the client makes the authorization server take the person's place.
 */
export const PLAYGROUND_PERSON = '(playground-person)';

/** The exchanges of the playground that ask the authorization server, each with a space of its own. */
const FLOWS = ['client-credentials', 'authorization-code', 'device-code'] as const;

export type PlaygroundFlow = (typeof FLOWS)[number];

/** The URL of the space of such an exchange: the resource of its tokens (RFC 8707). */
export const playgroundResource = (
  { resource }: Pick<Config, 'resource'>,
  flow: PlaygroundFlow,
): string => resource + playgroundSpacePath(flow);

/** Where the authorization server sends the browser with a code: a page of the playground, which reads none. */
export const playgroundRedirectUri = ({ resource }: Pick<Config, 'resource'>): string =>
  `${resource}${PLAYGROUND_BELOW}authorization-code`;

/** The path at the authorization server at which the person decides about a device code, by the key of the client. */
export const PLAYGROUND_DECISION = '/playground/device';

/** The spaces for which this client gets tokens, and nobody else. Empty: there is no playground. */
export const playgroundTokenSpaces = (config: Config): readonly TokenSpace[] =>
  hasPlayground(config)
    ? FLOWS.map((flow) => ({
        url: playgroundResource(config, flow),
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

/** RFC 8628 section 3.4. */
export const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';

/** The client as the authorization server knows it. Undefined: there is no playground. */
export function playgroundClient(config: Config, master: Buffer): ClientRecord | undefined {
  if (!hasPlayground(config)) return undefined;
  const jwk = createPublicKey(playgroundSigningKey(master)).export({ format: 'jwk' });
  return {
    client_id: PLAYGROUND_CLIENT,
    client_name: 'Playground',
    grant_types: ['client_credentials', 'authorization_code', DEVICE_CODE],
    redirect_uris: [playgroundRedirectUri(config)],
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [{ ...jwk, alg: 'Ed25519', use: 'sig' }] },
    scope: PLAYGROUND_SCOPE,
    resources: playgroundTokenSpaces(config).map(({ url }) => url),
    created_at: 0,
  };
}
