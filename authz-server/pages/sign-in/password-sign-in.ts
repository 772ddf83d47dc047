import { BY_PASSWORD } from '#shared/people/access/assurance.ts';
import { usernameCaseMapped } from '#shared/people/names/precis.ts';
import { bySomebody } from '../../base/acting.ts';
import type { PagesServer } from '../../base/server.ts';
import type { Attempt, AttemptWith } from './attempt.ts';
import { createAttemptLimits } from './attempt-limits.ts';
import { createSecondStep } from './second-step.ts';

/**
 * Checks `name` and `password` of a sign-in form. Attempts are paid for before anything is hashed, by the name that was
 * typed and whether or not there is such a person, so that neither the answer nor the work tells who exists. Only after
 * the right password a second step is asked for, where the person needs one.
 */
export function createPasswordSignIn(server: PagesServer): AttemptWith {
  const { limited } = createAttemptLimits(server);
  const secondStep = createSecondStep(server);
  return (ctx, form, least) => {
    if (form.has('step')) return secondStep.finish(ctx, form);
    const typed = form.get('name') ?? '';
    return limited(ctx, usernameCaseMapped(typed) ?? typed, async (turn): Promise<Attempt> => {
      const password = form.get('password') ?? '';
      const person = await server.directory.authenticate(typed, password, turn);
      if (person === undefined) {
        const named = await server.stores.people.getByName(usernameCaseMapped(typed) ?? '');
        await bySomebody(server, ctx).refused(named?.id, 'password');
        return { problem: { kind: 'wrong' } };
      }
      const step = await secondStep.begin(ctx, person, least);
      if (step === 'use-passkey') return { problem: { kind: 'use-passkey' } };
      return step ? { step } : { person, means: { assurance: BY_PASSWORD } };
    });
  };
}
