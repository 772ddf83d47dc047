/** The SDKs of the Model Context Protocol, from the bare URL of an MCP server to its tools. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { copyFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  jest,
  test,
} from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { installResource } from '../../clients/guard/install.ts';
import { decide, signIn, title } from '../../flows/browser.fixture.ts';
import type { Person } from '../../pair/pair.ts';
import { complaintsOf, launchBrowser, newPerson } from '../../parts/browser.ts';
import { type Callback, startCallback } from '../../parts/callback.ts';
import { freePort } from '../../parts/free-port.ts';
import { NODE, startProcess } from '../../parts/process.ts';
import { temporaryFolder } from '../../parts/temporary-folder.ts';
import { type Connection, VERSION_1, VERSION_2, VERSION_2_DPOP } from './connections.ts';
import { Host } from './host.ts';
import { type McpSite, startMcpSite } from './mcp-site.ts';

const PACKAGES = ['@modelcontextprotocol', '@hono/node-server', 'express', 'hono', 'zod'];
const SCOPES = ['notes:read', 'notes:write'];

const parts = new AsyncDisposableStack();
let ports: Readonly<Record<string, number>>;
let folder: string;
let site: McpSite;
let browser: Browser;
let callback: Callback;
/**
 * An address that no server and no browser may visit. Documents name it, for example as the address of a
 * logo.
 */
let elsewhere: Elsewhere;

const serverAt = (port: number | undefined) => `http://127.0.0.1:${port}/mcp`;

beforeAll(async () => {
  folder = parts.use(await temporaryFolder()).path;
  await installResource(folder, PACKAGES);
  ports = { 1: await freePort(), 2: await freePort(), gateway: await freePort() };
  const spaceOf = (url: string, realm: string, more: object) => ({
    url,
    realm,
    schemes: ['Bearer', 'DPoP'],
    scopes: { safe: ['notes:read'], unsafe: ['notes:read'], 'tool:add_note': ['notes:write'] },
    documentClients: SCOPES,
    ...more,
  });
  site = parts.use(
    await startMcpSite(({ resource }) => ({
      // On a busy machine a follower may be slow.
      revocations: { lease: 5 },
      spaces: [
        spaceOf(serverAt(ports['1']), 'notes 1', { serves: 'verify' }),
        spaceOf(serverAt(ports['2']), 'notes 2', { serves: 'verify' }),
        spaceOf(`${resource}/mcp`, 'notes', {
          serves: 'upstream',
          upstream: { url: serverAt(ports['gateway']) },
        }),
      ],
    })),
  );
  await Promise.all(Object.entries(ports).map(([which, port]) => startServer(which, port)));
  callback = parts.use(await startCallback());
  elsewhere = parts.use(await startElsewhere());
  browser = await launchBrowser();
  parts.defer(() => browser.close());
});
afterAll(() => parts.disposeAsync());

interface Elsewhere extends AsyncDisposable {
  /** Members of a client document with this address (RFC 7591 section 2). */
  readonly members: Readonly<Record<string, string>>;
  /** The number of connections so far. */
  readonly visits: number;
}

