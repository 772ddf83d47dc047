import { expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { openDeviceFlow, pathOf, TV } from './device.fixture.ts';

test('the tokens of a device have the claims of the rules for its person', async () => {
  await using flow = await openDeviceFlow();
  await flow.authz.stores.clients.replace({
    ...TV,
    claim_rules: ['who=username', 'role="tv" if person "bob"', 'sub="root"'],
  });
  const device = await flow.askAsDevice();
  const browser = await flow.signedIn('alice');
  const page = await browser.open(pathOf(device));
  expect(page.text).toContain('who: alice');
  expect(page.text).not.toContain('role:');
  await browser.submit(page, { decision: 'allow' }, '/device');
  const { body } = await flow.poll(device);
  for (const token of [body['id_token'], body['access_token']]) {
    const claims = decodeJwt(String(token));
    expect(claims).toMatchObject({ who: 'alice', sub: flow.people.alice.id });
    expect(claims).not.toHaveProperty('role');
  }
});
