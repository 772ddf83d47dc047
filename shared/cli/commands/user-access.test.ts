import { expect, test } from '@jest/globals';
import { BY_PASSWORD } from '#shared/people/access/assurance.ts';
import { listConsents, recordConsent } from '#shared/people/access/consents.ts';
import { listAccess, recordAccess } from '#shared/people/access/grants.ts';
import { listSignIns, recordSignIn } from '#shared/people/access/sign-ins.ts';
import type { PeopleStore } from '#shared/people/people.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { withPeople } from '../stores/with-people.ts';

const PASSWORD = 'correct horse battery staple';
const AGENT = 'Mozilla/5.0 \u001b[2J';

/** alice and bob; alice has two sessions, and has allowed an application in a browser and on a device. */
async function opened() {
  const shell = new TestShell(await newData());
  const ids: string[] = [];
  for (const name of ['alice', 'bob']) {
    shell.stdin = PASSWORD;
    const added = await json(shell, 'user', 'add', name, '--password-stdin');
    ids.push((added as { id: string }).id);
  }
  const [accountId = ''] = ids;
  const since = shell.clock.now();
  await withPeople(shell, async (store) => {
    for (const uid of ['here', 'there']) {
      const from = { address: '192.0.2.1', agent: AGENT };
      const signIn = { uid, accountId, generation: 0, since, assurance: BY_PASSWORD, ...from };
      await recordSignIn(store, signIn, 1000);
    }
    const access = { accountId, clientId: 'app', generation: 0, clientGeneration: 0, since };
    const inBrowser = { ...access, grantId: 'in-browser', signIn: 'here', browser: {} };
    const onDevice = { ...access, grantId: 'on-device', device: { address: '192.0.2.9' } };
    for (const one of [inBrowser, onDevice]) {
      const openid = { scope: 'openid' };
      const payload = { accountId, openid };
      await store.stores.artefacts.put({ kind: 'Grant', id: one.grantId, payload, seconds: 1000 });
      await recordAccess(store, one, 1000);
    }
    const consent = {
      accountId,
      clientId: 'app',
      redirectHost: 'app.example',
      generation: 0,
      since,
      allowed: { '': ['openid'] },
      refused: { '': ['email'] },
    };
    await recordConsent(store, consent, { scope: 'openid email' }, 1000);
  });
  const left = () =>
    withPeople(shell, async (store: PeopleStore) => ({
      signIns: (await listSignIns(store, accountId)).map(({ uid }) => uid).toSorted(),
      grants: (await listAccess(store, accountId)).map(({ grantId }) => grantId).toSorted(),
      consents: (await listConsents(store, accountId)).length,
    }));
  const end = (...args: readonly string[]) => inProcess(shell, 'user', 'end', ...args);
  return { shell, accountId, left, end };
}

const ALL = { signIns: ['here', 'there'], grants: ['in-browser', 'on-device'], consents: 1 };

test('user access shows sessions, grants and consents, without control characters', async () => {
  const { shell, accountId } = await opened();
  const listed = await json(shell, 'user', 'access', 'alice');
  expect(listed).toMatchObject({
    id: accountId,
    name: 'alice',
    sign_ins: [
      { id: expect.stringMatching(/^t?here$/), address: '192.0.2.1', agent: AGENT },
      { id: expect.stringMatching(/^t?here$/) },
    ],
    consents: [
      {
        client_id: 'app',
        redirect_host: 'app.example',
        allowed: { '': ['openid'] },
        refused: { '': ['email'] },
      },
    ],
  });
  const { grants } = listed as { grants: readonly { readonly id: string }[] };
  expect(grants.toSorted((a, b) => a.id.localeCompare(b.id))).toMatchObject([
    { id: 'in-browser', client_id: 'app', scopes: { '': ['openid'] }, sign_in: 'here' },
    { id: 'on-device', device: { address: '192.0.2.9' } },
  ]);
  const { stdout } = await inProcess(shell, 'user', 'access', 'alice');
  expect(stdout).not.toContain('\u001b');
  for (const start of [
    /^sign-in  there /m,
    /^grant  +on-device +app  \(removed\) /m,
    /^consent  app /m,
  ]) {
    expect(stdout).toMatch(start);
  }
  expect((await inProcess(shell, 'user', 'access', 'bob')).stdout).toBe(
    'Nothing is open in the name of bob.\n',
  );
});

test.each([
  ['--grant', 'on-device', { ...ALL, grants: ['in-browser'] }],
  ['--grant', 'in-browser', { ...ALL, grants: ['on-device'] }],
  ['--sign-in', 'here', { ...ALL, signIns: ['there'], grants: ['on-device'] }],
  ['--sign-in', 'there', { ...ALL, signIns: ['here'] }],
  ['--client', 'app', { ...ALL, grants: [], consents: 0 }],
])('user end %s %s revokes only that, once', async (option, id, rest) => {
  const { end, left, accountId, shell } = await opened();
  expect(await json(shell, 'user', 'end', 'alice', option, id)).toEqual({
    id: accountId,
    name: 'alice',
    [option.slice(2).replace('-', '_')]: id,
    ended: true,
  });
  expect(await left()).toEqual(rest);
  const { code, stderr } = await end('alice', option, id);
  expect([code, stderr]).toEqual([
    1,
    `alice has no ${option.slice(2)} ${id}: see user access alice\n`,
  ]);
});

test.each([
  ['of another person', 1, ['bob', '--grant', 'on-device']],
  ['a browser of another person', 1, ['bob', '--sign-in', 'here']],
  ['an application of another person', 1, ['bob', '--client', 'app']],
  ['a grant that is a sign-in', 1, ['alice', '--grant', 'here']],
  ['an inherited name', 1, ['alice', '--grant', '__proto__']],
  ['nothing', 2, ['alice', '--client', '']],
  ['two at once', 2, ['alice', '--grant', 'on-device', '--sign-in', 'here']],
])('user end of %s: exit code %i, and nothing is revoked', async (_what, expected, args) => {
  const { end, left } = await opened();
  expect((await end(...args)).code).toBe(expected);
  expect(await left()).toEqual(ALL);
});
