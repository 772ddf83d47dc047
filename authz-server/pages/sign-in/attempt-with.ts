import type { PagesServer } from '../../base/server.ts';
import type { AttemptWith } from './attempt.ts';
import { createLastWay } from './last-way.ts';
import { createPasskeySignIn } from './passkey-sign-in.ts';
import { createPasswordSignIn } from './password-sign-in.ts';

/** A form of the sign-in page has a passkey's answer, or a name and a password. */
export function createAttempt(server: PagesServer): AttemptWith {
  const [withPasskey, withPassword] = [createPasskeySignIn(server), createPasswordSignIn(server)];
  const { remember } = createLastWay(server);
  return async (ctx, form) => {
    const way = (form.get('passkey') ?? '') === '' ? 'password' : 'passkey';
    const attempt = await (way === 'passkey' ? withPasskey : withPassword)(ctx, form);
    if ('person' in attempt) remember(ctx, way);
    return attempt;
  };
}
