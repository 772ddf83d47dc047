import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startDavSite } from './dav/dav-site.ts';
import type { DavSite } from './dav/dav-site.ts';
import { basic, overTls } from './dav/sender.ts';
import type { Sender } from './dav/sender.ts';
import { ALICE } from './site.ts';

/** Debian has no Windows client: these requests of its redirector are copied from the named bug reports. */
const parts = new AsyncDisposableStack();
let site: DavSite;
let anonymous: Sender;
let windows: Sender;

const MINI_REDIR = { 'user-agent': 'Microsoft-WebDAV-MiniRedir/10.0.22000', translate: 'f' };
const XML = { 'content-type': 'text/xml; charset="utf-8"' };
const LOCK = `<?xml version="1.0" encoding="utf-8" ?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype><D:owner><D:href>PC\\alice</D:href></D:owner></D:lockinfo>`;
const TIMES = `<?xml version="1.0" encoding="utf-8" ?><D:propertyupdate xmlns:D="DAV:" xmlns:Z="urn:schemas-microsoft-com:"><D:set><D:prop><Z:Win32CreationTime>Fri, 15 Jun 2018 12:00:00 GMT</Z:Win32CreationTime><Z:Win32LastAccessTime>Fri, 15 Jun 2018 12:00:00 GMT</Z:Win32LastAccessTime><Z:Win32LastModifiedTime>Fri, 15 Jun 2018 12:00:00 GMT</Z:Win32LastModifiedTime><Z:Win32FileAttributes>00000020</Z:Win32FileAttributes></D:prop></D:set></D:propertyupdate>`;

beforeAll(async () => {
  site = parts.use(await startDavSite());
  anonymous = await overTls(site, MINI_REDIR, parts);
  windows = await overTls(site, { ...MINI_REDIR, ...basic(ALICE.name, ALICE.password) }, parts);
});
afterAll(async () => parts.disposeAsync());

