import { type Admitted, admitJudged } from '#shared/auth/judge/admit.ts';
import { judge } from '#shared/auth/judge/judge.ts';
import { refusal } from '#shared/auth/judge/refusal.ts';
import type { Outcome, ProtectionSpace } from '#shared/auth/scheme.ts';
import { andThen, type Awaitable, recover } from '#shared/base/awaitable.ts';
import { type Answer, type Fields, problemAnswer } from '#shared/http/answer.ts';
import type { GuardLog } from './options.ts';
import type { Principal } from './principal.ts';
import { ANONYMOUS, principalOf } from './principals.ts';
import { authRequest, isPreflight, type Seen } from './seen.ts';

/** The decision about a request: the principal with fields that the answer needs, or the answer. */
export type Decision =
  | { readonly ok: true; readonly principal: Principal; readonly fields: Fields }
  | { readonly ok: false; readonly answer: Answer };

/** Never throws or rejects: a request that cannot be judged is refused. */
export type Decide = (request: Seen) => Awaitable<Decision>;

const PREFLIGHT: Decision = { ok: true, principal: ANONYMOUS, fields: {} };

export interface DecideOptions {
  /** The origin of the resource. */
  readonly origin: string;
  readonly log: GuardLog;
  /** The verdicts on requests that were judged before, since a DPoP proof is accepted only once. */
  readonly judged: WeakMap<object, Outcome>;
}

export function createDecide(
  space: ProtectionSpace,
  { origin, log, judged }: DecideOptions,
): Decide {
  function judgeOnce(seen: Seen): Awaitable<Outcome> {
    return (
      judged.get(seen.request) ??
      andThen(judge(space, authRequest(seen, origin)), (outcome) => {
        if (outcome.kind === 'pass') judged.set(seen.request, outcome);
        return outcome;
      })
    );
  }

  function decided(seen: Seen, { outcome, noted }: Admitted): Decision {
    const { method, target } = seen;
    if (outcome.kind === 'pass') {
      const principal = principalOf(outcome.principal, seen.lines('authorization')[0] ?? '');
      return { ok: true, principal, fields: outcome.fields };
    }
    log.info('refused', { method, path: target.replace(/\?.*/s, ''), ...noted });
    if (outcome.kind === 'absent') throw new TypeError('nothing is hidden here');
    return { ok: false, answer: refusal(outcome) };
  }

  function failed(error: unknown): Decision {
    log.error('failed', { reason: error instanceof Error ? error.stack : String(error) });
    const detail = 'The server could not do this. The reason is in its log.';
    return { ok: false, answer: problemAnswer(500, detail) };
  }

  return (request) => {
    if (isPreflight(request)) return PREFLIGHT;
    return recover(
      () =>
        andThen(judgeOnce(request), (outcome) =>
          decided(request, admitJudged(space, authRequest(request, origin), outcome)),
        ),
      failed,
    );
  };
}
