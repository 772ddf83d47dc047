import { admit, type Admitted } from '#shared/auth/admit.ts';
import { subjectOf } from '#shared/auth/person.ts';
import { refusal } from '#shared/auth/refusal.ts';
import type { Principal as Admittee, ProtectionSpace } from '#shared/auth/scheme.ts';
import { andThen, type Awaitable, recover } from '#shared/base/awaitable.ts';
import { type Answer, type Fields, problemAnswer } from '#shared/http/answer.ts';
import type { GuardLog } from './options.ts';
import type { Principal } from './principal.ts';
import { authRequest, isPreflight, type Seen } from './seen.ts';

/** What comes of a request: who it is, with fields that the answer has to have, or the answer. */
export type Decision =
  | { readonly ok: true; readonly principal: Principal; readonly fields: Fields }
  | { readonly ok: false; readonly answer: Answer };

/** Never throws or rejects: whoever cannot be judged does not get in. */
export type Decide = (request: Seen) => Awaitable<Decision>;

const ANONYMOUS: Principal = { kind: 'anonymous', scopes: new Set() };
const PREFLIGHT: Decision = { ok: true, principal: ANONYMOUS, fields: {} };

/** `origin`: that of the resource. */
export function createDecide(space: ProtectionSpace, origin: string, log: GuardLog): Decide {
  function decided({ method, target }: Seen, { outcome, noted }: Admitted): Decision {
    if (outcome.kind === 'pass') {
      return { ok: true, principal: principalOf(outcome.principal), fields: outcome.fields };
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
        andThen(admit(space, authRequest(request, origin)), (admitted) =>
          decided(request, admitted),
        ),
      failed,
    );
  };
}

function principalOf(admitted: Admittee): Principal {
  const { kind, scopes = ANONYMOUS.scopes, claims = {} } = admitted;
  const { client_id: client, jti: token } = claims;
  const id = subjectOf(admitted);
  if (kind === 'anonymous' || id === undefined || client === undefined || token === undefined) {
    throw new TypeError('a token names who stands behind it');
  }
  return { kind, id, client, scopes, token };
}
