import { andThen, type Awaitable } from '#shared/base/awaitable.ts';
import { admit } from '#shared/auth/judge/admit.ts';
import type { AuthRequest, Outcome, ProtectionSpace } from '#shared/auth/scheme.ts';
import type { AnyRequest } from '../message/message.ts';
import { note } from '../message/request-log.ts';

/** Authenticates and authorizes a request, and adds the result to its log line. */
export function admitAndNote(
  request: AnyRequest,
  space: ProtectionSpace,
  asked: AuthRequest,
): Awaitable<Outcome> {
  return andThen(admit(space, asked), ({ outcome, noted }) => {
    // Removes the note about refused credentials for a hidden space, since the request was admitted.
    note(request, { refusal: undefined, reason: undefined, ...noted });
    return outcome;
  });
}
