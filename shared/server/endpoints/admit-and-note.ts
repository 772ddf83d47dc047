import { andThen, type Awaitable } from '#shared/base/awaitable.ts';
import { admit } from '#shared/auth/judge/admit.ts';
import type { AuthRequest, Outcome, ProtectionSpace } from '#shared/auth/scheme.ts';
import type { AnyRequest } from '../message/message.ts';
import { note } from '../message/request-log.ts';

/** Authenticates and authorizes a request, whose line in the log says what came of it. */
export function admitAndNote(
  request: AnyRequest,
  space: ProtectionSpace,
  asked: AuthRequest,
): Awaitable<Outcome> {
  return andThen(admit(space, asked), ({ outcome, noted }) => {
    // Credentials that open no hidden space may be noted already.
    note(request, { refusal: undefined, reason: undefined, ...noted });
    return outcome;
  });
}
