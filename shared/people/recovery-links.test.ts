import { beforeEach, expect, test } from '@jest/globals';
import type { ManualClock } from '#shared/base/clock.ts';
import { testPeople } from './directory.fixture.ts';
import { changePassword } from './change-password.ts';
import { addPerson } from './people.ts';
import { createRecoveryLinks, type Recovery, type RecoveryLinks } from './recovery-links.ts';

const OF_ALICE: Recovery = { person: 'a1', purpose: 'recovery' };

type People = Awaited<ReturnType<typeof testPeople>>;

let here: People;
let links: RecoveryLinks;
let elsewhere: RecoveryLinks;
beforeEach(async () => {
  here = await testPeople();
  links = createRecoveryLinks({ ...here.store, stores: here.stores });
  const there = await testPeople(here.data);
  elsewhere = createRecoveryLinks({ ...there.store, stores: there.stores });
});

test('a link has 128 random bits, and the store has only their hash', async () => {
  const secret = await links.make(OF_ALICE);
  expect(Buffer.from(secret, 'base64url')).toHaveLength(16);
  expect(await links.make(OF_ALICE)).not.toBe(secret);
});

test('finding a link does not use it up', async () => {
  const recovery = { ...OF_ALICE, secondFactor: true };
  const secret = await links.make(recovery);
  expect(await elsewhere.find(secret)).toEqual(recovery);
  expect(await links.redeem(secret)).toEqual(recovery);
  expect(await elsewhere.find(secret)).toBeUndefined();
});

test('one of ten redemptions at the same time over two openings of the store succeeds', async () => {
  const secret = await links.make(OF_ALICE);
  const got = await Promise.all(
    Array.from({ length: 10 }, (_, n) => (n % 2 ? links : elsewhere).redeem(secret)),
  );
  expect(got.filter((one) => one !== undefined)).toEqual([OF_ALICE]);
});

test('a link is valid for 15 minutes', async () => {
  const clock = here.store.clock as ManualClock;
  const secret = await links.make(OF_ALICE);
  clock.advance(899.999);
  expect(await links.find(secret)).toEqual(OF_ALICE);
  clock.advance(0.001);
  expect(await links.find(secret)).toBeUndefined();
  expect(await links.redeem(secret)).toBeUndefined();
});

test('a new link replaces the last link of the same person only', async () => {
  const ofBob = await links.make({ person: 'b1', purpose: 'invitation' });
  const first = await links.make(OF_ALICE);
  const second = await elsewhere.make({ ...OF_ALICE, purpose: 'invitation' });
  expect(await links.find(first)).toBeUndefined();
  expect(await links.redeem(first)).toBeUndefined();
  expect(await links.redeem(second)).toMatchObject({ person: 'a1', purpose: 'invitation' });
  expect(await links.find(ofBob)).toMatchObject({ person: 'b1' });
});

test("a link by mail, which anybody may request, does not replace an operator's link", async () => {
  const operators = { ...OF_ALICE, secondFactor: true };
  const secret = await links.make(operators);
  const byMail = await links.make({ ...OF_ALICE, byMail: true });
  expect(await links.find(secret)).toEqual(operators);
  const next = await links.make({ ...OF_ALICE, byMail: true });
  expect(await links.find(byMail)).toBeUndefined();
  expect(await links.redeem(next)).toEqual({ ...OF_ALICE, byMail: true });
});

test('ending all access of the person ends the link', async () => {
  const secret = await links.make(OF_ALICE);
  await here.stores.revocations.raise('person', 'a1', here.store.clock.now() + 1000);
  expect(await elsewhere.find(secret)).toBeUndefined();
  expect(await elsewhere.redeem(secret)).toBeUndefined();
});

test('other artefacts of the store, and ids of records, are not accepted as links', async () => {
  const secret = await links.make(OF_ALICE);
  const id = 'of an interaction';
  const payload = { ...OF_ALICE, generation: 0, uid: id };
  await here.stores.artefacts.put({ kind: 'Session', id, payload, seconds: 600 });
  for (const wrong of [id, '', '__proto__', `recovery:${secret}`, secret.toUpperCase()]) {
    expect(await links.find(wrong)).toBeUndefined();
    expect(await links.redeem(wrong)).toBeUndefined();
  }
  expect(await links.find(secret)).toEqual(OF_ALICE);
});

test('a new password ends the link, even if no other access ends', async () => {
  const seen = await addPerson(here.store, { name: 'alice', password: 'a first long password' });
  const secret = await links.make({ person: seen.id, purpose: 'recovery' });
  expect(await elsewhere.find(secret)).toMatchObject({ person: seen.id });
  await changePassword(here.store, seen, 'a second long password');
  expect(await here.stores.revocations.generation('person', seen.id)).toBe(0);
  expect(await elsewhere.find(secret)).toBeUndefined();
  expect(await links.redeem(secret)).toBeUndefined();
});
