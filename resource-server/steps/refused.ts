import { refusal } from '#shared/auth/judge/refusal.ts';
import type { Outcome } from '#shared/auth/scheme.ts';
import { originForm } from '#shared/http/target.ts';
import { shownId } from '#shared/server/message/request-log.ts';
import type { ResourceAnswer } from '../answers/pieces.ts';
import { sealedAnswer } from '../answers/seal.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Errors } from '../pages/errors.ts';
import type { SignIn } from '../sign-in/open-sign-in.ts';
import type { Space } from '../space/spaces.ts';

export interface RefusedParts {
  readonly signIn: Pick<SignIn, 'instead'>;
  readonly errors: Pick<Errors, 'told'>;
}

/** Answers a refused client. A browser is redirected to sign in, if the space offers that. */
export const createRefused =
  ({ signIn, errors }: RefusedParts) =>
  (
    exchange: Exchange,
    { url, at }: Space,
    outcome: Extract<Outcome, { kind: 'answer' }>,
  ): ResourceAnswer => {
    const { request, fields } = exchange;
    const asked = exchange.asked();
    const path = originForm(asked.target);
    const instead = signIn.instead({ url, request: asked, path, outcome, id: shownId(request) });
    const answer = instead
      ? { ...instead, fields: { ...instead.fields, ...fields } }
      : errors.told(request, refusal(outcome, fields));
    return sealedAnswer(request, answer, outcome.seal, at.info);
  };