/** Listens on loopback, where servers and browser could connect. */
async function startElsewhere(): Promise<Elsewhere> {
  let visits = 0;
  const server = createServer((socket) => {
    visits += 1;
    socket.destroy();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const at = (name: string) => `https://127.0.0.1:${port}/${name}`;
  const names = ['logo_uri', 'client_uri', 'policy_uri', 'tos_uri', 'sector_identifier_uri'];
  const more = ['initiate_login_uri', 'backchannel_logout_uri'];
  return {
    members: Object.fromEntries([...names, ...more].map((name) => [name, at(name)])),
    get visits() {
      return visits;
    },
    async [Symbol.asyncDispose]() {
      server.close();
    },
  };
}

/** The public URL of each server. */
const urlOf = (which: string) =>
  which === 'gateway' ? `${site.pair.resource}/mcp` : serverAt(ports[which]);

/** Starts the server with this version of the SDK, or the server of version 2 behind the gateway. */
async function startServer(which: string, port: number): Promise<void> {
  const name = which === '1' ? 'server-1.mjs' : 'server-2.mjs';
  const server = join(folder, name);
  await copyFile(new URL(name, import.meta.url), server);
  const { id, secret } = await site.pair.addClient('revocations:follow');
  const BEHIND = which === 'gateway' ? which : 'guard';
  const place = { BEHIND, ISSUER: site.pair.issuer, RESOURCE: urlOf(which), PORT: `${port}` };
  parts.use(
    await startProcess(process.execPath, [server], {
      cwd: folder,
      env: { ...NODE, ...place, CLIENT: id, SECRET: secret },
      ready: (output) => output.includes('listening'),
    }),
  );
}

describe.each([
  ['1', '1', VERSION_1],
  ['2', '2', VERSION_2],
  ['2 with DPoP', '2', VERSION_2_DPOP],
  ['1 behind the gateway', 'gateway', VERSION_1],
  ['2 behind the gateway', 'gateway', VERSION_2],
  ['2 with DPoP behind the gateway', 'gateway', VERSION_2_DPOP],
] as const)('SDK version %s', (which, server, sdk) => {
  let url: string;
  let clientId: string;
  let host: Parameters<typeof sdk.open>[1];
  let connection: Connection;
  let person: Person;
  let page: Page;
  let complaints: readonly string[];

  beforeAll(() => {
    url = urlOf(server);
    const members = { grant_types: sdk.grants, ...elsewhere.members };
    clientId = site.describeClient(`host-${which.replaceAll(' ', '-')}`, members);
  });
  beforeEach(async () => {
    person = await site.pair.addPerson(randomUUID());
    const context = await newPerson(browser);
    complaints = await complaintsOf(context);
    page = await context.newPage();
    host = new Host(clientId, callback, sdk.grants);
    connection = sdk.open(url, host);
  });
  afterEach(async () => {
    await connection.close();
    await page.context().close();
    expect(complaints).toEqual([]);
    expect(elsewhere.visits).toBe(0);
  });

  /** Follows the SDK's redirect in the browser and decides; resolves to the answer. */
  async function decided(decision: 'Allow' | 'Deny'): Promise<URLSearchParams> {
    await page.goto(String(host.sentTo));
    if (await page.getByLabel('Password').isVisible()) await signIn(page, person);
    await expect(title(page)).resolves.toBe(`Allow access to ${new URL(clientId).host}?`);
    await page
      .getByText('Any program on this computer could pretend to be this application')
      .waitFor();
    await decide(page, decision);
    await page.getByRole('heading', { name: 'The application' }).waitFor();
    return host.answer();
  }

  /** Connects the host, with the person's permission. */
  async function connected(): Promise<void> {
    await expect(connection.connect()).rejects.toBeInstanceOf(sdk.Unauthorized);
    await connection.finish(await decided('Allow'));
    await connection.close();
    connection = sdk.open(url, host);
    await connection.connect();
  }

  test('an unregistered client gets from the bare URL to a tool', async () => {
    await connected();
    expect([connection.revision, host.kept?.token_type]).toEqual([sdk.revision, sdk.type]);
    expect(host.sentTo?.origin).toBe(site.pair.issuer);
    expect(Object.fromEntries(host.sentTo?.searchParams ?? [])).toMatchObject({
      client_id: clientId,
      resource: url,
      scope: expect.stringMatching(/^notes:read(?: offline_access)?$/),
    });
    expect(await connection.call('list_notes')).toContain('first');
  });

  test('a tool with more scopes gets 403 insufficient_scope, and the person decides', async () => {
    await connected();
    const add = () => connection.call('add_note', { note: 'second' });
    await expect(add()).rejects.toBeInstanceOf(sdk.Unauthorized);
    const asked = host.sentTo?.searchParams.get('scope')?.split(' ');
    expect(asked).toEqual(expect.arrayContaining(SCOPES));
    await connection.finish(await decided('Allow'));
    expect(await add()).toBe('added second');
    expect(await connection.call('list_notes')).toContain('second');
  });

  test('if a person denies more scopes, the host keeps its access', async () => {
    await connected();
    await expect(connection.call('add_note', { note: 'no' })).rejects.toBeInstanceOf(
      sdk.Unauthorized,
    );
    expect(Object.fromEntries(await decided('Deny'))).toMatchObject({
      error: 'access_denied',
      iss: site.pair.issuer,
    });
    expect(await connection.call('list_notes')).not.toContain('no');
  });

  test('after the person revokes access, a call gets 401, and the host asks again', async () => {
    await connected();
    await page.goto(`${site.pair.issuer}/account`);
    const name = `End the access of ${new URL(clientId).host}`;
    await page.getByRole('button', { name, exact: true }).click();
    await page.getByRole('button', { name: 'End the access', exact: true }).click();
    await page.getByText('The application has no access any more').waitFor();
    // Version 2 logs that it drops its tokens.
    using _ = jest.spyOn(console, 'warn').mockReturnValue();
    host.sentTo = undefined;
    await expect(connection.call('list_notes')).rejects.toBeInstanceOf(sdk.Unauthorized);
    await connection.finish(await decided('Allow'));
    expect(await connection.call('list_notes')).toContain('first');
  });
});
