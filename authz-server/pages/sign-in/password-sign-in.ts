import { BY_PASSWORD } from '#shared/people/access/assurance.ts';
import { usernameCaseMapped } from '#shared/people/names/precis.ts';
import type { PagesServer } from '../../base/server.ts';
import type { AttemptWith } from './attempt.ts';
import { createAttemptLimits } from './attempt-limits.ts';

/**
 * Checks `name` and `password` of a sign-in form. Attempts are paid for before anything is hashed, by the name that was
 * typed and whether or not there is such a person, so that neither the answer nor the work tells who exists.
 */
export function createPasswordSignIn(server: PagesServer): AttemptWith {
  const { limited } = createAttemptLimits(server);
  return (ctx, form) => {
    const typed = form.get('name') ?? '';
    return limited(ctx, usernameCaseMapped(typed) ?? typed, async () => {
      const person = await server.directory.authenticate(typed, form.get('password') ?? '');
      if (person === undefined) return { problem: { kind: 'wrong' } };
      return { person, means: { assurance: BY_PASSWORD } };
    });
  };
}
