import { createHmac } from 'node:crypto';
import { sameText } from '#shared/base/constant-time.ts';
import { epochSeconds } from '#shared/base/clock.ts';
import { derivedKey } from '#shared/base/derived-key.ts';
import type { RevocableClaims } from '#shared/jose/access-token-claims.ts';
import type { GnapServer } from './server.ts';
import type { TokenOrder } from './token-order.ts';

/** Seconds after the end of an access token during which it can still be rotated. */
const AFTERLIFE = 3600;

/** The access token of a management token, with the data to issue it again. */
export interface Managed extends Omit<TokenOrder, 'space'> {
  readonly space: string;
  /** The claims of the access token by which it can be revoked. */
  readonly claims: RevocableClaims;
  /** NumericDate. */
  readonly exp: number;
}

type Parts = Pick<GnapServer, 'config' | 'master' | 'clock'>;

const keys = new WeakMap<Buffer, ReturnType<typeof derivedKey>>();

/** The derivation of the key costs more than its use. */
function keyOf(master: Buffer) {
  const key = keys.get(master) ?? derivedKey(master, 'countersign authz gnap management');
  keys.set(master, key);
  return key;
}

const macOf = ({ master }: Parts, payload: string): string =>
  createHmac('sha256', keyOf(master)).update(payload).digest('base64url');

/**
 * Returns the member `manage` of an access token (RFC 9635 section 3.2.1). The management token contains all data about
 * its access token, so the server stores nothing for it. It has no `alg` and no issuer, so that no server accepts it as
 * an access token.
 */
export function managementOf(server: Parts, order: TokenOrder, claims: RevocableClaims) {
  const { config, clock } = server;
  const exp = epochSeconds(clock) + config.tokens.lifetime + AFTERLIFE;
  const managed: Managed = { ...order, space: order.space.url, claims, exp };
  const payload = Buffer.from(JSON.stringify(managed)).toString('base64url');
  return {
    uri: `${config.issuer}/gnap/token/${claims.jti}`,
    access_token: { value: `${payload}.${macOf(server, payload)}` },
  };
}

/**
 * Returns the access token that a management token manages. Returns undefined if the management token is not ours or is
 * too old.
 */
export function readManagement(server: Parts, token: string): Managed | undefined {
  const [payload = '', mac = '', ...more] = token.split('.');
  if (more.length > 0 || !sameText(mac, macOf(server, payload))) return undefined;
  // Only this server can have made the MAC, so the members are not checked again.
  const managed = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Managed;
  return managed.exp > epochSeconds(server.clock) ? managed : undefined;
}
