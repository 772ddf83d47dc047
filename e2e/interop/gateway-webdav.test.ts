/** @needs cadaver */
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startApacheDav } from '../parts/apache-dav.ts';
import { startApplication } from '../parts/application.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';
import { succeed } from './dav/program.ts';
import { type Client, connectTo, valueOf, VERSIONS } from './gateway/client.ts';
import { basic, type GatewaySite, startGatewaySite } from './gateway/gateway-site.ts';
import { ALICE } from './site.ts';

/**
 * Third-party WebDAV servers behind the gateway: nephele has the same path on both sides, as clients that
 * read hrefs need; Apache has another path.
 */
const parts = new AsyncDisposableStack();
let site: GatewaySite;
let home: string;

beforeAll(async () => {
  const { path: folder } = parts.use(await temporaryFolder());
  await chmod(folder, 0o755);
  const [tree, other] = [join(folder, 'tree'), join(folder, 'apache')];
  home = join(folder, 'home');
  for (const path of [tree, other, home]) await mkdir(path);
  const nephele = await startApplication(parts, 'nephele', tree);
  const apache = await startApacheDav(parts, other);
  site = parts.use(
    await startGatewaySite({
      base: { upstream: { url: nephele.url } },
      nephele: { upstream: { url: nephele.url } },
      apache: { upstream: { url: apache.url } },
      'apache-own': { upstream: { url: apache.url, host: 'upstream' } },
    }),
  );
  await writeFile(join(home, 'a.txt'), 'hello\n');
  const { hostname } = new URL(site.origin);
  const login = `machine ${hostname} login ${ALICE.name} password "${ALICE.password}"\n`;
  await writeFile(join(home, '.netrc'), login, { mode: 0o600 });
});
afterAll(async () => parts.disposeAsync());

