import type { ApiKeyRecord } from '#shared/stores/credentials/api-keys.ts';
import { type Command, Failure } from '../arguments/command.ts';
import { expiresAt, expiresOption } from '../arguments/expires-option.ts';
import { addKey, keyLines } from '../clients/new-key.ts';
import { overlapFrom, overlapOption } from '../arguments/overlap-option.ts';
import { withStores } from '../stores/with-stores.ts';

export const keyRotate: Command = {
  name: 'key rotate',
  store: 'opens',
  summary:
    'replace an API key; prints the new one (only this once); the old one stays valid for a while',
  operands: ['ID'],
  options: {
    ...overlapOption('key'),
    ...expiresOption('as long as the old one was made for'),
  },
  details: ['The new key has the same application, realm and scopes.'],
  run: (input, shell) =>
    withStores(shell, async ({ apiKeys }) => {
      const [id = ''] = input.operands;
      const overlap = overlapFrom(input);
      const now = shell.clock.now();
      const old = await apiKeys.get(id);
      if (old === undefined) throw new Failure(`there is no key ${id}`);
      const { application, realm, scopes, demo } = old;
      const expires_at = expiresAt(input, shell.clock) ?? sameLife(old, now);
      const key = await addKey(apiKeys, shell, {
        application,
        realm,
        scopes,
        ...(expires_at !== undefined && { expires_at }),
        ...(demo && { demo }),
      });
      if (!(await apiKeys.expire(id, now + 1000 * overlap))) {
        await apiKeys.remove(key.id);
        throw new Failure(`the key ${id} was removed meanwhile`);
      }
      return {
        json: key,
        lines: [...keyLines(key), `The key ${id} ends ${overlap} seconds from now at the latest.`],
      };
    }),
};

/** When a key ends that is made now for as long as the old one was; a rotation shortens that. */
function sameLife({ created_at, expires_at }: ApiKeyRecord, now: number): number | undefined {
  return expires_at === undefined ? undefined : now + expires_at - created_at;
}
