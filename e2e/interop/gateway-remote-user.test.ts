/** @needs python3 radicale remote_user_buildbot.py remote_user_django.py */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { freePort } from '../parts/free-port.ts';
import { startProcess } from '../parts/process.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';
import type { Field } from '../clients/digest/exchange.ts';
import { type Client, connectTo, VERSIONS } from './gateway/client.ts';
import { basic, type GatewaySite, startGatewaySite } from './gateway/gateway-site.ts';
import { ALICE, JASON } from './site.ts';

/**
 * Applications that trust a field of their proxy for sign-in, with the settings of
 * docs/how-to/identity-fields.md.
 */
const parts = new AsyncDisposableStack();
let site: GatewaySite;
/** The URL of each application. */
const places: Record<string, string> = {};

beforeAll(async () => {
  await Promise.all([
    startRadicale(),
    startPython('django', new URL('../parts/applications/remote_user_django.py', import.meta.url)),
    startPython(
      'buildbot',
      new URL('../parts/applications/remote_user_buildbot.py', import.meta.url),
    ),
  ]);
  const upstream = (name: string) => ({ upstream: { url: `${places[name]}/` } });
  site = parts.use(
    await startGatewaySite({
      radicale: { ...upstream('radicale'), identity: { fields: { 'X-Remote-User': 'name' } } },
      django: { ...upstream('django'), identity: { fields: 'remote-user' } },
      buildbot: { ...upstream('buildbot'), identity: { fields: 'oauth2-proxy' } },
      open: { ...upstream('django'), schemes: [] },
    }),
  );
  const groups = ['--group', 'staff', '--group', 'Ops Team'];
  const email = ['--email', 'alice@example.com,verified'];
  await site.pair.cli('user', 'set', ALICE.name, ...groups, ...email);
});
afterAll(async () => parts.disposeAsync());

async function startRadicale(): Promise<void> {
  const folder = parts.use(await temporaryFolder()).path;
  const hosts = `127.0.0.1:${await freePort()}`;
  const config = {
    server: { hosts },
    auth: { type: 'http_x_remote_user' },
    rights: { type: 'owner_only' },
    storage: { filesystem_folder: join(folder, 'collections') },
    web: { type: 'none' },
  };
  const text = Object.entries(config).map(
    ([section, members]) =>
      `[${section}]\n${Object.entries(members)
        .map(([name, value]) => `${name} = ${value}`)
        .join('\n')}\n`,
  );
  const file = join(folder, 'config');
  await writeFile(file, text.join(''));
  places['radicale'] = `http://${hosts}`;
  const ready = async () => (await fetch(`http://${hosts}/`)).status > 0;
  parts.use(await startProcess('radicale', ['--config', file], { ready }));
}

async function startPython(name: string, { pathname }: URL): Promise<void> {
  const port = await freePort();
  places[name] = `http://127.0.0.1:${port}`;
  const ready = (output: string) => output.includes('listening');
  parts.use(await startProcess('/usr/bin/python3', [pathname, `${port}`], { ready }));
}

/** All fields in which a client could claim to be alice. */
const NAMES = [
  'X-Remote-User',
  'Remote-User',
  'Remote-Email',
  'Remote-Groups',
  'X-Forwarded-User',
  'X-Forwarded-Preferred-Username',
];
const FORGED: readonly Field[] = NAMES.flatMap((name) => [
  [name, ALICE.name] as const,
  [name.toUpperCase().replaceAll('-', '_'), ALICE.name] as const,
  [name.replaceAll('-', '_'), ALICE.name] as const,
]);
/** Jason's name as the applications get it: percent-encoded except for visible ASCII. */
const JASON_TOLD = encodeURIComponent(JASON.name);

/** A MKCOL body that makes a calendar (RFC 5689 section 3). */
const CALENDAR = `<?xml version="1.0"?>
<mkcol xmlns="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><set><prop>
<resourcetype><collection/><c:calendar/></resourcetype></prop></set></mkcol>`;

describe.each(VERSIONS)('%s', (version) => {
  let client: Client;
  beforeAll(() => {
    client = parts.use(connectTo(site.origin, version));
  });

  test('Radicale: a calendar belongs to its owner only, even if a client claims another name', async () => {
    const path = `/radicale/alice/book-${version.at(-1)}/`;
    const as = async (person: typeof ALICE, method: string, more: readonly Field[] = []) => {
      const content = method === 'MKCOL' ? CALENDAR : '';
      // WSGI applications read no content without Content-Length.
      const length = ['Content-Length', `${content.length}`] as const;
      const fields = [basic(person), ...more, length];
      return (await client.ask(path, { method, fields, content })).status;
    };
    expect(await as(JASON, 'MKCOL', FORGED)).toBe(403);
    expect(await as(ALICE, 'MKCOL')).toBe(201);
    expect(await as(ALICE, 'PROPFIND', FORGED)).toBe(207);
    expect(await as(JASON, 'PROPFIND', FORGED)).toBe(403);
    expect(await as(JASON, 'DELETE', FORGED)).toBe(403);
    expect(await as(ALICE, 'DELETE')).toBe(200);
  });

  test("Django gets the person's name, address and groups", async () => {
    const as = async (fields: readonly Field[], path = '/django/') =>
      JSON.parse(String((await client.ask(path, { fields })).content)) as object;
    expect(await as([basic()])).toEqual({
      user: 'alice',
      HTTP_REMOTE_EMAIL: 'alice@example.com',
      HTTP_REMOTE_GROUPS: 'staff,Ops%20Team',
    });
    const nothing = { HTTP_REMOTE_EMAIL: null, HTTP_REMOTE_GROUPS: null };
    expect(await as([basic(JASON), ...FORGED])).toEqual({ user: JASON_TOLD, ...nothing });
    expect(await as(FORGED, '/open/')).toEqual({ user: '', ...nothing });
  });

  test("Buildbot gets the person's name", async () => {
    const as = async (fields: readonly Field[]) => {
      const { status, content } = await client.ask('/buildbot/', { fields });
      return [status, String(content)];
    };
    expect(await as([basic(), ...FORGED])).toEqual([200, expect.stringContaining('"alice"')]);
    const [status, content = ''] = await as([basic(JASON), ...FORGED]);
    expect([status, JSON.parse(String(content))]).toEqual([
      200,
      { username: JASON_TOLD, email: JASON_TOLD },
    ]);
  });
});

test("without the gateway the applications trust any client's claim", async () => {
  const whole = { headers: { Remote_User: 'alice', 'X-Forwarded-Preferred-Username': 'alice' } };
  expect(await (await fetch(`${places['django']}/`, whole)).json()).toMatchObject({
    user: 'alice',
  });
  expect(await (await fetch(`${places['buildbot']}/`, whole)).json()).toMatchObject({
    username: 'alice',
  });
  const radicale = await fetch(`${places['radicale']}/alice/`, {
    method: 'PROPFIND',
    headers: { 'X-Remote-User': 'alice' },
  });
  expect(radicale.status).toBe(207);
});
