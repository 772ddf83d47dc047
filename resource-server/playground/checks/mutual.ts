import { sameBytes } from '#shared/base/constant-time.ts';
import type { Random } from '#shared/base/random.ts';
import {
  MUTUAL_ALGORITHMS,
  type MutualAlgorithmName,
} from '#shared/auth/schemes/mutual/algorithms.ts';
import { mutualClient } from '#shared/auth/schemes/mutual/client.ts';
import { KAM3 } from '#shared/auth/schemes/mutual/kam3.ts';
import {
  type KeyVerification,
  readMessage,
  refusalOfMessage,
} from '#shared/auth/schemes/mutual/message.ts';
import { endPoint } from '#shared/auth/schemes/mutual/validation.ts';
import { checksOf } from '#shared/explain/checks.ts';
import { KEY_EXCHANGE_STEPS, KEY_VERIFICATION_STEPS } from '#shared/explain/schemes/mutual.ts';
import { parseChallenges } from '#shared/http/auth/challenge.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import { PASSWORD, PERSON } from '../person.ts';
import {
  type Checks,
  credentialsOf,
  isAccepted,
  ofCredentials,
  type Recorded,
  type RecordedMessage,
} from '../recorded.ts';

/** RFC 8120. */
export const mutualChecks: Checks = ofCredentials(async (recorded) => {
  const { asked, earlier } = recorded;
  const [first] = earlier;
  const { algorithm = '', validation = '', realm = '', ...rest } = challengeOf(first?.answer);
  const terms = {
    algorithm: algorithm as MutualAlgorithmName,
    validation,
    scope: rest['auth-scope'] ?? '',
    realm,
  };
  const params = credentialsOf(asked).params ?? {};
  const read = readMessage(params, terms);
  const steps = 'sid' in params ? KEY_VERIFICATION_STEPS : KEY_EXCHANGE_STEPS;
  if (typeof read === 'string') {
    return checksOf(steps, refusalOfMessage(read));
  }
  if ('sid' in read) return checksOf(steps, await refusalOfProof(read, terms.algorithm, recorded));
  const isElement = KAM3[terms.algorithm].isElement(read.clientValue);
  return checksOf(steps, isElement ? undefined : refuse('mutual-element'));
});

const challengeOf = (answer: RecordedMessage | undefined) =>
  parseChallenges(answer?.lines('www-authenticate')[0] ?? '')?.[0]?.params ?? {};

/**
 * The server alone has its secret number. So the proof of a client is computed that has drawn the same number, and knows
 * the password.
 */
async function refusalOfProof(
  { sid, nc, proof }: KeyVerification,
  algorithm: MutualAlgorithmName,
  { earlier, drawn, certificate = Buffer.alloc(0) }: Recorded,
): Promise<Refusal | undefined> {
  const secret = { name: PERSON.name, password: PASSWORD };
  const client = await mutualClient(challengeOf(earlier[0]?.answer), secret, again(drawn));
  const exchanged = earlier
    .map(({ answer }) => challengeOf(answer))
    .find((one) => one['sid'] === sid);
  const session = exchanged && client?.session(exchanged);
  const uses = earlier.filter((leg) => {
    const { sid: used, vkc } = credentialsOf(leg.asked).params ?? {};
    return used === sid && vkc !== undefined;
  });
  // A wrong proof ends a session in which no right one was.
  const [begun] = uses;
  if (session === undefined || (begun && !isAccepted(begun.answer)))
    return refuse('mutual-session');
  const { vkc = '' } = session.verify({ nc, vh: endPoint(certificate) });
  if (!sameBytes(proof, Buffer.from(vkc, MUTUAL_ALGORITHMS[algorithm].format))) {
    return refuse(begun ? 'mutual-proof' : 'mutual-name');
  }
  const used = uses.some(({ asked }) => credentialsOf(asked).params?.['nc'] === String(nc));
  return used ? refuse('mutual-used') : undefined;
}

/** Draws the same octets again. */
function again(drawn: readonly Buffer[]): Random {
  const left = [...drawn];
  return (length) => left.shift() ?? Buffer.alloc(length);
}