describe('Windows MiniRedir', () => {
  test.each(['/', '/dav', '/dav/', '/dav/not/there'])(
    'from sftpgo#614, dave#47, dav4rack#42: OPTIONS %s without credentials names the WebDAV classes',
    async (path) => {
      const { status, fields } = await anonymous('OPTIONS', path);
      expect(status).toBe(204);
      expect(fields['dav']).toBe('1, 2, 3');
      expect(fields['ms-author-via']).toBe('DAV');
      expect(fields['www-authenticate']).toBeUndefined();
    },
  );

  test('without credentials PROPFIND, GET, PUT and LOCK get 401', async () => {
    for (const method of ['PROPFIND', 'GET', 'PUT', 'LOCK', 'DELETE', 'PROPPATCH']) {
      expect([method, (await anonymous(method, '/dav/')).status]).toEqual([method, 401]);
    }
  });

  test('from nextcloud#2986: is offered Basic over TLS', async () => {
    const { fields } = await anonymous('PROPFIND', '/dav/', { depth: '0' });
    expect(String(fields['www-authenticate'])).toMatch(/, Basic realm="dav"/);
    expect((await windows('PROPFIND', '/dav/', { depth: '0' })).status).toBe(207);
  });

  test('from webdav-server#27: PROPFIND without the final slash is answered without a redirect', async () => {
    const { status, text } = await windows('PROPFIND', '/dav', { depth: '0' });
    expect(status).toBe(207);
    expect(text).toContain('<D:href>/dav/</D:href>');
  });

  test('from golang/go#11177: the WebDAV namespace has the prefix D', async () => {
    const { text } = await windows('PROPFIND', '/dav/', { depth: '0' });
    expect(text).toContain('<D:multistatus xmlns:D="DAV:">');
    expect(text).not.toMatch(/xmlns="DAV:"/);
  });

  test('RFC 4918 section 9.1: PROPFIND of a missing resource gets 404, not 207', async () => {
    const { status } = await windows('PROPFIND', '/dav/desktop.ini', { depth: '0' });
    expect(status).toBe(404);
  });

  test('RFC 4918 section 9.1: Depth: 0 without content returns all properties', async () => {
    await windows('PUT', '/dav/all.txt', {}, 'abc');
    const fields = { depth: '0', 'content-length': '0' };
    const { text } = await windows('PROPFIND', '/dav/all.txt', fields);
    expect(text).toContain('<D:getcontentlength>3</D:getcontentlength>');
    expect(text).toMatch(/<D:creationdate>[-\d]+T[:.\d]+Z<\/D:creationdate>/);
    expect(text).toMatch(/<D:getlastmodified>\w{3}, \d\d \w{3} \d{4} [:\d]+ GMT</);
    expect(text).toMatch(/<D:resourcetype\/>/);
  });

  test('from wsgidav#112: every request succeeds while a file is dragged into a folder', async () => {
    const path = '/dav/compat.py';
    expect((await windows('PROPFIND', path, { depth: '0' })).status).toBe(404);
    expect((await windows('PUT', path, { 'content-length': '0' })).status).toBe(201);
    const locked = await windows('LOCK', path, { ...XML, timeout: 'Second-3600' }, LOCK);
    expect(locked.status).toBe(200);
    expect(locked.text).toContain('<D:timeout>Second-3600</D:timeout>');
    expect(locked.text).toContain('<D:href>PC\\alice</D:href>');
    const token = String(locked.fields['lock-token']);
    const held = { if: `(${token})` };
    const times = await windows('PROPPATCH', path, { ...XML, ...held }, TIMES);
    expect(times.status).toBe(207);
    expect(times.text).toContain('HTTP/1.1 200 OK');
    expect(times.text).not.toMatch(/HTTP\/1\.1 [345]/);
    expect((await windows('HEAD', path)).status).toBe(200);
    expect((await windows('PUT', path, held, 'content')).status).toBe(204);
    expect((await windows('PROPPATCH', path, { ...XML, ...held }, TIMES)).status).toBe(207);
    expect((await windows('UNLOCK', path, { 'lock-token': token })).status).toBe(204);
    expect((await windows('GET', path)).text).toBe('content');
    const kept = await windows('PROPFIND', path, { depth: '0' });
    expect(kept.text).toMatch(/Win32FileAttributes[^>]*>00000020</);
    expect(kept.text).toContain('xmlns:');
  });

  test('from GCDWebServer#319: LOCK of a file works without Depth', async () => {
    await windows('PUT', '/dav/picture.jpg', {}, 'x');
    const { status, fields } = await windows('LOCK', '/dav/picture.jpg', XML, LOCK);
    expect(status).toBe(200);
    expect(fields['lock-token']).toMatch(/^<urn:uuid:/);
  });

  test('from reva#4928: a second PUT and PROPPATCH without the token in If get 423', async () => {
    await windows('PUT', '/dav/held.txt', {}, 'before');
    const { fields } = await windows('LOCK', '/dav/held.txt', XML, LOCK);
    expect((await windows('PUT', '/dav/held.txt', {}, 'lost')).status).toBe(423);
    // The Lock-Token field is for UNLOCK only (RFC 4918 section 10.5).
    const wrong = { 'lock-token': String(fields['lock-token']) };
    expect((await windows('PUT', '/dav/held.txt', wrong, 'lost')).status).toBe(423);
    expect((await windows('PROPPATCH', '/dav/held.txt', XML, TIMES)).status).toBe(423);
    expect((await windows('GET', '/dav/held.txt')).text).toBe('before');
  });

  test('a rename with an absolute Destination and Overwrite: F works', async () => {
    await windows('PUT', '/dav/New Text Document.txt'.replaceAll(' ', '%20'), {}, 'x');
    const destination = `${site.tlsUrl}renamed%20%C3%BC.txt`;
    const fields = { destination, overwrite: 'F' };
    expect((await windows('MOVE', '/dav/New%20Text%20Document.txt', fields)).status).toBe(201);
    expect((await windows('GET', '/dav/renamed%20%C3%BC.txt')).text).toBe('x');
  });
});
