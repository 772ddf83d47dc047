import type { VerifyingKey } from '#shared/signatures/verify.ts';
import { epochSeconds } from '#shared/base/clock.ts';
import { moment } from '#shared/base/moment.ts';
import { BadSignature } from '#shared/signatures/message.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { checksOf, type Step } from './checks.ts';
import type { Explained, Surroundings } from './explained.ts';
import { type ExplainedSignature, explainSignatures } from './http-signature.ts';
import { type Notes, notesIn } from './note.ts';
import { notedPart } from './noted-part.ts';
import type { RawRequest } from './raw-request.ts';

const note = notesIn('RFC 9421');

const NOTES: Notes = {
  created: note('The time at which the signature was made.', '2.3'),
  expires: note('The time at which the signature expires.', '2.3'),
  nonce: note('Makes two signatures of the same request differ.', '2.3'),
  alg: note('The algorithm. A server refuses an algorithm that does not belong to the key.', '2.3'),
  keyid: note('Names the key.', '2.3'),
  tag: note('The application for which the signature was made.', '2.3'),
};

const TIMES: ReadonlySet<string> = new Set(['created', 'expires']);

const STEPS: readonly Step[] = [
  {
    name: 'form',
    check: 'Signature-Input and Signature are dictionaries with the same labels.',
    section: 'RFC 9421 section 4',
  },
  {
    name: 'components',
    check: 'The message has each covered component once.',
    section: 'RFC 9421 section 2.5',
    refusals: [
      'component-absent',
      'component-not-of-request',
      'component-not-of-answer',
      'component-req-of-request',
      'component-twice',
      'component-query-param',
      'component-long-query',
    ],
  },
  {
    name: 'digest',
    check: 'If the request has a Content-Digest, it fits the content.',
    section: 'RFC 9530 section 2',
    refusals: ['content-digest-form', 'content-digest-none', 'content-digest-wrong'],
  },
  {
    name: 'key',
    check: 'The server has the key that keyid names.',
    section: 'RFC 9421 section 3.2',
  },
  {
    name: 'signature',
    check: 'The key has signed the signature base.',
    section: 'RFC 9421 section 3.2',
  },
  {
    name: 'policy',
    check: 'The signature covers all parts that the application demands, and is recent.',
    section: 'RFC 9421 section 3.2.1',
  },
];

const NO_KEYS: ReadonlyMap<unknown, VerifyingKey> = new Map();

/** Explains the signatures of a request (RFC 9421); empty if it has none. */
export function explainSigned(
  request: RawRequest,
  surroundings: Surroundings,
): readonly Explained[] {
  const { message } = request;
  if (message.lines('signature').length + message.lines('signature-input').length === 0) return [];
  try {
    const now = epochSeconds(surroundings.clock);
    const { signatures, content } = explainSignatures(request, NO_KEYS, now);
    return signatures.map((one) => explainedOf(one, content.wrong, surroundings));
  } catch (error) {
    if (!(error instanceof BadSignature)) throw error;
    const checks = checksOf(STEPS.slice(0, 1), error.refusal);
    return [{ what: 'HTTP signature', standard: 'RFC 9421', parts: [], checks }];
  }
}

function explainedOf(
  { label, covers, parameters, wrong, gnap }: ExplainedSignature,
  digest: Refusal | undefined,
  { clock }: Surroundings,
): Explained {
  const values = Object.entries(parameters).map(([name, value]) =>
    notedPart(name, TIMES.has(name) ? moment(value, clock) : String(value), NOTES),
  );
  return {
    what: `HTTP signature ${label}`,
    standard: 'RFC 9421',
    parts: [
      ...covers.map(({ component, value }) => ({
        name: component,
        value,
        note: 'The signature covers this.',
      })),
      ...values,
    ],
    checks: checksOf(STEPS, wrong ?? digest, {
      key: 'Only the server knows its clients.',
      signature: 'This needs the public key: use `countersign signature explain --key`.',
      policy:
        gnap === undefined
          ? 'The signature meets the rules of GNAP.'
          : `GNAP refuses it: ${gnap.reason}.`,
    }),
  };
}
