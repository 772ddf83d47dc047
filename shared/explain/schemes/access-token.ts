import { checkAccessToken, checkClaims, parseAccessToken } from '#shared/jose/access-token.ts';
import type { AccessTokenClaims } from '#shared/jose/access-token-claims.ts';
import { epochSeconds } from '#shared/base/clock.ts';
import type { RefusalCode } from '#shared/refusals/table.ts';
import { refuse } from '#shared/refusals/tokens.ts';
import { type Check, checksOf, type Step } from '../checks.ts';
import type { Explained, Surroundings } from '../explained.ts';
import { partsOfJwt, readJwt, textOf } from './jwt.ts';

const step = (
  name: string,
  check: string,
  section: string,
  refusals?: readonly RefusalCode[],
): Step => ({
  name,
  check,
  section: `RFC ${section}`,
  ...(refusals && { refusals }),
});

/** Returns the checks of a type of access token, as `createTokenVerifier` and the schemes make them. */
const stepsOf = (type: string, binding: string): readonly Step[] => [
  step(
    'form',
    `The token is a JWT of the type ${type}, and the server accepts its algorithm.`,
    '9068 section 4',
  ),
  step('key', 'The issuer has the key that kid names.', '9068 section 4', [
    'token-key',
    'token-key-alg',
  ]),
  step('signature', 'The issuer has signed header and claims.', '7515 section 5.2', [
    'token-signature',
  ]),
  step('claims', 'All required claims are present, and have the right type.', '9068 section 2.2', [
    'token-claim',
  ]),
  step('issuer', 'iss is the issuer that the server trusts.', '9068 section 4', ['token-issuer']),
  step('audience', 'aud names this resource.', '9068 section 4', ['token-audience']),
  step('time', 'The token is already valid (nbf), and has not expired (exp).', '7519 section 4.1', [
    'token-expired',
    'token-early',
  ]),
  step('revoked', 'The token is not revoked.', '7009 section 2', ['token-revoked']),
  step(
    'binding',
    'The client sends a token that is bound to a key with a scheme that proves the key. It sends any other token as Bearer.',
    binding,
    ['token-bound', 'token-unbound', 'token-of-gnap', 'token-of-dpop', 'token-cnf'],
  ),
];

export const TOKEN_STEPS = stepsOf('at+jwt', '9449 section 7.2');

/** The checks of a GNAP token (RFC 9635 section 7.2). */
export const GNAP_TOKEN_STEPS = stepsOf('gnap-at+jwt', '9635 section 7.2');

/** The last check: the server compares the scopes after it has authenticated the client. */
export const SCOPE_STEP: Step = step(
  'scope',
  'The token has the scopes that this request needs.',
  '6750 section 3.1',
  ['scope'],
);

/** RFC 6750. */
export const BEARER_STEPS: readonly Step[] = [...TOKEN_STEPS, SCOPE_STEP];

/** Explains an access token (RFC 9068). Its signature stays open where the keys of its issuer are not at hand. */
export function explainAccessToken(token: string, surroundings: Surroundings): Explained {
  return {
    what: 'Access token',
    standard: 'RFC 9068',
    parts: partsOfJwt(readJwt(token), surroundings),
    checks: checksOfToken(token, surroundings),
  };
}

function checksOfToken(token: string, { clock, keyOf }: Surroundings): readonly Check[] {
  const ofToken = readJwt(token).header?.['typ'] === 'gnap-at+jwt' ? GNAP_TOKEN_STEPS : TOKEN_STEPS;
  const steps = [...ofToken, SCOPE_STEP];
  const parsed = parseAccessToken(token);
  if (!parsed.ok) return checksOf(steps, parsed);
  const { iss, aud } = parsed.payload as Partial<AccessTokenClaims>;
  const key = keyOf?.(iss, parsed.kid, parsed.algorithm);
  if (key === 'absent') return checksOf(steps, refuse('token-key'));
  const expected = {
    issuer: typeof iss === 'string' ? iss : '',
    audiences: [aud ?? []].flat(),
    now: epochSeconds(clock),
    skew: 0,
  };
  const checked = key ? checkAccessToken(parsed, key, expected) : checkClaims(parsed, expected);
  return checksOf(steps, checked.ok ? undefined : checked, {
    ...(key === undefined && {
      key: `The server looks for the key ${parsed.kid}.`,
      signature:
        'Anybody can write such claims. Only the key of the issuer shows whether the issuer signed them.',
      issuer: `The server compares it with ${textOf(iss)}.`,
    }),
    audience: `The server looks for its own URL in ${textOf(aud)}.`,
    revoked: 'Only the store knows.',
    binding:
      'cnf' in parsed.payload
        ? 'The token is bound to a key, so the server refuses Bearer.'
        : 'The token is not bound to a key, so the server refuses DPoP.',
    scope: `The server compares what the request needs with ${textOf(parsed.payload['scope'])}.`,
  });
}
