import { beforeEach, expect, test } from '@jest/globals';
import { ALICE, ORIGIN, OTHER, twoHobaProcesses } from './hoba.fixture.ts';
import { signedIn } from './signed-in.fixture.ts';

const ALICE_BY_PASSWORD = { person: ALICE.id, acr: 'urn:countersign:acr:password' } as const;

let all: Awaited<ReturnType<typeof twoHobaProcesses>>;
beforeEach(async () => {
  all = await twoHobaProcesses();
});

const invite = async () => {
  const invited = await signedIn(all.here.access, ALICE.id);
  const link = await all.here.invitations.invite(invited, ORIGIN);
  return { link, secret: new URL(link).hash.slice(1), signIn: invited.signIn };
};

test('RFC 7486 section 6.2.3: a link has 128 random bits in its fragment, which browsers send to no server', async () => {
  const { link, secret } = await invite();
  expect(link).toBe(`${ORIGIN}/.well-known/hoba/key#${secret}`);
  expect(Buffer.from(secret, 'base64url')).toHaveLength(16);
  expect((await invite()).secret).not.toBe(secret);
});

test('if ten requests at two processes redeem a link at the same time, only one of them succeeds', async () => {
  const { secret } = await invite();
  const { here, there } = all;
  const got = await Promise.all(
    Array.from({ length: 10 }, (_, n) => (n % 2 ? here : there).invitations.redeem(secret, ORIGIN)),
  );
  expect(got.filter((one) => one !== undefined)).toMatchObject([ALICE_BY_PASSWORD]);
});

test('a link is for one origin; opening it at another origin uses it up', async () => {
  const { secret } = await invite();
  await expect(all.there.invitations.redeem(secret, OTHER)).resolves.toBeUndefined();
  await expect(all.there.invitations.redeem(secret, ORIGIN)).resolves.toBeUndefined();
});

test('reading a link does not use it up', async () => {
  const { secret } = await invite();
  await expect(all.there.invitations.find(secret, ORIGIN)).resolves.toMatchObject(
    ALICE_BY_PASSWORD,
  );
  await expect(all.there.invitations.find(secret, OTHER)).resolves.toBeUndefined();
  await expect(all.here.invitations.redeem(secret, ORIGIN)).resolves.toMatchObject(
    ALICE_BY_PASSWORD,
  );
  await expect(all.there.invitations.find(secret, ORIGIN)).resolves.toBeUndefined();
});

test('a link is valid for ten minutes', async () => {
  const [early, late] = [await invite(), await invite()];
  all.clock.advance(599.999);
  await expect(all.here.invitations.redeem(early.secret, ORIGIN)).resolves.toMatchObject(
    ALICE_BY_PASSWORD,
  );
  all.clock.advance(0.001);
  await expect(all.here.invitations.redeem(late.secret, ORIGIN)).resolves.toBeUndefined();
});

test("ending all access of a person invalidates the person's links", async () => {
  const { secret } = await invite();
  await all.there.stores.revocations.raise('person', ALICE.id, all.clock.now() + 1000);
  await expect(all.here.invitations.redeem(secret, ORIGIN)).resolves.toBeUndefined();
});

test('a link is invalid after the end of the sign-in in which the person asked for it', async () => {
  const { secret, signIn } = await invite();
  await expect(all.there.invitations.find(secret, ORIGIN)).resolves.toMatchObject(
    ALICE_BY_PASSWORD,
  );
  await all.here.stores.artefacts.remove('SignIn', signIn);
  await expect(all.there.invitations.find(secret, ORIGIN)).resolves.toBeUndefined();
  await expect(all.there.invitations.redeem(secret, ORIGIN)).resolves.toBeUndefined();
});

test('other sessions of the store are not accepted as links', async () => {
  const id = await all.here.stores.sessions.put({ person: ALICE.id, origin: ORIGIN }, 600);
  for (const secret of [id, '', '__proto__']) {
    await expect(all.here.invitations.redeem(secret, ORIGIN)).resolves.toBeUndefined();
  }
});
