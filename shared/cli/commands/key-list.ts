import type { ApiKeyRecord } from '#shared/stores/api-keys.ts';
import type { Command } from '../command.ts';
import { columns } from '#shared/base/printable.ts';
import { withStores } from '../with-stores.ts';

export const keyList: Command = {
  name: 'key list',
  summary: 'list the API keys: whose, where they are good, when they end and were used last',
  run: (_, shell) =>
    withStores(shell, async ({ apiKeys }) => {
      const list = await apiKeys.list();
      const now = shell.clock.now();
      return {
        json: list.map(withoutHash),
        get lines() {
          if (list.length === 0) return ['There is no key yet.'];
          return columns(list.map((key) => row(key, now)));
        },
      };
    }),
};

const withoutHash = (key: ApiKeyRecord) => ({ ...key, secret_hash: undefined });

const minute = (time: number) => `${new Date(time).toISOString().slice(0, 16)}Z`;

const row = (
  { id, application, realm, scopes, expires_at, used_at, demo }: ApiKeyRecord,
  now: number,
) => [
  id,
  application,
  realm,
  scopes.join(' '),
  used_at === undefined ? 'never used' : `used ${minute(used_at)}`,
  expires_at === undefined ? '' : `${expires_at <= now ? 'ended' : 'ends'} ${minute(expires_at)}`,
  demo ? '(demo: refused in production)' : '',
];
