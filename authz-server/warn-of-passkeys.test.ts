import { expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { jsonLog } from '#shared/base/log.ts';
import { configSchema } from '#shared/config/schema.ts';
import { testPeople } from '#shared/people/directory.fixture.ts';
import { somePasskey } from '#shared/stores/contract/samples.ts';
import { warnOfPasskeys } from './compose.ts';

test('the start warns only of passkeys for another domain', async () => {
  const { stores } = await testPeople();
  const lines: string[] = [];
  const log = jsonLog((line) => void lines.push(line), new ManualClock(), 'authz');
  const config = configSchema.parse({ issuer: 'https://new.example' });
  const start = () => warnOfPasskeys({ config, stores, log });
  await stores.passkeys.add({ ...somePasskey('one'), rpId: 'new.example' }, 1);
  await start();
  expect(lines).toEqual([]);
  await stores.passkeys.add({ ...somePasskey('two'), rpId: 'old.example' }, 1);
  await start();
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      time: expect.any(String),
      level: 'warn',
      server: 'authz',
      event: 'passkeys.other-domain',
      reason: expect.stringMatching(
        /^people\.passkeys\.rpId is new\.example, and people have passkeys for old\.example \(1\)/,
      ),
    },
  ]);
});
