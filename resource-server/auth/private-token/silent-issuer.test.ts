/** @slow */
import { expect, test } from '@jest/globals';
import { requestOf } from '#shared/auth/judge/auth.fixture.ts';
import { schemeOf, spaceOf } from '#shared/auth/judge/judge.fixture.ts';
import { judge } from '#shared/auth/judge/judge.ts';
import { privateToken } from '#shared/auth/schemes/private-token/private-token.ts';
import { serverNameOf } from '#shared/private-token/server-name.ts';
import { BLIND_RSA } from '#shared/private-token/token-types.ts';
import { directoryOf, startIssuer, trusting } from './issuer.fixture.ts';
import { rsaKey, setup } from './open-issuers.fixture.ts';
import { openIssuers } from './open-issuers.ts';
import type { Send } from '#shared/client/send.ts';

test('RFC 9110 section 11.6.1: a silent issuer does not delay Basic in the same space', async () => {
  await using parties = await setup();
  const { stores, clock } = parties.options;
  const other = parties.use(await startIssuer(() => {}));
  // The first attempt soon times out, and later attempts never do. So a request that waited for one would hang.
  const [brief, patient] = [trusting(500), trusting(600_000)];
  let attempts = 0;
  const send: Send = (message) => ((attempts += 1) === 1 ? brief(message) : patient(message));
  const issuer = openIssuers({ ...parties.options, send })(serverNameOf(other.origin));
  const scheme = privateToken({
    space: { url: 'https://rs.example/a/', types: [BLIND_RSA], origins: [] },
    issuer,
    spent: stores.spentTokens,
    limits: stores.limits,
    rate: { burst: 100, per: 1 },
    windowSecret: Buffer.alloc(32, 1),
    addressSecret: Buffer.alloc(32, 2),
    memory: async () => 'first',
    clock,
  });
  const space = spaceOf([schemeOf('Basic'), scheme]);
  const asked = async () => {
    const outcome = await judge(space, requestOf());
    if (outcome.kind !== 'answer') throw new Error('no answer');
    const { 'WWW-Authenticate': challenges = [] } = outcome.fields;
    return [outcome.status, [challenges].flat().length];
  };

  expect(await asked()).toEqual([401, 1]);
  for (let second = 0; second < 10; second += 1) {
    clock.advance(1);
    expect(await asked()).toEqual([401, 1]);
  }
  expect(attempts).toBe(2);
  while (other.asked.length < 2) await new Promise((resolve) => setImmediate(resolve));

  // The issuer answers again: the running attempt fails, and the next one succeeds a second later.
  other.answers = directoryOf([{ ...rsaKey, notBefore: parties.notBefore }]);
  other.dropAll();
  while (parties.lines.length < 2) await new Promise((resolve) => setImmediate(resolve));
  clock.advance(1);
  expect(await asked()).toEqual([401, 1]);
  while ((await asked())[1] === 1) await new Promise((resolve) => setImmediate(resolve));
  expect(attempts).toBe(3);
});
