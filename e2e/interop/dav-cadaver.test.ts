/** @needs cadaver script */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startDavSite } from './dav/dav-site.ts';
import type { DavSite } from './dav/dav-site.ts';
import { succeed } from './dav/program.ts';
import { curl } from './programs.ts';
import { ALICE, JASON } from './site.ts';

/** Debian's cadaver, a client on the library neon, with typed commands. It uses Digest. */
let site: DavSite;

beforeAll(async () => {
  site = await startDavSite();
  await writeFile(join(site.home, 'a.txt'), 'hello\n');
  await writeFile(join(site.home, 'b ü #1.txt'), 'umlaut\n');
});
afterAll(async () => site[Symbol.asyncDispose]());

/** Writes the file from which cadaver reads names and passwords. */
async function signIn({ name, password }: typeof ALICE): Promise<void> {
  const machines = ['127.0.0.1', 'localhost'].map(
    (machine) => `machine ${machine} login ${name} password "${password}"\n`,
  );
  await writeFile(join(site.home, '.netrc'), machines.join(''), { mode: 0o600 });
}
beforeEach(() => signIn(ALICE));

/** Runs these commands, and returns their output. */
async function cadaver(...commands: readonly string[]): Promise<string> {
  const input = [...commands, 'exit', ''].join('\n');
  return succeed('cadaver', [site.url], { home: site.home, input });
}

const asAlice = ['--digest', '--user', `${ALICE.name}:${ALICE.password}`];