describe.each(['nephele', 'apache', 'apache-own'])('%s at another path', (space) => {
  describe.each(VERSIONS)('over %s', (version) => {
    let client: Client;
    let folder: string;
    beforeAll(async () => {
      client = parts.use(connectTo(site.origin, version));
      folder = `/${space}/over-${space}-${version.slice(5, 6)}/`;
      expect((await ask('MKCOL', folder)).status).toBe(201);
    });

    function ask(method: string, path: string, fields: Record<string, string> = {}, content = '') {
      return client.ask(path, { method, fields: [basic(), ...Object.entries(fields)], content });
    }
    const text = async (path: string) => String((await ask('GET', path)).content);

    test("OPTIONS has the application's DAV compliance classes and its methods", async () => {
      const answer = await ask('OPTIONS', folder);
      expect([200, 204]).toContain(answer.status);
      expect(valueOf(answer, 'dav')).toMatch(/1.*2/);
      expect(valueOf(answer, 'allow')).toMatch(/PROPFIND/);
    });

    test('PUT, conditional PUT, HEAD and ranges work', async () => {
      const put = await ask('PUT', `${folder}a`, { 'Content-Type': 'text/plain' }, 'hello');
      expect(put.status).toBe(201);
      const again = await ask('PUT', `${folder}a`, { 'If-None-Match': '*' }, 'other');
      expect(again.status).toBe(412);
      const head = await ask('HEAD', `${folder}a`);
      expect([head.status, head.content.length]).toEqual([200, 0]);
      expect(valueOf(head, 'etag')).toBe(valueOf(await ask('GET', `${folder}a`), 'etag'));
      const part = await ask('GET', `${folder}a`, { Range: 'bytes=1-2' });
      expect([part.status, String(part.content)]).toEqual([206, 'el']);
      const etag = valueOf(await ask('GET', `${folder}a`), 'etag') ?? '';
      expect((await ask('GET', `${folder}a`, { 'If-None-Match': etag })).status).toBe(304);
    });

    test.each([
      ['a URL', () => `${site.origin}${folder}`],
      ['a path', () => folder],
    ])('RFC 4918 section 10.3: COPY and MOVE work for a Destination %s', async (_, at) => {
      await ask('PUT', `${folder}from`, {}, 'content');
      const copied = await ask('COPY', `${folder}from`, {
        Destination: `${at()}copy%20ü`.replace('ü', '%C3%BC'),
      });
      expect([201, 204]).toContain(copied.status);
      const moved = await ask('MOVE', `${folder}from`, { Destination: `${at()}to` });
      expect([201, 204]).toContain(moved.status);
      expect(await text(`${folder}copy%20%C3%BC`)).toBe('content');
      expect(await text(`${folder}to`)).toBe('content');
      expect((await ask('GET', `${folder}from`)).status).toBe(404);
    });

    test('section 9.8.5: a Destination on another server or in another space is refused', async () => {
      await ask('PUT', `${folder}stays`, {}, 'content');
      for (const destination of ['http://other.example/x', '/elsewhere/x', `/${space}x/y`]) {
        const { status } = await ask('MOVE', `${folder}stays`, { Destination: destination });
        expect([destination, [403, 502].includes(status)]).toEqual([destination, true]);
      }
      expect(await text(`${folder}stays`)).toBe('content');
    });

    test('section 10.4: a lock works, and so does an If list that is tagged with the public URL', async () => {
      await ask('PUT', `${folder}locked`, {}, 'one');
      const body =
        '<?xml version="1.0"?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype><D:owner>alice</D:owner></D:lockinfo>';
      const xml = { 'Content-Type': 'application/xml', Depth: '0' };
      const locked = await ask('LOCK', `${folder}locked`, xml, body);
      expect(locked.status).toBe(200);
      const [token] = /<[^<>]+>/.exec(valueOf(locked, 'lock-token') ?? '') ?? [];
      expect((await ask('PUT', `${folder}locked`, {}, 'two')).status).toBe(423);
      const tagged = { If: `<${site.origin}${folder}locked> (${token})` };
      expect([200, 204]).toContain((await ask('PUT', `${folder}locked`, tagged, 'three')).status);
      const path = { If: `<${folder}locked> (${token})` };
      expect([200, 204]).toContain((await ask('PUT', `${folder}locked`, path, 'four')).status);
      const unlocked = await ask('UNLOCK', `${folder}locked`, { 'Lock-Token': token ?? '' });
      expect(unlocked.status).toBe(204);
      expect(await text(`${folder}locked`)).toBe('four');
    });

    test('a PROPFIND body passes unchanged, because the gateway never rewrites bodies', async () => {
      const found = await ask('PROPFIND', folder, { Depth: '1' });
      expect(found.status).toBe(207);
      expect(String(found.content)).toContain('/base/over-');
    });

    test('8 MiB arrive unchanged in both directions', async () => {
      const content = Buffer.alloc(8 * 1024 * 1024, 'a line of text that is long\n');
      const fields = [basic()];
      const put = await client.ask(`${folder}long`, { method: 'PUT', fields, content });
      expect(put.status).toBe(201);
      const got = await client.ask(`${folder}long`, { fields });
      expect(got.complete && got.content.equals(content)).toBe(true);
    });

    test('without a password the application gets no request', async () => {
      const put = await client.ask(`${folder}stranger`, { method: 'PUT', content: 'x' });
      expect(put.status).toBe(401);
      expect((await ask('GET', `${folder}stranger`)).status).toBe(404);
    });
  });
});

describe('cadaver at the same path', () => {
  const cadaver = (...commands: readonly string[]) =>
    succeed('cadaver', [`${site.origin}/base/`], {
      home,
      input: [...commands, 'exit', ''].join('\n'),
    });

  test('runs put, mkcol, copy, move, ls, get and delete, while nephele never sees the password', async () => {
    const output = await cadaver(
      'put a.txt',
      'mkcol folder',
      'copy a.txt folder/copy.txt',
      'move a.txt folder/moved.txt',
      'ls folder',
      'get folder/moved.txt got.txt',
      'delete folder/copy.txt',
      'ls folder',
    );
    expect(output).not.toMatch(/failed/);
    expect(output).toMatch(/copy\.txt +6 [^]*moved\.txt +6 /);
    expect(await readFile(join(home, 'got.txt'), 'utf8')).toBe('hello\n');
  });

  test('runs lock, put under the lock, and unlock', async () => {
    await cadaver('put a.txt locked.txt');
    const output = await cadaver(
      'set lockowner alice',
      'lock locked.txt',
      'put a.txt locked.txt',
      'unlock locked.txt',
    );
    expect(output).not.toMatch(/failed/);
  });
});

test('no logged error is a defect', () => {
  const log = site.pair.resources[0]?.log ?? '';
  expect(log.split('\n').filter((one) => one.includes('"level":"error"'))).toEqual([]);
});
