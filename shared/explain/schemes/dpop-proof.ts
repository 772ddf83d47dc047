import { epochSeconds } from '#shared/base/clock.ts';
import { ALGORITHMS } from '#shared/jose/algorithms.ts';
import { isObject } from '#shared/jose/compact-jws.ts';
import { checkDpopProof } from '#shared/jose/dpop-proof.ts';
import { PROOF_WINDOW } from '#shared/jose/proof-life.ts';
import { thumbprint } from '#shared/jose/thumbprint.ts';
import type { RefusalCode } from '#shared/refusals/table.ts';
import { type Check, checksOf, type Step } from '../checks.ts';
import type { Explained, Part, Surroundings } from '../explained.ts';
import { partsOfJwt, readJwt, type ReadJwt, textOf } from './jwt.ts';

const step = (
  name: string,
  check: string,
  section: string,
  refusals?: readonly RefusalCode[],
): Step => ({
  name,
  check,
  section: `RFC 9449 section ${section}`,
  ...(refusals && { refusals }),
});

/** The checks of a proof, as `checkDpopProof` makes them. */
export const PROOF_STEPS: readonly Step[] = [
  step('form', 'The proof is one JWT, and the server accepts its algorithm.', '4.3 (2, 5)'),
  step('claims', 'The proof has jti, htm, htu and iat.', '4.3 (3)', [
    'proof-jti',
    'proof-htm-htu',
    'proof-iat',
  ]),
  step('type', 'The type of the proof is dpop+jwt.', '4.3 (4)', ['proof-typ']),
  step('key', 'jwk is a public key for the algorithm.', '4.3 (7)', [
    'proof-jwk',
    'proof-jwk-private',
    'proof-jwk-alg',
  ]),
  step('signature', 'The proof is signed with this key.', '4.3 (6)', ['proof-signature']),
  step('method', 'htm is the method of the request.', '4.3 (8)', ['proof-htm']),
  step('address', 'htu is the address of the request.', '4.3 (9)', ['proof-htu']),
  step('token', 'ath is the hash of the access token.', '4.3 (12)', ['proof-ath']),
  step('binding', 'The access token is bound to this key.', '4.3 (12)', ['proof-jkt']),
  step(
    'time',
    'The nonce comes from the server. If the server gives no nonces, iat is recent.',
    '4.3 (10, 11)',
    [
      'proof-time',
      'proof-nonce-missing',
      'proof-nonce-stale',
      'proof-nonce-foreign',
      'proof-nonce-needed',
    ],
  ),
  step('replay', 'jti is new.', '11.1', ['proof-used']),
];

/** Explains a proof (RFC 9449), and compares it with the surrounding request if there is one. */
export function explainDpopProof(proof: string, surroundings: Surroundings): Explained {
  const read = readJwt(proof);
  return {
    what: 'DPoP proof',
    standard: 'RFC 9449',
    parts: [...partsOfJwt(read, surroundings), ...thumbprintOf(read)],
    checks: checksOfProof(proof, read, surroundings),
  };
}

function thumbprintOf({ header }: ReadJwt): readonly Part[] {
  const algorithm = ALGORITHMS.get(header?.['alg']);
  const jwk = header?.['jwk'];
  if (algorithm === undefined || !isObject(jwk)) return [];
  return [
    {
      name: 'thumbprint',
      value: thumbprint(jwk, algorithm),
      note: 'The hash of jwk. The access token has it in cnf.jkt.',
      section: 'RFC 7638 section 3',
    },
  ];
}

function checksOfProof(
  proof: string,
  { payload = {} }: ReadJwt,
  { clock, request }: Surroundings,
): readonly Check[] {
  const { htm, htu, ath, nonce } = payload;
  const token = request?.accessToken;
  const bound = token === undefined ? undefined : boundTo(token);
  const expected = {
    method: request?.method ?? textOf(htm),
    htu: request?.targetUri ?? textOf(htu),
    ...(token !== undefined && { accessToken: token }),
    ...(bound !== undefined && { jkt: bound }),
    now: epochSeconds(clock),
    window: PROOF_WINDOW,
    ...(nonce !== undefined && { refusesNonce: () => undefined }),
  };
  const keys = { get: () => undefined, set: () => {} };
  const checked = checkDpopProof(proof, expected, keys);
  return checksOf(PROOF_STEPS, checked.ok ? undefined : checked, {
    ...(request === undefined && {
      method: `The server compares ${textOf(htm)} with the method of the request.`,
    }),
    ...(request?.targetUri === undefined && {
      address: `The server compares ${textOf(htu)} with the address of the request.`,
    }),
    ...(token === undefined && {
      token: `The server compares ${textOf(ath)} with the hash of the token. Paste the whole request to see it.`,
    }),
    ...(bound === undefined && {
      binding: 'The server compares the thumbprint with cnf.jkt of the token.',
    }),
    ...(nonce !== undefined && { time: 'Only the server knows its nonces.' }),
    replay: 'Only the server knows which proofs it has seen.',
  });
}

function boundTo(token: string): string | undefined {
  const cnf = readJwt(token).payload?.['cnf'];
  const jkt = isObject(cnf) ? cnf['jkt'] : undefined;
  return typeof jkt === 'string' ? jkt : undefined;
}