describe('cadaver', () => {
  test('runs put, ls, mkcol, copy, move, get and delete', async () => {
    let output = '';
    const passed = await site.recorded(async () => {
      output = await cadaver(
        'put a.txt',
        'put "b ü #1.txt"',
        'mkcol folder',
        'copy a.txt folder/copy.txt',
        'move a.txt folder/moved.txt',
        'ls',
        'ls folder',
        'get folder/moved.txt got.txt',
        'get "b ü #1.txt" got-too.txt',
        'delete "b ü #1.txt"',
        'rmcol folder',
      );
    });
    expect(output).not.toMatch(/failed/);
    expect(output).toMatch(/Coll: +folder/);
    expect(output).toMatch(/b ü #1\.txt +7 /);
    expect(output).toMatch(/copy\.txt +6 [^]*moved\.txt +6 /);
    expect(await readFile(join(site.home, 'got.txt'), 'utf8')).toBe('hello\n');
    expect(await readFile(join(site.home, 'got-too.txt'), 'utf8')).toBe('umlaut\n');
    const changes = passed.filter(({ status }) => status === 201 || status === 204);
    expect(changes.map(({ method, status }) => `${method} ${status}`)).toEqual([
      'OPTIONS 204',
      'PUT 201',
      'PUT 201',
      'MKCOL 201',
      'COPY 201',
      'MOVE 201',
      'DELETE 204',
      'DELETE 204',
    ]);
    const [first, refused, ...later] = passed;
    expect(first).toMatchObject({ method: 'OPTIONS', answered: { dav: '1, 2, 3' } });
    expect(refused?.status).toBe(401);
    for (const { asked } of later) expect(asked.authorization).toMatch(/^Digest /);
  });

  test('RFC 4918 section 9.10: writes a resource that it has locked, while other clients cannot', async () => {
    await cadaver('put a.txt locked.txt');
    const passed = await site.recorded(async () => {
      const output = await cadaver(
        'lock locked.txt',
        'discover locked.txt',
        'showlocks',
        'put a.txt locked.txt',
        'unlock locked.txt',
      );
      expect(output).not.toMatch(/failed/);
      expect(output).toMatch(
        /Lock token <urn:uuid:[-\da-f]{36}>:\s+Depth 0 on .*\/dav\/locked.txt/,
      );
    });
    const locked = passed.find(({ method }) => method === 'LOCK');
    const token = String(locked?.answered['lock-token']);
    expect(token).toMatch(/^<urn:uuid:[-\da-f]{36}>$/);
    expect(passed.find(({ method }) => method === 'PUT')).toMatchObject({
      status: 204,
      asked: { if: expect.stringContaining(`(${token})`) },
    });
    expect(passed.find(({ method }) => method === 'UNLOCK')).toMatchObject({
      status: 204,
      asked: { 'lock-token': token },
    });
  });

  test('RFC 4918 section 6.4: another session gets 423 for a locked resource, and can still read it', async () => {
    const output = await cadaver('put a.txt taken.txt', 'lock taken.txt', 'exit');
    expect(output).not.toMatch(/failed/);
    const other = await cadaver('put a.txt taken.txt', 'cat taken.txt', 'steal taken.txt');
    expect(other).toMatch(/Uploading a.txt to `\/dav\/taken.txt':[^]*failed:\s+423 Locked/);
    expect(other).toContain('hello');
    // The same person may use the lock, because cadaver reads lock tokens from lockdiscovery.
    expect(other).toMatch(/Stealing locks on `taken.txt':\s+\S+: <urn:uuid:/);
    const owner = await cadaver('steal taken.txt', 'put a.txt taken.txt', 'unlock taken.txt');
    expect(owner).not.toMatch(/failed/);
    expect(await cadaver('put a.txt taken.txt')).not.toMatch(/failed/);
  });

  test('RFC 4918 section 7.4: the lock of a collection covers new members', async () => {
    const output = await cadaver('mkcol closed', 'lock closed', 'put a.txt closed/in.txt');
    expect(output).not.toMatch(/failed/);
    const { statuses } = await curl(
      ...asAlice,
      '--upload-file',
      '/dev/null',
      `${site.url}closed/x`,
    );
    expect(statuses.at(-1)).toBe(423);
    expect(await cadaver('steal closed', 'rmcol closed')).not.toMatch(/failed/);
  });

  test('RFC 4918 section 9.2: sets, reads, lists and removes its own properties', async () => {
    await cadaver('put a.txt painted.txt');
    const output = await cadaver(
      'propset painted.txt colour "blau und grün"',
      'propget painted.txt colour',
      'propnames painted.txt',
      'propdel painted.txt colour',
      'propget painted.txt colour',
    );
    expect(output).toMatch(/Value of colour is: blau und grün/);
    expect(output).toMatch(/http:\/\/webdav.org\/cadaver\/custom-properties\/ colour/);
    expect(output.match(/Value of colour is/g)).toHaveLength(1);
    expect(output).toMatch(/Deleting property on `painted.txt': +succeeded/);
  });

  test('gets 400 for text that it does not escape in XML (section 8.2), and nothing is set', async () => {
    const output = await cadaver(
      'put a.txt broken.txt',
      'propset broken.txt colour "a & b"',
      'propnames broken.txt',
    );
    expect(output).toMatch(/Setting property on `broken.txt': failed:\s+400 Bad Request/);
    expect(output).not.toContain('custom-properties');
  });

  test('copies properties with a resource (RFC 4918 section 9.8.2)', async () => {
    const output = await cadaver(
      'put a.txt first.txt',
      'propset first.txt colour red',
      'copy first.txt second.txt',
      'propget second.txt colour',
    );
    expect(output).toMatch(/Value of colour is: red/);
  });

  test('without `overwrite` leaves an existing resource (RFC 4918 section 10.6: 412)', async () => {
    const output = await cadaver(
      'put a.txt x.txt',
      'put a.txt y.txt',
      'unset overwrite',
      'copy x.txt y.txt',
    );
    expect(output).toMatch(/Copying [^]*failed:\s+412 Precondition Failed/);
  });

  test("gets no access with another person's password", async () => {
    await signIn({ ...ALICE, password: JASON.password });
    const before = await curl(...asAlice, site.url);
    const output = await cadaver('put a.txt intruder.txt');
    expect(output).toMatch(/Authentication|401|rejected/i);
    const after = await curl(...asAlice, site.url);
    expect(after.body).toBe(before.body);
  });

  test('works over TLS once a person has accepted the certificate', async () => {
    const session = { home: site.home, input: 'y\nput a.txt over-tls.txt\nls\nexit\n' };
    const output = await succeed(
      'script',
      ['--quiet', '--return', '--command', `cadaver ${site.tlsUrl}`, '/dev/null'],
      session,
    );
    expect(output).toContain('Issued to: Countersign (development)');
    expect(output).toMatch(/over-tls\.txt +6 /);
    await site.hasServed('PUT', '/dav/over-tls.txt', 201);
  });
});
