import { type Challenge, formatChallenge } from '#shared/http/auth/challenge.ts';
import { andThen, type Awaitable } from '#shared/base/awaitable.ts';
import { BadRequest } from '#shared/http/fields.ts';
import { KeysUnavailable } from '../tokens/issuer-keys.ts';
import { type Fields } from '#shared/http/answer.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/spaces.ts';
import {
  type AuthRequest,
  NotSetUp,
  type Outcome,
  type ProtectionSpace,
  type Scheme,
  type Verdict,
} from '../scheme.ts';

export type AnswerOutcome = Extract<Outcome, { kind: 'answer' }>;
type Refused = Extract<Verdict, { kind: 'refused' }>;

/** Returns an answer without challenges; `detail` is for the client. */
export function bare(
  status: number,
  { refusal, reason }: Refusal,
  fields: Fields = {},
  detail?: string,
): AnswerOutcome {
  return { kind: 'answer', status, refusal, reason, fields, ...(detail && { detail }) };
}

/** Returns a 503; `retryAfter` is in seconds. */
export function unavailable(
  status: 429 | 503,
  refusal: Refusal,
  retryAfter: number,
  fields: Fields = {},
): AnswerOutcome {
  return bare(status, refusal, {
    ...fields,
    'Retry-After': String(Math.max(1, Math.ceil(retryAfter))),
  });
}

/** The detail of an answer between two messages of a scheme, when nothing is missing or wrong. */
const GOES_ON = 'The exchange goes on: answer the challenge.';

/** Returns the answer to a request that a scheme's verdict does not admit. */
export function answerTo(
  verdict: Exclude<Verdict, { kind: 'granted' }>,
  space: ProtectionSpace,
  request: AuthRequest,
  scheme: Scheme,
): Awaitable<AnswerOutcome> {
  if (verdict.kind === 'unavailable') {
    return unavailable(verdict.status, verdict, verdict.retryAfter, verdict.fields);
  }
  if (verdict.kind === 'refused') {
    const answer = refusedAs(verdict, space, request, scheme);
    return verdict.untold ? andThen(answer, (given) => ({ ...given, untold: true })) : answer;
  }
  const challenges = [formatChallenge(verdict.challenge)];
  return bare(space.at.status, refuse('continued'), { [space.at.ask]: challenges }, GOES_ON);
}

function refusedAs(
  refused: Refused,
  space: ProtectionSpace,
  request: AuthRequest,
  scheme: Scheme,
): Awaitable<AnswerOutcome> {
  const { as = 'unauthenticated', challenges, fields } = refused;
  if (as === 'forbidden') {
    const asked = challenges && { [space.at.ask]: challenges.map(formatChallenge) };
    return bare(403, refused, { ...fields, ...asked });
  }
  // 421 tells a client to use another connection if HTTP_1_1_REQUIRED cannot say so (RFC 9110 section 15.5.20).
  if (as === 'http-1.1') return { ...bare(421, refused, fields), http11: true };
  const status = as === 'malformed' ? 400 : space.at.status;
  return challenged(space, request, status, refused, {
    ...(fields && { fields }),
    ...(challenges && { instead: { scheme, challenges } }),
  });
}

/**
 * Returns an answer with the challenges of every scheme, one line each (RFC 9110 section 11.6.1). Without any
 * challenge the status becomes 403 (section 15.5.2), or 503 if a scheme could not make its challenge. The 503 has
 * Retry-After unless that scheme is not set up.
 */
export async function challenged(
  space: ProtectionSpace,
  request: AuthRequest,
  status: number,
  { refusal, reason }: Refusal,
  more: {
    readonly fields?: Fields;
    /** Challenges that replace the usual challenges of one scheme. */
    readonly instead?: { readonly scheme: Scheme; readonly challenges: readonly Challenge[] };
  } = {},
): Promise<AnswerOutcome> {
  const { fields, instead } = more;
  const asked = await Promise.allSettled(
    space.schemes.map(async (scheme) =>
      scheme === instead?.scheme ? instead.challenges : scheme.challenge(request),
    ),
  );
  const challenges = asked.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  let retryAfter = 1;
  const off = asked.filter((one) => one.status === 'rejected' && one.reason instanceof NotSetUp);
  const silent = asked.flatMap((one, index) => {
    if (one.status === 'fulfilled') return [];
    if (one.reason instanceof BadRequest) throw one.reason;
    if (one.reason instanceof KeysUnavailable) retryAfter = one.reason.retryAfter;
    return [`${space.schemes[index]?.name}: ${String(one.reason)}`];
  });
  const why = { refusal, reason: [reason, ...silent].join('; ') };
  if (challenges.length > 0) {
    return bare(status, why, { ...fields, [space.at.ask]: challenges.map(formatChallenge) });
  }
  if (status !== space.at.status) return bare(status, why, fields);
  const needs = space.schemes.flatMap((scheme) => scheme.needs?.(request) ?? []).join(' ');
  if (silent.length > off.length) {
    return unavailable(503, refuse('no-challenge', { why: why.reason }), retryAfter);
  }
  return bare(off.length > 0 ? 503 : 403, why, fields, needs);
}
