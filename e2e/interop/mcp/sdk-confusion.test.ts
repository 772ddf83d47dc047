/**
 * An attacker's MCP server gives the SDKs false information about authorization servers (RFC 9700 section
 * 4.4).
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Callback, startCallback } from '../../parts/callback.ts';
import { PersonAtPages } from '../oauth/person-at-pages.ts';
import { type Connection, VERSION_1, VERSION_2 } from './connections.ts';
import { Host } from './host.ts';
import { type McpSite, startMcpSite } from './mcp-site.ts';
import { type OtherServer, startOtherServer } from './other-server.ts';

const RESOURCE = '/.well-known/oauth-protected-resource/mcp';
const SERVER = '/.well-known/oauth-authorization-server';

const parts = new AsyncDisposableStack();
let site: McpSite;
let callback: Callback;
let person: PersonAtPages;
let other: OtherServer;
let ours: Record<string, unknown>;

beforeAll(async () => {
  site = parts.use(await startMcpSite());
  callback = parts.use(await startCallback());
  other = parts.use(await startOtherServer());
  person = new PersonAtPages(site.pair, await site.pair.addPerson());
  ours = (await (await fetch(`${site.pair.issuer}${SERVER}`)).json()) as typeof ours;
});
afterAll(() => parts.disposeAsync());

describe.each([
  ['1', VERSION_1],
  ['2', VERSION_2],
] as const)('SDK version %s', (version, sdk) => {
  let host: Parameters<typeof sdk.open>[1];
  let connection: Connection;

  beforeEach(() => {
    const clientId = site.describeClient(`host-${version}`);
    host = new Host(clientId, callback, ['authorization_code']);
    connection = sdk.open(other.url, host);
    other.documents.clear();
    other.asked.length = 0;
  });

  /** The attacker's metadata: its resource, and the authorization servers that it names. */
  const describeResource = (resource: string, ...servers: readonly string[]) =>
    other.documents.set(RESOURCE, { resource, authorization_servers: servers });

  test("an attacker's server that names our issuer: no token is issued for it (RFC 8707 section 2.2)", async () => {
    describeResource(other.url, site.pair.issuer);
    await expect(connection.connect()).rejects.toBeInstanceOf(sdk.Unauthorized);
    expect(host.sentTo?.searchParams.get('resource')).toBe(other.url);
    const answer = (await person.answer(String(host.sentTo))).searchParams;
    expect(Object.fromEntries(answer)).toMatchObject({
      error: 'invalid_target',
      iss: site.pair.issuer,
    });
  });

  test("an attacker's server that claims our resource: the browser is sent nowhere (RFC 9728 section 3.3)", async () => {
    describeResource(site.pair.documents, site.pair.issuer);
    await expect(connection.connect()).rejects.toThrow('does not match');
    expect(host.sentTo).toBeUndefined();
  });

  test("an attacker's server with our sign-in page and its own token endpoint gets no code", async () => {
    describeResource(other.url, other.origin);
    const token_endpoint = `${other.origin}/token`;
    other.documents.set(SERVER, { ...ours, issuer: other.origin, token_endpoint });
    await expect(connection.connect()).rejects.toBeInstanceOf(sdk.Unauthorized);
    expect(host.sentTo?.origin).toBe(site.pair.issuer);
    const answer = await person.answer(String(host.sentTo));
    expect(answer.searchParams.get('code')).toBeNull();
    expect(answer.searchParams.get('iss')).toBe(site.pair.issuer);
    await expect(connection.finish(answer.searchParams)).rejects.toThrow();
    expect(other.asked).not.toContain('/token');
  });

  // Version 1 checks neither. The tests above show what protects its users.
  if (version === '1') return;

  test('metadata of our issuer at another origin is not used (RFC 8414 section 3.3)', async () => {
    describeResource(other.url, other.origin);
    other.documents.set(SERVER, ours);
    await expect(connection.connect()).rejects.toThrow(/issuer/i);
    expect(host.sentTo).toBeUndefined();
  });

  test('a code with our iss is sent to no other token endpoint (RFC 9207 section 2.4)', async () => {
    describeResource(other.url, other.origin);
    const token_endpoint = `${other.origin}/token`;
    other.documents.set(SERVER, { ...ours, issuer: other.origin, token_endpoint });
    await expect(connection.connect()).rejects.toBeInstanceOf(sdk.Unauthorized);
    const answer = new URLSearchParams({ code: 'a', iss: site.pair.issuer });
    await expect(connection.finish(answer)).rejects.toThrow('RFC 9207');
    expect(other.asked).not.toContain('/token');
  });
});
