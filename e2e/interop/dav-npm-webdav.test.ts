import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { AuthType, createClient, type WebDAVClient } from 'webdav';
import type { Person } from '../pair/pair.ts';
import { startDavSite } from './dav/dav-site.ts';
import type { DavSite } from './dav/dav-site.ts';
import { ALICE } from './site.ts';

/** The npm package webdav 5, used through its documented functions. */
let site: DavSite;
let client: WebDAVClient;
let bob: Person;

beforeAll(async () => {
  site = await startDavSite();
  bob = await site.pair.addPerson('bob', 'another correct horse');
});
afterAll(async () => site[Symbol.asyncDispose]());

const clientOf = (
  { name, password }: Pick<Person, 'name' | 'password'>,
  authType = AuthType.Password,
) => createClient(site.url, { username: name, password, authType });
beforeEach(() => {
  client = clientOf(ALICE);
});

const octets = (content: unknown) => Buffer.from(content as Uint8Array).toString('latin1');
const textOf = async (path: string) =>
  (await client.getFileContents(path, { format: 'text' })) as string;

const LOCKED = { status: 423 };
const SET_COLOUR = `<propertyupdate xmlns="DAV:"><set><prop>
  <colour xmlns="urn:example:">&lt;blau &amp; grün&gt;</colour></prop></set></propertyupdate>`;
const ASK_COLOUR = `<propfind xmlns="DAV:"><prop><resourcetype/><colour xmlns="urn:example:"/></prop></propfind>`;
const ASK_QUOTA = `<propfind xmlns="DAV:"><prop><quota-used-bytes/><quota-available-bytes/></prop></propfind>`;

