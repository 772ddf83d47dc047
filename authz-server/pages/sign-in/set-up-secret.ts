import { hash } from 'node:crypto';
import type { Context } from 'koa';
import { seal, unseal } from '#shared/keys/seal.ts';
import { newSecret } from '#shared/people/second-factor/second-factor.ts';
import type { PagesServer } from '../../base/server.ts';
import { createCsrf } from '../frame/csrf.ts';
import { STEP, type StepState } from './step-state.ts';

const PURPOSE = 'second factor that is being set up';

/**
 * Returns the secret (in base64url) of a set-up in this browser. A page that is loaded again within the time of a step
 * shows the same one, since an app may have it already. A new generation of the person, such as after a new password,
 * leads to another secret.
 */
export function createSetUpSecret(
  server: Pick<PagesServer, 'config' | 'master' | 'random' | 'clock' | 'stores'>,
) {
  const { master, random } = server;
  const { sessions } = server.stores;
  const { browserSecret } = createCsrf(server);
  return async (
    ctx: Context,
    {
      accountId,
      generation,
      replaces = '',
    }: Pick<StepState, 'accountId' | 'generation' | 'replaces'>,
  ): Promise<string> => {
    const named = JSON.stringify([browserSecret(ctx), accountId, generation, replaces]);
    const id = `second factor:${hash('sha256', named, 'base64url')}`;
    const kept = await sessions.get(id);
    if (typeof kept === 'string') return unseal(master, PURPOSE, kept);
    const secret = newSecret(random).toString('base64url');
    await sessions.put(seal(master, PURPOSE, secret, random), STEP, id);
    return secret;
  };
}
