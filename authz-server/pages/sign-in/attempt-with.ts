import type { PagesServer } from '../../base/server.ts';
import type { AttemptWith } from './attempt.ts';
import { createPasskeySignIn } from './passkey-sign-in.ts';
import { createPasswordSignIn } from './password-sign-in.ts';

/** A form of the sign-in page has a passkey's answer, or a name and a password. */
export function createAttempt(server: PagesServer): AttemptWith {
  const [withPasskey, withPassword] = [createPasskeySignIn(server), createPasswordSignIn(server)];
  return (ctx, form) =>
    ((form.get('passkey') ?? '') === '' ? withPassword : withPasskey)(ctx, form);
}
