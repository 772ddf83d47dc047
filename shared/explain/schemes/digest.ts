import { parseDigestParams } from '#shared/auth/schemes/digest/params.ts';
import { createOffer } from '#shared/auth/schemes/digest/offer.ts';
import {
  DIGEST_ALGORITHMS,
  type DigestAlgorithmName,
} from '#shared/http/auth/digest-algorithms.ts';
import type { Credentials } from '#shared/http/auth/credentials.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import type { RefusalCode } from '#shared/refusals/table.ts';
import { checksOf, type Step } from '../checks.ts';
import type { Surroundings } from '../explained.ts';
import type { ExplainedCredentials } from './credentials-of.ts';

const step = (
  name: string,
  check: string,
  section: string,
  refusals?: readonly RefusalCode[],
): Step => ({
  name,
  check,
  section: `RFC 7616 section ${section}`,
  ...(refusals && { refusals }),
});

/** The checks of Digest, as the scheme's `authenticate` makes them. */
export const DIGEST_STEPS: readonly Step[] = [
  step('form', 'All required parameters are present and well-formed.', '3.4'),
  step('algorithm', 'The server has offered the algorithm.', '3.3', ['digest-algorithm']),
  step('qop', 'The server has offered the qop.', '3.3', ['digest-no-qop', 'digest-qop']),
  step('userhash', 'The client hashes the name only if the server has asked for that.', '3.4.4', [
    'digest-userhash',
  ]),
  step('realm', 'realm and opaque are the same as in the challenge.', '3.4', [
    'digest-realm',
    'digest-opaque',
  ]),
  step('target', 'uri is the target of the request.', '3.4.6', ['digest-uri']),
  step('nonce', 'The server has made the nonce, for this algorithm and realm.', '3.3', [
    'digest-nonce',
  ]),
  step(
    'response',
    'The server computes the same response from its hash of the password.',
    '3.4.1',
    ['digest-response'],
  ),
  step('age', 'The nonce is not too old.', '3.3', ['digest-stale']),
  step('count', 'nc is new for this nonce.', '3.4', ['digest-used']),
];

/** RFC 7616. */
export const explainDigest: ExplainedCredentials = (credentials, surroundings) => ({
  parts: [],
  checks: checksOf(DIGEST_STEPS, refusalOf(credentials, surroundings), {
    ...(surroundings.request === undefined && {
      target: 'The server compares uri with the target of the request.',
    }),
    realm: 'The server compares realm and opaque with its own.',
    nonce: 'Only the server knows its nonces.',
    response: 'Only the server has the hash of the password.',
    age: 'Only the server knows how long it accepts a nonce.',
    count: 'Only the server has counted the requests.',
  }),
});

/** Asks the scheme as a server that has offered everything, with the realm and the nonce of the credentials. */
function refusalOf({ params = {} }: Credentials, { request }: Surroundings): Refusal | undefined {
  const read = parseDigestParams(params);
  if (typeof read === 'string') return refuse('digest-form', { param: read });
  const offer = createOffer({
    realm: read.realm,
    algorithms: Object.keys(DIGEST_ALGORITHMS) as DigestAlgorithmName[],
    qop: ['auth', 'auth-int'],
    userhash: true,
    nonces: {
      issue: () => '',
      check: () => 'fresh',
      madeAt: () => 0,
      ending: () => false,
      lifetime: 0,
    },
  });
  const { method = '', target = read.uri, targetUri } = request ?? {};
  const origin = targetUri === undefined ? '' : new URL(targetUri).origin;
  const content = { digest: async () => Buffer.of() };
  const claim = offer.claim({ ...read, opaque: undefined }, { method, target, origin, content });
  return 'refusal' in claim ? claim : undefined;
}
