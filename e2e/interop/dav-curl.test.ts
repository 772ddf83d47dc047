/** @needs curl wget */
import { randomBytes } from 'node:crypto';
import { readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startDavSite } from './dav/dav-site.ts';
import type { DavSite } from './dav/dav-site.ts';
import { program, succeed } from './dav/program.ts';
import { curl } from './programs.ts';
import { ALICE, JASON } from './site.ts';

/** Debian's curl and wget at the caller's own tree, with Digest unless a test names another scheme. */
let site: DavSite;
const digest = ['--digest', '--user', `${ALICE.name}:${ALICE.password}`];
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz';

beforeAll(async () => {
  site = await startDavSite();
  await writeFile(join(site.home, 'alphabet.txt'), ALPHABET);
});
afterAll(async () => site[Symbol.asyncDispose]());

/** Sends a request to a path of the tree; returns status, fields and content of the last answer. */
async function ask(path: string, ...args: readonly string[]) {
  const { statuses, fields, body } = await curl(...digest, ...args, `${site.url}${path}`);
  return { status: statuses.at(-1), field: (name: string) => fields.get(name)?.[0], body };
}

const upload = (path: string) => ask(path, '--upload-file', join(site.home, 'alphabet.txt'));

describe('curl', () => {
  test('RFC 9110 section 9.3.4: -T creates with 201 and Location, and replaces with 204', async () => {
    const created = await upload('a.txt');
    expect(created.status).toBe(201);
    expect(created.field('location')).toBe(`${site.url}a.txt`);
    const replaced = await upload('a.txt');
    expect(replaced.status).toBe(204);
    expect(replaced.field('etag')).not.toBe(created.field('etag'));
    expect(await ask('a.txt')).toMatchObject({ status: 200, body: ALPHABET });
  });

  test('stores content that is sent in chunks', async () => {
    const input = ALPHABET.repeat(1000);
    const args = ['-sS', ...digest, '--upload-file', '-', '--write-out', '%{http_code}'];
    const output = await succeed('curl', [...args, `${site.url}piped.txt`], {
      home: site.home,
      input,
    });
    expect(output).toBe('201');
    expect((await ask('piped.txt')).body).toBe(input);
  });

  test('RFC 9110 section 10.1.1: waits for 100 before it sends 20 MiB, so that they are sent only once', async () => {
    const big = join(site.home, 'big.bin');
    const content = randomBytes(20 * 1024 * 1024);
    await writeFile(big, content);
    const format = [
      '--write-out',
      '%{http_code} %{size_upload}',
      '--header',
      'Expect: 100-continue',
    ];
    const line = [
      '-sS',
      ...digest,
      '--upload-file',
      big,
      ...format,
      `${site.pair.resource}/dav/big.bin`,
    ];
    expect(await succeed('curl', line, { home: site.home })).toBe(`201 ${content.length}`);
    const got = join(site.home, 'got.bin');
    await succeed('curl', ['-sS', ...digest, '--output', got, `${site.url}big.bin`], {
      home: site.home,
    });
    expect((await readFile(got)).equals(content)).toBe(true);
  });

  test('RFC 9110 section 14: reads ranges', async () => {
    await upload('r.txt');
    expect(await ask('r.txt', '--range', '0-4')).toMatchObject({ status: 206, body: 'abcde' });
    expect(await ask('r.txt', '--range', '-3')).toMatchObject({ status: 206, body: 'xyz' });
    expect(await ask('r.txt', '--range', '23-')).toMatchObject({ status: 206, body: 'xyz' });
    const outside = await ask('r.txt', '--range', '26-');
    expect([outside.status, outside.field('content-range')]).toEqual([416, 'bytes */26']);
    const several = await ask('r.txt', '--range', '0-1,24-25');
    expect(several.status).toBe(206);
    expect(several.field('content-type')).toMatch(/^multipart\/byteranges; boundary=/);
    expect(several.body.match(/Content-Range: bytes [\d-]+\/26/gi)).toEqual([
      'Content-Range: bytes 0-1/26',
      'Content-Range: bytes 24-25/26',
    ]);
  });

  test('RFC 9110 section 13.1.5: -C continues a download, or starts again if the document changed', async () => {
    const stored = await upload('resumed.txt');
    const file = join(site.home, 'part.txt');
    await writeFile(file, ALPHABET.slice(0, 10));
    const line = [
      '-sS',
      ...digest,
      '--output',
      file,
      '--continue-at',
      '-',
      `${site.url}resumed.txt`,
    ];
    await succeed('curl', line, { home: site.home });
    expect(await readFile(file, 'utf8')).toBe(ALPHABET);
    const fresh = ['--range', '10-', '--header', `If-Range: ${stored.field('etag')}`];
    expect(await ask('resumed.txt', ...fresh)).toMatchObject({ status: 206 });
    await upload('resumed.txt');
    expect(await ask('resumed.txt', ...fresh)).toMatchObject({ status: 200, body: ALPHABET });
  });

  test('RFC 9110 section 13.1.3: -z downloads only a newer document', async () => {
    await upload('dated.txt');
    const later = new Date(Date.parse('2100-01-01'));
    const file = join(site.home, 'dated.txt');
    await writeFile(file, 'mine');
    await utimes(file, later, later);
    expect((await ask('dated.txt', '--time-cond', file)).status).toBe(304);
    expect((await ask('dated.txt', '--time-cond', '2001-01-01')).status).toBe(200);
  });

  test('RFC 9110 section 13.1.2: --etag-compare downloads only a changed document', async () => {
    await upload('tagged.txt');
    const tags = join(site.home, 'tag');
    const line = ['--etag-save', tags, '--etag-compare', tags];
    expect((await ask('tagged.txt', ...line)).status).toBe(200);
    expect((await ask('tagged.txt', '--etag-compare', tags)).status).toBe(304);
    await upload('tagged.txt');
    expect((await ask('tagged.txt', '--etag-compare', tags)).status).toBe(200);
  });

  test('RFC 9110 sections 13.1.1 and 13.1.2: conditional PUT prevents lost updates', async () => {
    await upload('guarded.txt');
    const write = ['--request', 'PUT', '--data', 'lost', '--header'];
    expect((await ask('guarded.txt', ...write, 'If-None-Match: *')).status).toBe(412);
    expect((await ask('guarded.txt', ...write, 'If-Match: "of-long-ago"')).status).toBe(412);
    expect((await ask('not-there.txt', ...write, 'If-Match: *')).status).toBe(412);
    expect((await ask('guarded.txt', ...write, 'Content-Range: bytes 0-3/26')).status).toBe(400);
    expect((await ask('guarded.txt')).body).toBe(ALPHABET);
    expect((await ask('not-there.txt')).status).toBe(404);
  });

  test('RFC 4918 section 10.3: Destination may be an absolute path or the public URL', async () => {
    await upload('from.txt');
    const copy = ['--request', 'COPY', '--header'];
    expect((await ask('from.txt', ...copy, 'Destination: /dav/path.txt')).status).toBe(201);
    expect((await ask('from.txt', ...copy, `Destination: ${site.url}url.txt`)).status).toBe(201);
    expect((await ask('path.txt')).body).toBe(ALPHABET);
    expect((await ask('url.txt')).body).toBe(ALPHABET);
  });

  test('a Destination on another server gets 502, and in another space 403 (RFC 4918 section 9.9.4)', async () => {
    await upload('stays.txt');
    const move = ['--request', 'MOVE', '--header'];
    // Behind a proxy, the address of the process is not its public name (wsgidav#183).
    const inside = `Destination: ${site.pair.resource}/dav/x.txt`;
    expect((await ask('stays.txt', ...move, inside)).status).toBe(502);
    const forwarded = ['--header', `X-Forwarded-Host: ${new URL(site.pair.resource).host}`];
    expect((await ask('stays.txt', ...forwarded, ...move, inside)).status).toBe(502);
    const space = `Destination: ${site.origin}/documents/x.txt`;
    expect((await ask('stays.txt', ...move, space)).status).toBe(403);
    const climbing = await ask(
      'stays.txt',
      '--path-as-is',
      ...move,
      'Destination: /dav/../documents/x',
    );
    expect([400, 403]).toContain(climbing.status);
    expect((await ask('stays.txt')).status).toBe(200);
  });

  test('RFC 9110 section 15.4.9: a collection without its slash is redirected, and -L keeps the credentials', async () => {
    await ask('folder', '--request', 'MKCOL');
    const { statuses, fields } = await curl(...digest, '--location', `${site.url}folder`);
    expect(statuses).toEqual([401, 308, 200]);
    expect(fields.get('content-type')?.[0]).toMatch(/json|html/);
  });

  test('works over TLS with HTTP/2 or HTTP/1.1', async () => {
    const line = ['-sS', ...digest, '--cacert', site.certificate, '--output', '/dev/null'];
    const format = ['--write-out', '%{http_version} %{http_code}'];
    for (const [choice, said] of [
      ['--http2', '2 200'],
      ['--http1.1', '1.1 200'],
    ] as const) {
      const args = [choice, ...line, ...format, site.tlsUrl];
      expect(await succeed('curl', args, { home: site.home })).toBe(said);
    }
    const upTo = [...line, ...format, '--upload-file', join(site.home, 'alphabet.txt')];
    const stored = await succeed('curl', [...upTo, `${site.tlsUrl}h2.txt`], { home: site.home });
    expect(stored).toBe('2 201');
  });

  test('works over clear-text HTTP/2 with prior knowledge, one request per connection (curl#10634)', async () => {
    const basic = ['--basic', '--user', `${ALICE.name}:${ALICE.password}`];
    const line = ['-sS', ...basic, '--http2-prior-knowledge', '--output', '/dev/null'];
    const format = ['--write-out', '%{http_version} %{http_code}'];
    const args = [...line, ...format, `${site.pair.resource}/dav/`];
    expect(await succeed('curl', args, { home: site.home })).toBe('2 200');
  });

  test("RFC 9110 section 11.6.1: gets 401 without credentials and with another person's", async () => {
    const other = ['--digest', '--user', `${ALICE.name}:${JASON.password}`];
    const args = ['--request', 'PUT', '--data', 'x', `${site.url}intruder.txt`];
    expect((await curl(...args)).statuses).toEqual([401]);
    expect((await curl(...other, ...args)).statuses.at(-1)).toBe(401);
    expect((await ask('intruder.txt')).status).toBe(404);
  });
});

