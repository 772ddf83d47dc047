import { describe, expect, test } from '@jest/globals';
import { aboutOf, lookUp } from './about.ts';
import { isAllowed } from './authorize.ts';
import { admit } from './admit.ts';
import { requestOf } from './auth.fixture.ts';
import { type About, ORIGIN, type Principal, type ProtectionSpace } from '../scheme.ts';

const allow = {
  groups: new Set(['staff', 'admins']),
  people: new Set(['p1']),
  clients: new Set(['backup']),
};
const about = (...groups: string[]): About => ({ name: 'alice', groups });
const person = (sub: string, known?: About): Principal => ({
  kind: 'person',
  realm: 'r',
  name: sub,
  claims: { sub },
  ...(known && { about: known }),
});

describe('people and applications that the list of a space allows', () => {
  test.each<[string, Principal, boolean]>([
    ['a person by id', person('p1'), true],
    ['a person by a group', person('p2', about('guests', 'staff')), true],
    ['a person of other groups', person('p2', about('guests', 'Staff', 'staff ')), false],
    ['a person without groups', person('p2', about()), false],
    ['a person of whom nothing is known', person('p2'), false],
    ['a person who has the id of an application', person('backup', about()), false],
    ['an application by id', { kind: 'application', id: 'backup' }, true],
    ['an application that has the id of a person', { kind: 'application', id: 'p1' }, false],
    ['an anonymous client', { kind: 'anonymous' }, false],
  ])('the list decides about %s', (_what, principal, may) => {
    expect(isAllowed(allow, principal)).toBe(may);
  });
});

describe('the data of the directory', () => {
  test.each([
    [undefined, undefined],
    [[], undefined],
    [[{ address: 'a@example.com', verified: true }], 'a@example.com'],
    [[{ address: 'a@example.com', verified: false }], undefined],
    [
      [
        { address: 'a@example.com', verified: false },
        { address: 'b@example.com', verified: true },
      ],
      undefined,
    ],
  ])(
    'the directory with the addresses %j gives %s, the primary address, if it is verified',
    (emails, email) => {
      expect(aboutOf({ name: 'n', profile: { ...(emails && { emails }) } }).email).toBe(email);
    },
  );
});

test.each([
  ['a person who may sign in', 'p1', { id: 'p1', name: 'alice' }, true],
  ['no person with that id', 'p2', undefined, false],
  ['a disabled person', 'p3', { id: 'p3', name: 'carol', disabled: true }, false],
  [
    'the person of the first start, in production',
    'p4',
    { id: 'p4', name: 'demo', demo: true },
    false,
  ],
] as const)('the directory knows %s', async (_what, id, record, may) => {
  const people = { get: async () => record && { created_at: 0, ...record } };
  const told = await lookUp(people as Parameters<typeof lookUp>[0], {
    demo: false,
    sources: new Set(),
  })(id);
  expect(told).toEqual(may ? { name: 'alice', groups: [] } : undefined);
});

describe("a space whose list needs the directory's data about people", () => {
  const space = (more: Partial<ProtectionSpace>, known?: About): ProtectionSpace => ({
    at: ORIGIN,
    realm: 'r',
    schemes: [
      {
        name: 'Bearer',
        challenge: () => [],
        authenticate: () => ({ kind: 'granted', principal: person('p2') }),
      },
    ],
    scopes: () => [],
    about: async () => known,
    ...more,
  });
  const request = requestOf([['Authorization', 'Bearer x']]);

  test('the directory describes every person, with any scheme, and the space admits the allowed people', async () => {
    const { outcome } = await admit(space({ allow }, about('staff')), request);
    expect(outcome).toMatchObject({ kind: 'pass', principal: { about: { groups: ['staff'] } } });
  });

  test('people who are not on the list get 403, which names no scope', async () => {
    const { outcome, noted } = await admit(space({ allow }, about('guests')), request);
    expect(outcome).toMatchObject({ kind: 'answer', status: 403, fields: {} });
    expect(noted).toMatchObject({ verdict: 'refused', subject: 'p2' });
  });

  test('a removed person gets 403, or 404 if the space hides', async () => {
    expect((await admit(space({}), request)).outcome).toMatchObject({ status: 403 });
    const hiding = space({ hide: 'forbidden', allow }, about());
    expect((await admit(hiding, request)).outcome).toMatchObject({ status: 404 });
  });

  test('the refusal names the person, so that a browser can show who is signed in', async () => {
    const { outcome } = await admit(space({ allow }, about('guests')), request);
    expect(outcome).toMatchObject({ about: { name: 'alice', groups: ['guests'] } });
    const unasked = await admit({ ...space({}), scopes: () => ['a'] }, request);
    expect(unasked.outcome).not.toHaveProperty('about');
  });

  test('wrong credentials are refused as usual, without a request to the directory', async () => {
    const wrong = { kind: 'refused', refusal: 'other-scheme', reason: 'wrong' } as const;
    const refusing = space({
      schemes: [
        { name: 'Bearer', challenge: () => [{ scheme: 'Bearer' }], authenticate: () => wrong },
      ],
      about: () => Promise.reject(new Error('looked up')),
    });
    expect((await admit(refusing, request)).outcome).toMatchObject({
      status: 401,
      reason: 'wrong',
    });
  });

  test.each<[string, string, Principal]>([
    ['names no people or groups', 'allow', person('p1')],
    ['does not ask the directory', 'about', person('p1')],
    ['lets in an application', '', { kind: 'application', id: 'backup' }],
  ])(
    'a pass has no grounds that could end it if the space %s',
    async (_what, without, principal) => {
      const scheme = {
        name: 'Bearer',
        challenge: () => [],
        authenticate: () => ({ kind: 'granted', principal }) as const,
      };
      const asking = space({ allow, schemes: [scheme] }, about('staff'));
      const members = Object.entries(asking).filter(([name]) => name !== without);
      const { outcome } = await admit(Object.fromEntries(members) as typeof asking, request);
      expect(outcome).toMatchObject({ kind: 'pass' });
      expect(outcome).not.toHaveProperty('grounds');
    },
  );

  test("removing a person from the group ends the person's open connection", async () => {
    let groups = ['staff'];
    const changing = space({ allow, about: async () => about(...groups) });
    const { outcome } = await admit(changing, request);
    const [ground] = outcome.kind === 'pass' ? (outcome.grounds ?? []) : [];
    expect(await ground?.end()).toBeUndefined();
    groups = [];
    expect(await ground?.end()).toBe('revoked');
  });

  test('spaces of one realm at two origins ask the directory for their own lists', async () => {
    const lists = [allow, { ...allow, groups: new Set(['guests']) }];
    const names: (string | undefined)[] = [];
    for (const list of [...lists, ...lists]) {
      const at = space({ allow: list }, about('guests', 'staff'));
      const { outcome } = await admit(at, request);
      names.push(outcome.kind === 'pass' ? outcome.grounds?.[0]?.of : undefined);
    }
    expect(names.slice(2)).toEqual(names.slice(0, 2));
    expect(new Set(names).size).toBe(2);
  });
});
