import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { systemRandom } from '#shared/base/random.ts';
import { createRecoveryLinks } from '#shared/people/recovery-links.ts';
import { somePasskey, someSecondFactor } from '#shared/stores/contract/samples.ts';
import { openDeviceFlow, PASSWORD, type DeviceFlow } from '../device/device.fixture.ts';

const NEW = 'another horse, another battery';

let flow: DeviceFlow;
beforeEach(async () => {
  flow = await openDeviceFlow({ mail: { host: 'mail.invalid', from: 'accounts@example.com' } });
});
afterEach(async () => flow[Symbol.asyncDispose]());

/** The kinds of messages that wait for alice. */
const waiting = async () =>
  (await flow.authz.stores.outbox.take(flow.clock.now(), flow.clock.now() + 1, 100))
    .filter(({ accountId }) => accountId === flow.people.alice.id)
    .map(({ kind }) => kind)
    .toSorted((a, b) => a.localeCompare(b));

test('a changed password; a refused one is no news', async () => {
  const browser = await flow.signedIn('alice');
  const path = '/account/password';
  for (const current of ['wrong', PASSWORD]) {
    await browser.send(await browser.open(path), { current, password: NEW }, path);
  }
  expect(await waiting()).toEqual(['password-changed']);
});

test('a link that removes the second factor', async () => {
  const { stores } = flow.authz;
  const { id } = flow.people.alice;
  await stores.secondFactors.add(someSecondFactor(id));
  const links = createRecoveryLinks({ stores, random: systemRandom });
  const recovery = { person: id, purpose: 'recovery', secondFactor: true } as const;
  const path = `/recover/${await links.make(recovery)}`;
  const browser = flow.browser();
  await browser.send(await browser.open(path), { password: NEW }, path);
  expect(await waiting()).toEqual(['password-changed', 'second-factor-removed']);
});

test('a passkey that is removed; one that is not there is no news', async () => {
  const { id } = flow.people.alice;
  await flow.authz.stores.passkeys.add({ ...somePasskey('theirs'), accountId: id }, 10);
  const browser = await flow.signedIn('alice');
  const path = '/account/passkeys';
  for (const one of ['theirs', 'theirs']) {
    await browser.send(await browser.open(path), { do: 'removed', id: one }, path);
  }
  expect(await waiting()).toEqual(['passkey-removed']);
});
