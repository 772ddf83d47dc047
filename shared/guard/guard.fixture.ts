import type { KeyObject } from 'node:crypto';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { GENERATE, publicJwk, signJws } from '#shared/jose/jws.fixture.ts';
import { createGuard } from './create-guard.ts';
import type { GuardLog, ProtectOptions } from './options.ts';

export const ISSUER = 'https://auth.example';
export const RESOURCE = 'https://api.example/v1/';

interface Line {
  readonly event: string;
  readonly [field: string]: unknown;
}

/** Creates an issuer that publishes one key, and guards that reach the issuer only by `fetch`. */
export function issuerAndGuard() {
  const clock = new ManualClock();
  const key = GENERATE.ES256();
  const state = {
    away: false,
    asked: [] as string[],
    several: undefined as string | undefined,
    fields: {} as Readonly<Record<string, string>>,
  };
  const lines: Line[] = [];
  const log: GuardLog = {
    info: (event, fields) => void lines.push({ event, ...fields }),
    warn: (event, fields) => void lines.push({ event, ...fields }),
    error: (event, fields) => void lines.push({ event, ...fields }),
  };
  const fetch = async (url: unknown): Promise<Response> => {
    state.asked.push(String(url));
    if (state.away) throw new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') });
    const keys = [{ ...publicJwk(key.publicKey), kid: 'k1' }];
    return Response.json({ keys }, { headers: state.fields });
  };
  const now = () => Math.floor(clock.now() / 1000);

  return {
    clock,
    now,
    state,
    lines,
    protect: (options: Partial<ProtectOptions> = {}) =>
      createGuard(
        {
          issuer: ISSUER,
          resource: RESOURCE,
          scopes: ['notes:read'],
          revocation: 'none',
          log,
          ...options,
        },
        { clock, random: systemRandom, fetch, several: state.several, log },
      ),
    token: (claims: object = {}, by: KeyObject = key.privateKey) =>
      signJws(
        { alg: 'ES256', typ: 'at+jwt', kid: 'k1' },
        {
          iss: ISSUER,
          aud: RESOURCE,
          sub: 'machine',
          client_id: 'machine',
          jti: 'j1',
          iat: now(),
          exp: now() + 600,
          scope: 'notes:read',
          client_gen: 0,
          epoch: 'e1',
          ...claims,
        },
        by,
      ),
  };
}

export const ask = (
  headers: Readonly<Record<string, string>> = {},
  path = 'notes',
  method = 'GET',
): Request => new Request(`http://127.0.0.1:8080/v1/${path}`, { method, headers });

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
