import type { ApiKeyRecord } from '#shared/stores/credentials/api-keys.ts';
import type { PublicKeyRecord, PublicKeys } from '#shared/stores/credentials/public-keys.ts';
import type { Command } from '../arguments/command.ts';
import { lastUse, minute } from '../lines/last-use.ts';
import { table } from '../lines/table.ts';
import { withStores } from '../stores/with-stores.ts';

export const keyList: Command = {
  name: 'key list',
  store: 'opens',
  summary: 'list the keys of applications: owner, realm, expiry and last use',
  run: (_, shell) =>
    withStores(shell, async ({ apiKeys, publicKeys }) => {
      const list = await apiKeys.list();
      const concealed = await ofApplications(publicKeys);
      const now = shell.clock.now();
      return {
        json: [...list.map(withoutHash), ...concealed.map(shown)],
        get lines() {
          if (list.length + concealed.length === 0) return ['There is no key yet.'];
          return table(HEADINGS, [
            ...list.map((key) => row(key, now)),
            ...concealed.map(concealedRow),
          ]);
        },
      };
    }),
};

async function ofApplications(publicKeys: PublicKeys): Promise<PublicKeyRecord[]> {
  const found: PublicKeyRecord[] = [];
  for await (const slice of publicKeys.list()) {
    found.push(...slice.filter(({ owner }) => owner.kind === 'application'));
  }
  return found;
}

const withoutHash = (key: ApiKeyRecord) => ({ ...key, secret_hash: undefined });

const shown = ({ id, owner, scheme, name, created_at, used_at }: PublicKeyRecord) => ({
  id,
  application: owner.id,
  scheme,
  name,
  created_at,
  used_at,
});

const HEADINGS = ['id', 'application', 'realm', 'scopes', 'last use', 'end', ''];

const row = (
  { id, application, realm, scopes, expires_at, used_at, demo }: ApiKeyRecord,
  now: number,
) => [
  id,
  application,
  realm,
  scopes.join(' '),
  lastUse(used_at),
  expires_at === undefined ? '' : `${expires_at <= now ? 'ended' : 'ends'} ${minute(expires_at)}`,
  demo ? '(demo: refused in production)' : '',
];

const concealedRow = ({ id, owner, scheme, name, used_at }: PublicKeyRecord) => [
  id,
  owner.id,
  '',
  '',
  lastUse(used_at),
  '',
  `(${scheme}: ${name})`,
];
