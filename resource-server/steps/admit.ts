import type { Outcome } from '#shared/auth/scheme.ts';
import type { Standing } from '#shared/auth/standing/standing.ts';
import { andThen } from '#shared/base/awaitable.ts';
import { notFound } from '#shared/http/answer.ts';
import { admitAndNote } from '#shared/server/endpoints/admit-and-note.ts';
import { note } from '#shared/server/message/request-log.ts';
import type { ResourceAnswer } from '../answers/pieces.ts';
import { breakOff, exchangeOf, sideOf } from '../answers/side.ts';
import type { Step } from '../exchange/exchange.ts';
import type { JudgeLate, UnderWay } from '../exchange/under-way.ts';
import { createRefused, type RefusedParts } from './refused.ts';

export interface AdmitParts extends RefusedParts {
  readonly standing: Pick<Standing, 'mark'>;
  readonly underWay: UnderWay;
}

/**
 * Authenticates and authorizes a request to a space. Returns undefined if the request is admitted, and adds the caller
 * to the exchange. A refused browser is redirected to sign in, if the space offers that. Throws 404 if the space is
 * hidden.
 */
export function admit({ standing, underWay, ...parts }: AdmitParts): Step {
  const refused = createRefused(parts);
  return (exchange) => {
    const { request, space, hidden, unasked } = exchange;
    if (unasked || space === undefined) return undefined;
    if (hidden) note(request, hidden.noted);
    const mark = hidden?.mark ?? standing.mark();
    const judged = hidden?.outcome ?? admitAndNote(request, space, exchange.asked());
    return andThen<Outcome, ResourceAnswer | undefined>(judged, (outcome) => {
      if (outcome.kind === 'absent') throw notFound();
      if (outcome.kind === 'answer') return refused(exchange, space, outcome);
      exchange.passed = outcome;
      exchange.mark = mark;
      exchange.fields = { ...outcome.fields, ...exchange.fields };
      exchange.watch = () =>
        underWay({ passed: outcome, mark }, exchangeOf(exchange.response), (reason) => {
          note(request, { reason });
          breakOff(sideOf(request));
        });
      return undefined;
    });
  };
}

/**
 * Authenticates the caller again if the content arrived slowly: GNAP and Digest with auth-int read the content after
 * they have found the token or the person, and `tools` after that. Throws or rejects as `JudgeLate`.
 */
export const stillAdmitted =
  (judgeLate: JudgeLate): Step =>
  ({ passed, mark, arrived }) =>
    passed && mark && andThen(judgeLate({ passed, mark }, arrived), () => undefined);
