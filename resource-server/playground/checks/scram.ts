import { decodeMessage } from '#shared/auth/schemes/scram/base64.ts';
import { scramKeys } from '#shared/auth/schemes/scram/keys.ts';
import {
  type ClientFinal,
  parseClientFinal,
  parseClientFirst,
} from '#shared/auth/schemes/scram/messages.ts';
import { verifyProof } from '#shared/auth/schemes/scram/proof.ts';
import { checksOf } from '#shared/explain/checks.ts';
import { SCRAM_FIRST_STEPS, scramFinalSteps } from '#shared/explain/schemes/scram.ts';
import { parseChallenges } from '#shared/http/auth/challenge.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import { PASSWORD } from '../person.ts';
import {
  type Checks,
  ofCredentials,
  credentialsOf,
  isAccepted,
  type Recorded,
  type RecordedMessage,
} from '../recorded.ts';

/** RFC 7804. */
export const scramChecks: Checks = ofCredentials(async (recorded) => {
  const { data, sid } = dataOf(recorded.asked);
  if (data === undefined) return checksOf(SCRAM_FIRST_STEPS, refuse('scram-data'));
  const final = parseClientFinal(data);
  if (final !== undefined) {
    return checksOf(scramFinalSteps(sid), await refusalOfFinal(final, sid, recorded));
  }
  const first = parseClientFirst(data);
  const refusal = first ? undefined : refuse('scram-first');
  return checksOf(SCRAM_FIRST_STEPS, refusal);
});

function dataOf(message: RecordedMessage) {
  const { data, sid } = credentialsOf(message).params ?? {};
  return { data: decodeMessage(data ?? ''), sid };
}

/** The nonce, the salt and the iterations of a server-first-message (RFC 5802 section 5.1). */
const SERVER_FIRST = /^r=([^,]+),(s=([^,]+),i=(\d+))$/;

/** An exchange that has begun: the messages before the last one. */
interface Begun {
  readonly bare: string;
  readonly serverFirst: string;
}

async function refusalOfFinal(
  final: ClientFinal,
  sid: string | undefined,
  { earlier }: Recorded,
): Promise<Refusal | undefined> {
  const legs = earlier.map((leg) => ({
    sent: dataOf(leg.asked),
    got: challengeOf(leg.answer),
    accepted: isAccepted(leg.answer),
  }));
  const begun = legs.flatMap(({ sent, got }): (Begun & { sid: string | undefined })[] => {
    const bare = parseClientFirst(sent.data ?? '')?.bare;
    const serverFirst = decodeMessage(got['data'] ?? '');
    return bare === undefined || !serverFirst ? [] : [{ bare, serverFirst, sid: got['sid'] }];
  });
  if (sid === undefined) {
    // One message alone: the client continues its nonce of before, and ends it with sr (RFC 7804 section 5.1).
    const known = begun.find(({ bare }) => final.nonce.startsWith(bare.replace(/^.*,r=/, '')));
    const ours = legs.some(({ got: { sr } }) => sr !== undefined && final.nonce.endsWith(sr));
    const [, , salted = ''] = SERVER_FIRST.exec(known?.serverFirst ?? '') ?? [];
    if (known === undefined || !ours || !legs.some(({ accepted }) => accepted)) {
      return refuse('scram-unknown-nonce');
    }
    return refusalOfProof(final, { ...known, serverFirst: `r=${final.nonce},${salted}` });
  }
  // A sid is good for one client-final-message.
  const leg = begun.find((one) => one.sid === sid);
  if (leg === undefined || legs.some(({ sent }) => sent.sid === sid)) return refuse('scram-sid');
  return refusalOfProof(final, leg);
}

async function refusalOfProof(
  final: ClientFinal,
  { bare, serverFirst }: Begun,
): Promise<Refusal | undefined> {
  const [, nonce = '', , salt = '', iterations] = SERVER_FIRST.exec(serverFirst) ?? [];
  if (final.nonce !== nonce) return refuse('scram-nonce');
  const octets = Buffer.from(salt, 'base64');
  const keys = await scramKeys('SHA-256', PASSWORD, octets, Number(iterations));
  const message = [bare, serverFirst, final.withoutProof].join(',');
  return keys && verifyProof('SHA-256', keys, message, final.proof)
    ? undefined
    : refuse('scram-proof');
}

const challengeOf = ({ lines }: RecordedMessage) =>
  parseChallenges(lines('www-authenticate')[0] ?? '')?.[0]?.params ?? {};
