import type { LogFields } from '#shared/base/log-fields.ts';
import { andThen, type Awaitable } from '#shared/base/awaitable.ts';
import { authorize } from './authorize.ts';
import { judge } from './judge.ts';
import { subjectOf } from '../person.ts';
import type { AuthRequest, Outcome, Principal, ProtectionSpace } from '../scheme.ts';

const VERDICTS = { pass: 'granted', answer: 'refused', absent: 'absent' } as const;

/** The outcome of a request, and what the request's log line says. */
export interface Admitted {
  readonly outcome: Outcome;
  readonly noted: LogFields;
}

/** Authenticates a request, then authorizes it. */
export function admit(space: ProtectionSpace, request: AuthRequest): Awaitable<Admitted> {
  return andThen(judge(space, request), (judged) => admitJudged(space, request, judged));
}

/** Authorizes a request that was authenticated. */
export function admitJudged(
  space: ProtectionSpace,
  request: AuthRequest,
  judged: Outcome,
): Admitted {
  const outcome = judged.kind === 'pass' ? authorize(space, judged, request) : judged;
  return {
    outcome,
    noted: {
      ...(judged.kind === 'pass' && whoPassed(judged)),
      space: space.realm,
      verdict: VERDICTS[outcome.kind],
      ...(outcome.kind !== 'absent' && { scheme: outcome.scheme }),
      ...(outcome.kind !== 'pass' && { refusal: outcome.refusal, reason: outcome.reason }),
    },
  };
}

function whoPassed({
  principal,
  application,
}: Pick<Extract<Outcome, { kind: 'pass' }>, 'principal' | 'application'>): LogFields {
  return {
    subject: subjectOf(principal),
    client: principal.claims?.['client_id'],
    application: idOf(application),
  };
}

function idOf(application: Principal | undefined): string | undefined {
  return application?.kind === 'application' ? application.id : undefined;
}
