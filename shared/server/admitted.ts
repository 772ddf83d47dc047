import { admit } from '#shared/auth/admit.ts';
import type { AuthRequest, Outcome, ProtectionSpace } from '#shared/auth/scheme.ts';
import type { AnyRequest } from './message.ts';
import { note } from './request-log.ts';

/** Authenticates and authorizes a request, whose line in the log says what came of it. */
export async function admitted(
  request: AnyRequest,
  space: ProtectionSpace,
  asked: AuthRequest,
): Promise<Outcome> {
  const { outcome, noted } = await admit(space, asked);
  note(request, noted);
  return outcome;
}