describe('webdav', () => {
  test('putFileContents and getFileContents transfer text, octets and a stream', async () => {
    expect(await client.putFileContents('/text ü #?.txt', 'grün')).toBe(true);
    expect(await textOf('/text ü #?.txt')).toBe('grün');
    const content = randomBytes(1024 * 1024);
    await client.putFileContents('/octets.bin', content);
    expect(octets(await client.getFileContents('/octets.bin'))).toBe(content.toString('latin1'));
    await client.putFileContents('/stream.bin', Readable.from([content]));
    expect(octets(await client.getFileContents('/stream.bin'))).toBe(content.toString('latin1'));
  });

  test('overwrite: false sends If-None-Match: * (RFC 9110 section 13.1.2)', async () => {
    await client.putFileContents('/kept.txt', 'first');
    expect(await client.putFileContents('/kept.txt', 'second', { overwrite: false })).toBe(false);
    expect(await textOf('/kept.txt')).toBe('first');
  });

  test('createWriteStream works, and createReadStream reads a range (RFC 9110 section 14)', async () => {
    const status = await new Promise((resolve, reject) => {
      const stream = client.createWriteStream('/written.txt', {}, (answer) =>
        resolve(answer.status),
      );
      stream.on('error', reject);
      stream.write('abcdefghij');
      stream.end();
    });
    expect(status).toBe(201);
    const range = { start: 2, end: 4 };
    const piece = client.createReadStream('/written.txt', { range }) as Readable;
    expect((await buffer(piece)).toString()).toBe('cde');
  });

  test('createDirectory, exists, stat and getDirectoryContents work, also recursively', async () => {
    await client.createDirectory('/tree/a/b ö', { recursive: true });
    await client.putFileContents('/tree/a/b ö/leaf.json', '{}', {
      headers: { 'Content-Type': 'application/json' },
    });
    expect(await client.exists('/tree/a')).toBe(true);
    expect(await client.exists('/tree/x')).toBe(false);
    const shallow = await client.getDirectoryContents('/tree');
    expect(shallow.map(({ filename, type }) => [filename, type])).toEqual([
      ['/tree/a', 'directory'],
    ]);
    const deep = await client.getDirectoryContents('/tree', { deep: true });
    expect(deep.map(({ filename }) => filename)).toEqual([
      '/tree/a',
      '/tree/a/b ö',
      '/tree/a/b ö/leaf.json',
    ]);
    expect(await client.stat('/tree/a/b ö/leaf.json')).toMatchObject({
      type: 'file',
      size: 2,
      mime: 'application/json',
      basename: 'leaf.json',
      etag: expect.stringMatching(/^[-\w]+$/),
    });
    await expect(client.createDirectory('/tree')).rejects.toMatchObject({ status: 405 });
    await expect(client.createDirectory('/no/such')).rejects.toMatchObject({ status: 409 });
  });

  test('copyFile and moveFile work, and overwrite nothing if they are told not to', async () => {
    await client.createDirectory('/from');
    await client.putFileContents('/from/x.txt', 'x');
    await client.copyFile('/from', '/deep');
    await client.copyFile('/from', '/shallow', { shallow: true });
    expect(await textOf('/deep/x.txt')).toBe('x');
    expect(await client.getDirectoryContents('/shallow')).toEqual([]);
    const kept = { overwrite: false };
    await expect(client.copyFile('/from', '/deep', kept)).rejects.toMatchObject({ status: 412 });
    await expect(client.moveFile('/from', '/deep', kept)).rejects.toMatchObject({ status: 412 });
    await client.moveFile('/from', '/moved ä');
    expect(await client.exists('/from')).toBe(false);
    expect(await textOf('/moved ä/x.txt')).toBe('x');
    await client.deleteFile('/moved ä');
    await expect(client.deleteFile('/moved ä')).rejects.toMatchObject({ status: 404 });
  });

  test('RFC 4918 section 9.10: lock blocks other clients until unlock', async () => {
    await client.putFileContents('/locked.txt', 'before');
    const { token, serverTimeout } = await client.lock('/locked.txt', { timeout: 'Second-120' });
    expect(token).toMatch(/^urn:uuid:/);
    expect(serverTimeout).toBe('Second-120');
    await expect(client.putFileContents('/locked.txt', 'lost')).rejects.toMatchObject(LOCKED);
    await expect(client.deleteFile('/locked.txt')).rejects.toMatchObject(LOCKED);
    await expect(client.lock('/locked.txt')).rejects.toMatchObject(LOCKED);
    const held = { headers: { If: `(<${token}>)` } };
    await client.putFileContents('/locked.txt', 'after', held);
    await expect(client.unlock('/locked.txt', 'urn:uuid:other')).rejects.toMatchObject({
      status: 409,
    });
    await client.unlock('/locked.txt', token);
    await client.putFileContents('/locked.txt', 'free');
    expect(await textOf('/locked.txt')).toBe('free');
  });

  test('RFC 4918 section 9.10.2: LOCK without content refreshes a lock', async () => {
    await client.putFileContents('/refreshed.txt', 'x');
    const { token } = await client.lock('/refreshed.txt', { timeout: 'Second-60' });
    const headers = { If: `(<${token}>)`, Timeout: 'Second-300' };
    const refreshed = await client.customRequest('/refreshed.txt', { method: 'LOCK', headers });
    expect(await refreshed.text()).toContain('<D:timeout>Second-300</D:timeout>');
    // `refreshToken` sends content, which asks for a second lock: the first lock prevents it.
    const refreshToken = `(<${token}>)`;
    await expect(client.lock('/refreshed.txt', { refreshToken })).rejects.toMatchObject(LOCKED);
  });

  test('customRequest sets and reads its own properties (RFC 4918 sections 9.1 and 9.2)', async () => {
    await client.putFileContents('/coloured.txt', 'x');
    const set = await client.customRequest('/coloured.txt', {
      method: 'PROPPATCH',
      data: SET_COLOUR,
      headers: { 'Content-Type': 'application/xml' },
    });
    expect(set.status).toBe(207);
    const options = { details: true, data: ASK_COLOUR } as const;
    expect(await client.stat('/coloured.txt', options)).toMatchObject({
      data: { props: { colour: '<blau & grün>' } },
    });
    await client.copyFile('/coloured.txt', '/coloured too.txt');
    expect(await client.stat('/coloured too.txt', options)).toMatchObject({
      data: { props: { colour: '<blau & grün>' } },
    });
  });

  test('RFC 4331 section 2: getQuota names its properties, because allprop omits them', async () => {
    const quota = await client.getQuota({ data: ASK_QUOTA });
    expect(quota).toEqual({ used: expect.any(Number), available: expect.any(Number) });
    expect(await client.getQuota()).toBeNull();
  });

  test('getDAVCompliance returns 1, 2, 3', async () => {
    expect((await client.getDAVCompliance('/')).compliance).toEqual(['1', '2', '3']);
  });

  test('partialUpdateFileContents finds neither private format, and writes nothing', async () => {
    await client.putFileContents('/whole.txt', 'abc');
    await expect(client.partialUpdateFileContents('/whole.txt', 0, 1, 'xx')).rejects.toThrow(
      'Not supported',
    );
    // The library would send this to Apache and SabreDAV (RFC 9110 sections 14.5 and 15.5.6).
    const range = { 'Content-Range': 'bytes 0-1/*' };
    const apache = { method: 'PUT', data: 'xx', headers: range };
    await expect(client.customRequest('/whole.txt', apache)).rejects.toMatchObject({ status: 400 });
    const sabre = {
      method: 'PATCH',
      data: 'xx',
      headers: {
        'Content-Type': 'application/x-sabredav-partialupdate',
        'X-Update-Range': 'bytes=0-1',
      },
    };
    await expect(client.customRequest('/whole.txt', sabre)).rejects.toMatchObject({ status: 405 });
    expect(await textOf('/whole.txt')).toBe('abc');
  });

  test('PATCH works with a registered format (RFC 7396)', async () => {
    const json = { 'Content-Type': 'application/json' };
    await client.putFileContents('/patched.json', '{"a":1,"b":2}', { headers: json });
    const patched = await client.customRequest('/patched.json', {
      method: 'PATCH',
      data: '{"b":null,"c":3}',
      headers: { 'Content-Type': 'application/merge-patch+json' },
    });
    expect(patched.status).toBe(204);
    expect(JSON.parse(await textOf('/patched.json'))).toEqual({ a: 1, c: 3 });
  });

  test('RFC 9110 section 15.6.2: search gets 501, because the server does not know the method', async () => {
    await expect(
      client.search('/', { data: '<searchrequest xmlns="DAV:"/>' }),
    ).rejects.toMatchObject({
      status: 501,
    });
  });

  test('getFileDownloadLink and getFileUploadLink return URLs of the document', async () => {
    await client.putFileContents('/linked ü.txt', 'linked');
    const link = new URL(client.getFileDownloadLink('/linked ü.txt'));
    expect(`${link.origin}${link.pathname}`).toBe(`${site.url}linked%20%C3%BC.txt`);
    expect(client.getFileUploadLink('/linked ü.txt')).toContain('/dav/linked%20%C3%BC.txt?');
  });

  test("setHeaders can send the caller's own credentials", async () => {
    await client.putFileContents('/mine.txt', 'x');
    const bare = createClient(site.url, { authType: AuthType.None });
    await expect(bare.stat('/mine.txt')).rejects.toMatchObject({ status: 401 });
    bare.setHeaders({ Authorization: String(client.getHeaders()['Authorization']) });
    expect(await bare.stat('/mine.txt')).toMatchObject({ size: 1 });
  });

  test('its Digest supports MD5 only, which the server does not offer: 401', async () => {
    const digesting = clientOf(ALICE, AuthType.Digest);
    const passed = await site.recorded(() =>
      expect(digesting.getDirectoryContents('/')).rejects.toThrow(),
    );
    expect(passed.map(({ status }) => status)).toEqual([401, 401]);
  });

  test('another person has another tree at the same address', async () => {
    await client.putFileContents('/hers.txt', 'x');
    expect(await clientOf(bob).exists('/hers.txt')).toBe(false);
    const intruder = clientOf({ ...ALICE, password: bob.password });
    await expect(intruder.exists('/hers.txt')).rejects.toMatchObject({ status: 401 });
  });
});
