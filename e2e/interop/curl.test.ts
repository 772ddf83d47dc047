/** @needs curl */
import { execFile, spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startPair } from '../pair/pair.ts';
import type { Pair } from '../pair/pair.ts';
import { examples, runCommands } from '../pair/examples.ts';

/** Debian's curl: the commands of the documentation, and features that only curl has. */
const ROOT = new URL('../../', import.meta.url).pathname;
const run = promisify(execFile);

let pair: Pair;
let machine: { id: string; secret: string };
let token: string;

beforeAll(async () => {
  pair = await startPair();
  machine = await pair.addClient();
  token = await pair.token(machine);
});
afterAll(() => pair[Symbol.asyncDispose]());

interface Answer {
  readonly status: number;
  /** The names are in lower case. A repeated field has its last value. */
  readonly fields: ReadonlyMap<string, string>;
  readonly body: string;
}

const curl = async (...args: readonly string[]): Promise<string> =>
  (await run('curl', ['--silent', '--show-error', '--max-time', '20', ...args])).stdout;

/** The last answer that curl prints with `--include`. */
async function answer(...args: readonly string[]): Promise<Answer> {
  const printed = await curl('--include', ...args);
  return parse(printed);
}

function parse(printed: string): Answer {
  const start = printed.lastIndexOf('HTTP/1.');
  const end = printed.indexOf('\r\n\r\n', start);
  const [line = '', ...lines] = printed.slice(start, end).split('\r\n');
  const fields = lines.map((field): [string, string] => {
    const colon = field.indexOf(':');
    return [field.slice(0, colon).toLowerCase(), field.slice(colon + 2)];
  });
  return {
    status: Number(line.split(' ')[1]),
    fields: new Map(fields),
    body: printed.slice(end + 4),
  };
}

/** Pages whose commands run one after another, as a reader would type them. */
const PAGES = [
  'docs/tutorials/first-ten-minutes.md',
  'docs/how-to/schemes/README.md',
  'docs/how-to/schemes/hoba.md',
  'docs/how-to/schemes/concealed.md',
  'docs/how-to/private-token.md',
];

