import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  CONFUSED,
  INNER,
  LEADING_OUT,
  OUTSIDE,
  PASSING,
  PASSING_ALONE,
} from './confused-paths.fixture.ts';
import { startApplication } from './gateway.fixture.ts';
import type { Reply } from '#shared/server/wire/ask.fixture.ts';
import {
  RESOURCE,
  startResourceServer,
  type TestResourceServer,
} from './resource-server.fixture.ts';

const WITHIN = ['admin', '%C3%A9tage', 'Admin%20Panel', 'What%3F'];
const SCOPES = { scopes: { safe: ['read'], unsafe: ['read'] } };

/** A space that admits tokens, or everybody if `open`, with inner spaces that need tokens of their own. */
const spacesOf = (url: string, more: object, open = false) => [
  { url, realm: url, schemes: open ? [] : ['Bearer'], ...(!open && SCOPES), ...more },
  ...WITHIN.map((path) =>
    Object.assign({ url: `${url}${path}/`, realm: url + path, schemes: ['Bearer'] }, SCOPES, more),
  ),
];

const parts = new AsyncDisposableStack();
let rs: TestResourceServer;
beforeAll(async () => {
  const { url } = parts.use(await startApplication());
  const passed = { serves: 'upstream', upstream: { url, webSockets: {} } };
  rs = parts.use(
    await startResourceServer({
      spaces: [
        ...spacesOf(`${RESOURCE}/wiki/`, passed),
        ...spacesOf(`${RESOURCE}/open/`, { ...passed, cache: {} }, true),
        ...spacesOf('https://app.example/', { serves: 'verify' }),
        ...spacesOf(`${RESOURCE}/alone/`, passed).slice(0, 1),
        ...spacesOf('https://alone.example/', { serves: 'verify' }).slice(0, 1),
        ...spacesOf(`${RESOURCE}/documents/`, {}),
      ],
    }),
  );
});
afterAll(() => parts.disposeAsync());

const bearer = (aud: string) => ({ Authorization: `Bearer ${rs.token('read', { aud })}` });

const at =
  (name: string, more: object = {}) =>
  (path: string) =>
    rs.ask('GET', `/${name}${path}`, {
      headers: { ...(name !== 'open' && bearer(`${RESOURCE}/${name}/`)), ...more },
    });

const told = (endpoint: string, host: string) => (path: string) =>
  rs.ask('GET', endpoint, {
    headers: {
      ...bearer(`https://${host}/`),
      'X-Forwarded-Method': 'GET',
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-Host': host,
      'X-Forwarded-Uri': path,
    },
  });

const HANDSHAKE = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
};

/** Each interface: its name, how to request a path, and its statuses for refused and passed requests. */
const DOORS = [
  ['gateway', at('wiki'), { refused: 400, passed: 200 }],
  ['gateway, WebSocket', at('wiki', HANDSHAKE), { refused: 400, passed: 200 }],
  ['gateway with a cache, open', at('open'), { refused: 400, passed: 200 }],
  ['/verify', told('/verify', 'app.example'), { refused: 403, passed: 204 }],
  ['/verify/browser', told('/verify/browser', 'app.example'), { refused: 403, passed: 204 }],
] as const;

/** The interfaces for a space without inner spaces. */
const DOORS_ALONE = [
  ['gateway', at('alone'), { refused: 400, passed: 200 }],
  ['/verify', told('/verify', 'alone.example'), { refused: 403, passed: 204 }],
  ['/verify/browser', told('/verify/browser', 'alone.example'), { refused: 403, passed: 204 }],
] as const;

type Ask = (path: string) => Promise<Reply>;

const statuses = async (doors: readonly (readonly [string, Ask, ...unknown[]])[], path: string) =>
  Object.fromEntries(
    await Promise.all(doors.map(async ([name, ask]) => [name, (await ask(path)).status] as const)),
  );

const each = (of: (door: (typeof DOORS)[number][2]) => number) =>
  Object.fromEntries(DOORS.map(([name, , door]) => [name, of(door)]));

describe('a path that servers read differently is refused by the gateway and /verify, if another space lies within', () => {
  test.each([...CONFUSED, ...LEADING_OUT])('the path %s is refused', async (path) => {
    expect(await statuses(DOORS, path)).toEqual(each(({ refused }) => refused));
  });

  test.each(LEADING_OUT)(
    'the path %s leads out of the space, and is refused even without an inner space',
    async (path) => {
      const refused = Object.fromEntries(DOORS_ALONE.map(([name, , door]) => [name, door.refused]));
      expect(await statuses(DOORS_ALONE, path)).toEqual(refused);
    },
  );
});

describe('a path of the inner space needs its credentials in any encoding', () => {
  test.each(INNER)('the path %s of the inner space is 401', async (path) => {
    expect(await statuses(DOORS, path)).toEqual(each(() => 401));
  });
});

describe('a path that no server reads as a path of another space is accepted', () => {
  test.each(PASSING)('the path %s is passed on', async (path) => {
    expect(await statuses(DOORS, path)).toEqual(each(({ passed }) => passed));
  });

  test.each([...PASSING, ...PASSING_ALONE])(
    'the path %s is passed on if the space has no inner space',
    async (path) => {
      const passed = Object.fromEntries(DOORS_ALONE.map(([name, , door]) => [name, door.passed]));
      expect(await statuses(DOORS_ALONE, path)).toEqual(passed);
    },
  );
});

test.each(OUTSIDE)('the path %s is outside the space, or refused as ambiguous', async (path) => {
  for (const [, ask] of DOORS) expect([400, 403, 404]).toContain((await ask(path)).status);
});

test('paths of documents have one reading: names that differ in case are two documents', async () => {
  for (const path of ['/ADMIN/x', '/What%3Fx', '/admin;x', '/adm%C4%B1n']) {
    expect([path, (await at('documents')(path)).status]).toEqual([path, 404]);
  }
});

test('X-Forwarded-Uri must be a path, never a URL (RFC 9112 section 3.2.1)', async () => {
  for (const uri of [
    'https://app.example/x',
    'http://app.example/admin/',
    '//app.example/x',
    '*',
  ]) {
    expect((await told('/verify', 'app.example')(uri)).status).toBe(403);
  }
});