describe('wget', () => {
  const wget = (...args: readonly string[]) =>
    program('wget', ['--tries=1', '--server-response', ...args], { home: site.home });
  const as = ({ password }: typeof ALICE) => [`--user=${ALICE.name}`, `--password=${password}`];

  test('gets a document, continues with -c, and with -N skips a document that is not newer', async () => {
    await upload('w.txt');
    const file = join(site.home, 'w.txt');
    expect((await wget(...as(ALICE), `${site.url}w.txt`)).code).toBe(0);
    expect(await readFile(file, 'utf8')).toBe(ALPHABET);
    await writeFile(file, ALPHABET.slice(0, 5));
    const resumed = await wget(...as(ALICE), '--continue', `${site.url}w.txt`);
    expect(resumed.errors).toContain('HTTP/1.1 206');
    expect(await readFile(file, 'utf8')).toBe(ALPHABET);
    const again = await wget(...as(ALICE), '--timestamping', `${site.url}w.txt`);
    expect(again.errors).toContain('HTTP/1.1 304');
  });

  test('sends other methods and content', async () => {
    const put = ['--method=PUT', '--body-data=by wget', `${site.url}by-wget.txt`];
    expect((await wget(...as(ALICE), ...put)).errors).toContain('HTTP/1.1 201');
    expect((await ask('by-wget.txt')).body).toBe('by wget');
    const remove = ['--method=DELETE', `${site.url}by-wget.txt`];
    expect((await wget(...as(ALICE), ...remove)).errors).toContain('HTTP/1.1 204');
    expect((await ask('by-wget.txt')).status).toBe(404);
  });

  test('downloads a whole folder through the links of its listing', async () => {
    await ask('tree', '--request', 'MKCOL');
    await upload('tree/one%20%C3%BC%20%23.txt');
    await upload('tree/two.txt');
    const line = [
      '--recursive',
      '--no-parent',
      '--no-host-directories',
      '--restrict-file-names=nocontrol',
    ];
    await wget(...as(ALICE), '--header=Accept: text/html', ...line, `${site.url}tree/`);
    expect(await readFile(join(site.home, 'dav/tree/one ü #.txt'), 'utf8')).toBe(ALPHABET);
    expect(await readFile(join(site.home, 'dav/tree/two.txt'), 'utf8')).toBe(ALPHABET);
  });

  test("gets nothing with another person's password", async () => {
    const { code, errors } = await wget(
      ...as(JASON),
      '--output-document=no.txt',
      `${site.url}w.txt`,
    );
    expect(code).toBe(6);
    expect(errors).not.toContain('HTTP/1.1 200');
  });
});