describe('the commands of the first pages', () => {
  /** The output of each command of the tour, in order. */
  let printed: readonly string[];

  beforeAll(async () => {
    const blocks = await Promise.all(PAGES.map((page) => examples(page, 'sh tour')));
    printed = await runCommands(pair, blocks.flat().join(''));
  });

  test('get a token, write with it, and read with it', () => {
    const [got = '', put = '', read = ''] = printed;
    expect(got).toBe('');
    expect(parse(put)).toMatchObject({ status: 201, body: '' });
    expect(parse(put).fields.get('location')).toBe(`${pair.documents}hello.txt`);
    expect(read).toBe('Hello');
  });

  test('revoke the token, and the next request is refused', () => {
    const [, , , revoked = '', after = ''] = printed;
    expect(revoked).toBe('{}');
    expect(parse(after).status).toBe(401);
    expect(after).toContain('error="invalid_token"');
    expect(after).not.toContain('Hello');
  });

  test('without a token, show the challenges and the metadata that they name', () => {
    const [, , , , , refused = '', metadata = ''] = printed;
    expect(parse(refused).status).toBe(401);
    const url = `${pair.resource}/.well-known/oauth-protected-resource/documents/`;
    expect(refused.split(`resource_metadata="${url}"`)).toHaveLength(3);
    expect(JSON.parse(metadata)).toMatchObject({
      resource: pair.documents,
      authorization_servers: [pair.issuer],
    });
  });

  test('show the command line: a client, a request with a bound token, the help', () => {
    const [added = '', requested = '', help = '', ...more] = printed.slice(7);
    expect(JSON.parse(added)).toEqual({
      client_id: expect.any(String),
      client_secret: expect.any(String),
    });
    expect(requested).toBe('Hello');
    expect(help).toContain('client add');
    expect(more).toHaveLength(19);
  });

  test('add people and clients', () => {
    const [person = '', client = '', ended = '', first = ''] = printed.slice(10);
    expect(first).toContain(`link: ${pair.issuer}/register/`);
    expect(person).toContain('alice');
    expect(client).toMatch(/^client_id: \w+\n$/);
    expect(ended).toContain('alice');
  });

  test('use every scheme, and the proxy', () => {
    const [
      basic = '',
      digest = '',
      key = '',
      through = '',
      tunnelled = '',
      mutual = '',
      realms = '',
      added = '',
    ] = printed.slice(15);
    const as = (scheme: string, realm: string) => ({
      scheme,
      realm,
      principal: { kind: 'person', name: 'demo' },
    });
    expect(JSON.parse(basic)).toEqual(as('Basic', 'basic'));
    expect(JSON.parse(digest)).toEqual(as('Digest', 'digest'));
    expect(JSON.parse(key)).toMatchObject({ principal: { kind: 'application' } });
    expect(JSON.parse(through)).toEqual(as('Basic', 'basic'));
    expect(JSON.parse(tunnelled)).toEqual(as('Digest', 'digest'));
    const visits = mutual.trim().split('\n');
    expect(JSON.parse(visits.at(-1) ?? '')).toMatchObject({ verdict: 'AUTH-SUCCEED' });
    expect(JSON.parse(JSON.parse(visits.at(-1) ?? '').body)).toEqual(as('Mutual', 'mutual'));
    expect(realms).toContain('/schemes/all/');
    expect(JSON.parse(added)).toMatchObject({ application: 'papertrail' });
  });

  test('use a browser key: the challenge, and a fresh one', () => {
    const [refused = '', fresh = ''] = printed.slice(23);
    expect(refused).toMatch(/^HTTP\/2 401 /);
    expect(refused).toMatch(/^www-authenticate: HOBA challenge="[\w-]+", max-age="60"\r$/m);
    expect(fresh).toMatch(/^[\w-]{51}$/);
  });

  test('use an API key instead of a password', () => {
    const [made = '', known = ''] = printed.slice(25);
    expect(made).toContain('scheme: Concealed');
    expect(JSON.parse(known)).toMatchObject({ scheme: 'Concealed', principal: { name: 'demo' } });
  });

  test("use an anonymous token: the challenges, and the issuer's directory", () => {
    const [refused = '', directory = ''] = printed.slice(27);
    expect(parse(refused).status).toBe(401);
    expect(refused.match(/^WWW-Authenticate: PrivateToken challenge="/gm)).toHaveLength(2);
    expect(JSON.parse(directory)).toMatchObject({
      'issuer-request-uri': `${pair.tokenIssuer}/private-token/request`,
      'token-keys': [{ 'token-type': 1 }, { 'token-type': 2 }],
    });
  });
});

test.each([
  ['bearer-dpop', /^{"members":/],
  ['basic', /"scheme":"Basic"/],
  ['digest', /"scheme":"Digest"/],
  ['scram', /^HTTP\/1\.1 401 [^]*WWW-Authenticate: SCRAM-SHA-256 [^]*data=/i],
  ['api-key', /papertrail/],
  ['gnap', /"scheme":"GNAP"/],
])('the commands of docs/how-to/schemes/%s.md work', async (scheme, last) => {
  const commands = await examples(`docs/how-to/schemes/${scheme}.md`, 'sh try');
  const printed = await runCommands(pair, commands.join(''));
  expect(printed.at(-1)).toMatch(last);
});

test('the commands of docs/how-to/test-your-client.md are answered as its table says', async () => {
  const [commands = ''] = await examples('docs/how-to/test-your-client.md', 'sh client');
  const [, identified = '', ...answers] = await runCommands(pair, commands);
  expect(JSON.parse(identified)).toMatchObject({ scheme: 'Digest' });
  expect(answers.map((printed) => parse(printed).status)).toEqual([501, 405, 401, 400]);
  expect(parse(answers[1] ?? '').fields.get('allow')).toContain('GET');
});

test('the tour of README.md: a revoked token is refused', async () => {
  const [tour = ''] = await examples('README.md', 'sh tour');
  const [, , put, read, revoked, refused = ''] = await runCommands(pair, tour);
  expect([put, read, revoked]).toEqual(['', 'Hello', '{}']);
  expect(parse(refused).status).toBe(401);
});

describe('docs/reference/documents.md', () => {
  test('its commands write, patch and query a document', async () => {
    const commands = await examples('docs/reference/documents.md', 'sh documents');
    const [put = '', patched = '', queried = '', filtered = '', found = '', overTls = '', ...more] =
      await runCommands(pair, commands.join(''));
    expect([put, patched, more]).toEqual(['', '', []]);
    expect(JSON.parse(queried)).toEqual(['b']);
    expect(JSON.parse(filtered)).toEqual([{ name: 'notes.json', length: expect.any(Number) }]);
    expect(found).toContain('<D:href>/dav/notes.json</D:href>');
    expect(JSON.parse(overTls)).toMatchObject({ name: 'countersign', tags: ['a', 'b'] });
  });
});

const bearer = () => ['--oauth2-bearer', token];
const document = (name: string) => pair.documents + name;

describe("curl's fields and methods", () => {
  test('RFC 6750 section 2.1: --oauth2-bearer is admitted', async () => {
    expect(await answer(...bearer(), pair.documents)).toMatchObject({ status: 200 });
    expect((await answer('--oauth2-bearer', 'x', pair.documents)).status).toBe(401);
  });

  test('RFC 9110 section 9.3.2: --head gets the fields of GET', async () => {
    await curl(...bearer(), '-T', join(ROOT, 'package.json'), document('package.json'));
    const passing = new Set([
      'date',
      'keep-alive',
      'connection',
      'transfer-encoding',
      'x-request-id',
    ]);
    const lasting = ({ fields }: Answer) =>
      new Map([...fields].filter(([name]) => !passing.has(name)));
    for (const url of [
      document('package.json'),
      document(''),
      document('missing'),
      `${pair.resource}/`,
      `${pair.resource}/.well-known/oauth-protected-resource/documents/`,
      `${pair.resource}/nothing`,
      `${pair.issuer}/`,
      `${pair.issuer}/jwks`,
      `${pair.issuer}/token`,
      `${pair.issuer}/nothing`,
    ]) {
      const get = await answer(...bearer(), url);
      const head = await answer(...bearer(), '--head', url);
      expect([url, head.status, lasting(head)]).toEqual([url, get.status, lasting(get)]);
      expect(head.body).toBe('');
    }
  });

  test('RFC 9112 section 2.5: HTTP/1.0 works with and without Host', async () => {
    const old = await answer('--http1.0', ...bearer(), pair.documents);
    expect(old.status).toBe(200);
    expect(old.fields.has('transfer-encoding')).toBe(false);
    expect((await answer('--http1.0', '-H', 'Host:', ...bearer(), pair.documents)).status).toBe(
      200,
    );
    expect((await answer('-H', 'Host:', ...bearer(), pair.documents)).status).toBe(400);
  });

  test('RFC 9110 section 9.1: an unknown method gets 501, and a method that the resource lacks gets 405', async () => {
    expect((await answer('-X', 'FROBNICATE', ...bearer(), pair.documents)).status).toBe(501);
    const refused = await answer('-X', 'DELETE', ...bearer(), pair.documents);
    expect(refused.status).toBe(405);
    expect(refused.fields.get('allow')).toContain('GET');
    const token405 = await answer(`${pair.issuer}/token`);
    expect(token405.status).toBe(405);
    expect(token405.fields.get('allow')).toContain('POST');
  });
});

describe('a path with two readings gets 400, with any credentials', () => {
  test.each([
    'documents/../documents/hello.txt',
    'documents/./hello.txt',
    'documents/%2e%2e/documents/hello.txt',
    'documents/%2E./x',
    'documents/a%2Fb',
    'documents/a%5Cb',
    'documents/a%00',
    'documents/%',
    'documents/%ff',
    '/documents/',
  ])('the path %s gets 400', async (path) => {
    const url = `${pair.resource}/${path}`;
    expect((await answer('--path-as-is', ...bearer(), url)).status).toBe(400);
    expect((await answer('--path-as-is', url)).status).toBe(400);
  });

  test('an unusual path with one reading is an ordinary name', async () => {
    const put = await answer(...bearer(), '-X', 'PUT', '-d', 'x', document('a%20%C3%BC;b,c~'));
    expect(put.status).toBe(201);
    expect((await answer(...bearer(), put.fields.get('location') ?? '')).body).toBe('x');
  });
});

describe('RFC 9110 section 10.1.1: Expect: 100-continue', () => {
  const SIZE = 20 * 1024 * 1024;

  test('an upload that is not allowed is refused before it is sent', async () => {
    const large = join(pair.data, 'large');
    await writeFile(large, Buffer.alloc(SIZE));
    const upload = ['-T', large, '-H', 'Expect: 100-continue', '--expect100-timeout', '15'];
    const measured = ['-o', '/dev/null', '-w', '%{http_code} %{size_upload}'];
    const put = (...args: string[]) => curl(...upload, ...measured, ...args, document('large'));
    expect(await put()).toBe('401 0');
    expect(await put('--oauth2-bearer', 'x')).toBe('401 0');
    const { body } = await pair.post(
      '/token',
      { grant_type: 'client_credentials', scope: 'documents:read' },
      machine,
    );
    expect(await put('--oauth2-bearer', String(body['access_token']))).toBe('403 0');
    expect(await put(...bearer(), '-H', 'If-Match: "other"')).toBe('412 0');
    expect(await put(...bearer())).toBe(`201 ${SIZE}`);
  });

  test('content that is announced as too long gets 413 before it is sent', async () => {
    const expecting = ['-H', 'Expect: 100-continue', '--expect100-timeout', '15'];
    const announced = ['-H', `Content-Length: ${65 * 1024 * 1024}`, '-H', 'Transfer-Encoding:'];
    const measured = ['-o', '/dev/null', '-w', '%{http_code} %{size_upload}'];
    const args = [...expecting, ...announced, ...measured, ...bearer()];
    const printed = await curl('-T', '-', ...args, document('larger'));
    expect(printed).toBe('413 0');
  });

  test('a stream without a length arrives whole', async () => {
    const args = ['-sS', '-T', '-', '-w', '%{http_code}', ...bearer(), document('stream')];
    const child = spawn('curl', args, { stdio: ['pipe', 'pipe', 'inherit'] });
    createReadStream(join(ROOT, 'package-lock.json')).pipe(child.stdin);
    expect(await text(child.stdout)).toBe('201');
    const sent = await readFile(join(ROOT, 'package-lock.json'), 'utf8');
    expect((await curl(...bearer(), document('stream'))) === sent).toBe(true);
  });
});

describe('RFC 9110 section 13: conditional requests', () => {
  test('--etag-save and --etag-compare: curl gets 304 until the document changes', async () => {
    const url = document('etag.txt');
    const [saved, etag] = [join(pair.data, 'saved'), join(pair.data, 'etag')];
    await curl(...bearer(), '-X', 'PUT', '-d', 'one', url);
    expect(await curl(...bearer(), '--etag-save', etag, url)).toBe('one');
    const again = ['-o', saved, '-w', '%{http_code}', '--etag-compare', etag, url];
    expect(await curl(...bearer(), ...again)).toBe('304');
    await curl(...bearer(), '-X', 'PUT', '-d', 'two', url);
    expect(await curl(...bearer(), ...again)).toBe('200');
    expect(await readFile(saved, 'utf8')).toBe('two');
    // Without a token the entity tag does not help.
    expect(await curl(...again)).toBe('401');
  });

  test('If-None-Match: * creates a document once, and If-Match replaces the version that was read', async () => {
    const url = document('once.txt');
    const put = (...fields: string[]) =>
      answer(...bearer(), '-X', 'PUT', '-d', 'x', ...fields.flatMap((field) => ['-H', field]), url);
    const created = await put('If-None-Match: *');
    expect(created.status).toBe(201);
    expect((await put('If-None-Match: *')).status).toBe(412);
    const etag = created.fields.get('etag') ?? '';
    const race = await Promise.all(Array.from({ length: 10 }, () => put(`If-Match: ${etag}`)));
    expect(race.filter(({ status }) => status === 204)).toHaveLength(1);
    expect(race.filter(({ status }) => status === 412)).toHaveLength(9);
  });

  test('--time-cond sends If-Modified-Since, and gets 304', async () => {
    const url = document('package.json');
    const since = (time: string) =>
      curl(...bearer(), '-o', '/dev/null', '-w', '%{http_code}', '--time-cond', time, url);
    const modified = (await answer(...bearer(), '--head', url)).fields.get('last-modified') ?? '';
    expect(await since(modified)).toBe('304');
    expect(await since('1 Jan 2020')).toBe('200');
  });
});
