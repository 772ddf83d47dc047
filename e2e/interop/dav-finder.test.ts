import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startDavSite } from './dav/dav-site.ts';
import type { DavSite } from './dav/dav-site.ts';
import { basic, overTls } from './dav/sender.ts';
import type { Sender } from './dav/sender.ts';
import { ALICE } from './site.ts';

/**
 * Debian has no macOS client: these requests of Finder (WebDAVFS) are copied from the named bug reports.
 */
const parts = new AsyncDisposableStack();
let site: DavSite;
let finder: Sender;

const WEBDAVFS = { 'user-agent': 'WebDAVFS/3.0.0 (03008000) Darwin/19.6.0 (x86_64)' };
const XML = { 'content-type': 'text/xml' };
const LOCK = `<?xml version="1.0" encoding="utf-8"?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype><D:owner><D:href>http://www.apple.com/webdav_fs/</D:href></D:owner></D:lockinfo>`;
const QUOTA = `<?xml version="1.0" encoding="utf-8"?><D:propfind xmlns:D="DAV:"><D:prop><D:quota-available-bytes/><D:quota-used-bytes/><D:quota/><D:quotaused/></D:prop></D:propfind>`;
const STAT = `<?xml version="1.0" encoding="utf-8"?><D:propfind xmlns:D="DAV:"><D:prop><D:getlastmodified/><D:getcontentlength/><D:creationdate/><D:resourcetype/></D:prop></D:propfind>`;

beforeAll(async () => {
  site = parts.use(await startDavSite());
  finder = await overTls(site, { ...WEBDAVFS, ...basic(ALICE.name, ALICE.password) }, parts);
});
afterAll(async () => parts.disposeAsync());

/** Sends content as Finder does: in chunks, with the length in another field. */
const write = (path: string, content: string, fields: Readonly<Record<string, string>> = {}) =>
  finder(
    'PUT',
    path,
    { 'x-expected-entity-length': String(Buffer.byteLength(content)), ...fields },
    Readable.from([Buffer.from(content)]),
  );

const lock = (path: string) =>
  finder('LOCK', path, { ...XML, depth: '0', timeout: 'Second-600' }, LOCK);

describe('Finder', () => {
  test('from WebDAV-Daemon#17, owncloud#17732: can write, because DAV names class 2', async () => {
    const { fields } = await finder('OPTIONS', '/dav/');
    expect(String(fields['dav']).split(', ')).toContain('2');
    expect(String(fields['allow']).split(', ')).toEqual(expect.arrayContaining(['LOCK', 'UNLOCK']));
  });

  test('from webdav-handler-rs#18, pydio#581: stores content without Content-Length, and gets no 411', async () => {
    expect((await write('/dav/chunked.txt', 'chunks')).status).toBe(201);
    expect((await finder('GET', '/dav/chunked.txt')).text).toBe('chunks');
  });

  test('from modeshape#841, owncloud#20502: sends an empty PUT, LOCK, PUT and UNLOCK', async () => {
    const path = '/dav/copied.txt';
    expect((await finder('PUT', path, { 'content-length': '0' })).status).toBe(201);
    const locked = await lock(path);
    expect(locked.status).toBe(200);
    const token = String(locked.fields['lock-token']);
    expect((await write(path, 'content', { if: `(${token})` })).status).toBe(204);
    expect((await finder('PROPFIND', path, { ...XML, depth: '0' }, STAT)).status).toBe(207);
    expect((await finder('UNLOCK', path, { 'lock-token': token })).status).toBe(204);
    expect((await finder('GET', path)).text).toBe('content');
    expect((await write(path, 'again')).status).toBe(204);
  });

  test('from WebDAV-Daemon#18: sends GET and PROPFIND without a token, and a lock blocks neither', async () => {
    await write('/dav/read.txt', 'x');
    expect((await lock('/dav/read.txt')).status).toBe(200);
    expect((await finder('GET', '/dav/read.txt')).status).toBe(200);
    expect((await finder('HEAD', '/dav/read.txt')).status).toBe(200);
    const { status, text } = await finder('PROPFIND', '/dav/', { ...XML, depth: '1' }, STAT);
    expect(status).toBe(207);
    expect(text).toContain('<D:href>/dav/read.txt</D:href>');
  });

  test('from pydio#581: LOCK creates a missing ._file, and PUT with the token fills it', async () => {
    const path = '/dav/._somefile.txt';
    const locked = await lock(path);
    expect(locked.status).toBe(201);
    expect((await finder('GET', path)).text).toBe('');
    const token = String(locked.fields['lock-token']);
    expect((await write(path, 'resource fork', { if: `(${token})` })).status).toBe(204);
    expect((await finder('UNLOCK', path, { 'lock-token': token })).status).toBe(204);
  });

  test('from owncloud#24753: many requests at once for ._* and .DS_Store succeed', async () => {
    await finder('MKCOL', '/dav/storm/');
    const names = Array.from({ length: 40 }, (_, i) => [`file-${i}`, `._file-${i}`]).flat();
    const missing = await Promise.all(
      [...names, '.DS_Store', '._.', '.metadata_never_index'].map((name) =>
        finder('PROPFIND', `/dav/storm/${name}`, { ...XML, depth: '0' }, STAT),
      ),
    );
    expect(new Set(missing.map(({ status }) => status))).toEqual(new Set([404]));
    const written = await Promise.all(names.map((name) => write(`/dav/storm/${name}`, name)));
    expect(new Set(written.map(({ status }) => status))).toEqual(new Set([201]));
    const { text } = await finder('PROPFIND', '/dav/storm/', { ...XML, depth: '1' }, STAT);
    expect(text.match(/<D:response>/g)).toHaveLength(names.length + 1);
    const removed = await Promise.all(names.map((name) => finder('DELETE', `/dav/storm/${name}`)));
    expect(new Set(removed.map(({ status }) => status))).toEqual(new Set([204]));
  });

  test('decomposed names are the same resource as composed names (RFC 3629)', async () => {
    expect(
      (await write(`/dav/${encodeURIComponent('Grüße.txt'.normalize('NFD'))}`, 'x')).status,
    ).toBe(201);
    const composed = encodeURIComponent('Grüße.txt'.normalize('NFC'));
    expect((await finder('GET', `/dav/${composed}`)).text).toBe('x');
    const { text } = await finder('PROPFIND', '/dav/', { ...XML, depth: '1' }, STAT);
    expect(text).toContain(`<D:href>/dav/${composed}</D:href>`);
  });

  test('RFC 4331: asks for quota by four names, two of which are standard', async () => {
    const { status, text } = await finder('PROPFIND', '/dav/', { ...XML, depth: '0' }, QUOTA);
    expect(status).toBe(207);
    expect(text).toMatch(/<D:quota-available-bytes>\d+<\/D:quota-available-bytes>/);
    expect(text).toMatch(/<D:quota-used-bytes>\d+<\/D:quota-used-bytes>/);
    expect(text).toMatch(/<D:quota\/><D:quotaused\/><\/D:prop><D:status>HTTP\/1\.1 404/);
  });

  test('RFC 9110 section 14: reads ranges of a large file', async () => {
    await write('/dav/large.bin', 'abcdefghij');
    const { status, text } = await finder('GET', '/dav/large.bin', { range: 'bytes=4-6' });
    expect([status, text]).toEqual([206, 'efg']);
  });
});
