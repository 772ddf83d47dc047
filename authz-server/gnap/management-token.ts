import { createHmac } from 'node:crypto';
import { sameText } from '#shared/base/constant-time.ts';
import { epochSeconds } from '#shared/base/clock.ts';
import { derivedKey } from '#shared/base/derived-key.ts';
import type { RevocableClaims } from '#shared/jose/access-token-claims.ts';
import type { GnapServer } from './server.ts';
import type { TokenOrder } from './token-order.ts';

/** Seconds after the end of an access token for which it can still be rotated. */
const AFTERLIFE = 3600;

/** The access token that a management token is for, as it can be issued anew. */
export interface Managed extends Omit<TokenOrder, 'space'> {
  readonly space: string;
  /** The claims of the access token by which it can be revoked. */
  readonly claims: RevocableClaims;
  /** NumericDate. */
  readonly exp: number;
}

type Parts = Pick<GnapServer, 'config' | 'master' | 'clock'>;

const keys = new WeakMap<Buffer, ReturnType<typeof derivedKey>>();

/** To derive the key costs more than to use it. */
function keyOf(master: Buffer) {
  const key = keys.get(master) ?? derivedKey(master, 'countersign authz gnap management');
  keys.set(master, key);
  return key;
}

const macOf = ({ master }: Parts, payload: string): string =>
  createHmac('sha256', keyOf(master)).update(payload).digest('base64url');

/**
 * Returns `manage` of an access token (RFC 9635 section 3.2.1). The management token carries all that it manages, so
 * nothing is stored for it. It has no `alg` and no issuer, so that it is no access token anywhere.
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

/** Returns the access token that a management token manages, or undefined if it is none of ours or too old. */
export function readManagement(server: Parts, token: string): Managed | undefined {
  const [payload = '', mac = '', ...more] = token.split('.');
  if (more.length > 0 || !sameText(mac, macOf(server, payload))) return undefined;
  // Nobody else can have made the MAC, so the members need no second check.
  const managed = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Managed;
  return managed.exp > epochSeconds(server.clock) ? managed : undefined;
}
