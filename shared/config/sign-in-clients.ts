import { createHash } from 'node:crypto';
import { derivedKey } from '#shared/base/derived-key.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { everySpace } from './second-origin.ts';
import type { Config } from './schema.ts';

/** The first segment of our own paths at every origin where people sign in to an application. */
export const SIGN_IN_PREFIX = '.countersign';
export const CALLBACK_PATH = `/${SIGN_IN_PREFIX}/callback`;
export const SIGN_OUT_PATH = `/${SIGN_IN_PREFIX}/sign-out`;

/** The lifetime of a session without a request, in seconds, where the space has no `idle`. */
const IDLE = 86_400;

/** A space at which people sign in. */
export interface SignInSpace {
  readonly url: string;
  readonly origin: string;
  readonly realm: string;
  readonly idle: number;
}

/** Returns all spaces at which people sign in, also at the TLS origin of the resource server. */
export function signInSpaces(
  config: Pick<Config, 'spaces' | 'resource' | 'tls'>,
): readonly SignInSpace[] {
  return everySpace(config).flatMap(({ url, realm, signIn }) => {
    if (signIn === undefined) return [];
    const { idle = IDLE } = signIn === true ? {} : signIn;
    return [{ url, origin: new URL(url).origin, realm, idle }];
  });
}

const PREFIX = 'sign-in-';

/** Whether a client is a built-in client for signing in to a space. People are not asked to allow such a client. */
export const isSignInClient = (id: string): boolean => id.startsWith(PREFIX);

/** Returns the id of the built-in client with which people sign in to a space. */
export const signInClientId = ({ url }: Pick<SignInSpace, 'url'>): string =>
  PREFIX + createHash('sha256').update(url).digest('base64url').slice(0, 16);

/**
 * Both servers derive this secret from the master secret, so the operator need not copy it from one server to the
 * other.
 */
export function signInSecret(master: Buffer, { url }: Pick<SignInSpace, 'url'>): string {
  return derivedKey(master, `countersign sign-in client ${url}`).toString('base64url');
}

export const callbackOf = ({ origin }: Pick<SignInSpace, 'origin'>): string =>
  origin + CALLBACK_PATH;

/** Returns the registrations of these clients at the authorization server. */
export function signInRegistrations(
  config: Pick<Config, 'spaces' | 'resource' | 'tls'>,
  master: Buffer,
  clock: Clock,
): readonly ClientRecord[] {
  return signInSpaces(config).map((space) => ({
    client_id: signInClientId(space),
    client_name: space.realm,
    grant_types: ['authorization_code'],
    token_endpoint_auth_method: 'client_secret_basic',
    secret_hash: createHash('sha256').update(signInSecret(master, space)).digest('base64url'),
    scope: 'openid',
    resources: [space.url],
    redirect_uris: [callbackOf(space)],
    id_token_signed_response_alg: 'ES256',
    created_at: clock.now(),
  }));
}
