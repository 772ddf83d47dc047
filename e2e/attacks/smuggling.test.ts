import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sentBy } from '../clients/digest/answers.fixture.ts';
import { digestClient } from '../clients/digest/digest-client.ts';
import type { Field, HttpRequest } from '../clients/digest/exchange.ts';
import { scramClient } from '../clients/scram/scram-client.ts';
import { ONE_STORE } from '../flows/flow.ts';
import {
  authorization,
  basic,
  challengesOf,
  field,
  get,
  inTurn,
  masked,
  post,
  startAttackedPair,
  UNLIMITED,
  converse,
} from './attacked-pair.fixture.ts';
import type { Realm, Somebody, AttackedPair } from './attacked-pair.fixture.ts';
import { expectSound, wireOf } from './wire.fixture.ts';
import type { Shape, Wire } from './wire.fixture.ts';

/**
 * Credentials that are too long, doubled or malformed, and requests that another site sends for the
 * browser.
 */
describe.each(ONE_STORE)('on %s', (kind) => {
  let attacked: AttackedPair;
  let wire: Wire;
  let who: Somebody;
  let key: string;
  beforeAll(async () => {
    attacked = await startAttackedPair(kind, { credentials: UNLIMITED, signIn: UNLIMITED });
    wire = wireOf(attacked);
    who = await attacked.newcomer();
    ({ key } = await attacked.newKey('all'));
  });
  afterAll(() => attacked[Symbol.asyncDispose]());

  const status = async (...args: Parameters<Wire>) => (await wire(...args)).status;
  const send = (request: HttpRequest, server = 0) => attacked.send(server)(request);

  describe('oversize credentials (RFC 6585 section 5)', () => {
    const good = () => inTurn([0, 1], (server) => status(server, 'basic', [basic(who).join(': ')]));

    test.each<[string, Realm, (length: number) => string]>([
      ['Basic', 'basic', (length) => `Basic ${'A'.repeat(length)}`],
      ['Digest, one parameter', 'digest', (length) => `Digest username="${'a'.repeat(length)}"`],
      ['Digest, many', 'digest', (length) => `Digest ${'a=b, '.repeat(length / 5)}`],
      ['Digest, different ones', 'digest', (length) => `Digest ${parameters(length)}`],
      ['SCRAM', 'scram-256', (length) => `SCRAM-SHA-256 data="${'bixh'.repeat(length / 4)}"`],
      ['commas', 'all', (length) => `Digest ${','.repeat(length)}`],
      ['quotes', 'all', (length) => `Digest a="${String.raw`\"`.repeat(length / 2)}`],
      ['a scheme', 'all', (length) => 'a'.repeat(length)],
    ])('%s: 64 KiB are read and refused, 128 KiB get 431', async (_, realm, make) => {
      const lines = (length: number) => [`Authorization: ${make(length)}`];
      expect([400, 401]).toContain(await status(0, realm, lines(65_536)));
      expect(await status(1, realm, lines(131_072))).toBe(431);
      expect(await good()).toEqual([200, 200]);
    });

    test('an API key of 64 KiB gets 403, 128 KiB get 431', async () => {
      expect(await status(0, 'keys', [`X-API-Key: ${'a'.repeat(65_536)}`])).toBe(403);
      expect(await status(0, 'keys', [`X-API-Key: ${'a'.repeat(131_072)}`])).toBe(431);
      expect(await good()).toEqual([200, 200]);
    });

    test('a password of 1 MB gets 431', async () => {
      const [name, value] = basic({ ...who, password: 'a'.repeat(1_000_000) });
      expect(await status(0, 'basic', [`${name}: ${value}`])).toBe(431);
      expect(await good()).toEqual([200, 200]);
    });

    test('passwords of 10 KB are refused unhashed, so that 200 at once do not fill the queue', async () => {
      const many = Array.from({ length: 200 }, (_, index) =>
        get('basic', [basic({ ...who, password: `${index}${'ä'.repeat(5000)}` })]),
      );
      const answers = await inTurn(many, (request) => send(request));
      expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([401]));
      expect(await good()).toEqual([200, 200]);
    });
  });

  describe('two sets of credentials (RFC 9110 section 11.4)', () => {
    const two = () => [basic(who).join(': '), `X-API-Key: ${key}`] as const;

    test('precondition: each set alone is admitted', async () => {
      const [person, application] = two();
      expect(await status(0, 'all', [person])).toBe(200);
      expect(await status(1, 'all', [application])).toBe(200);
      expect(await status(1, 'all', [], { target: `/all/?key=${key}` })).toBe(200);
    });

    test.each<[string, Shape, () => readonly string[]]>([
      ['two lines', {}, () => [two()[0], two()[0]]],
      ['two lines in different cases', {}, () => [two()[0], two()[0].toLowerCase()]],
      ['a bad one first', {}, () => ['Authorization: Basic x', two()[0]]],
      ['a bad one last', {}, () => [two()[0], 'Authorization: Basic x']],
      ['an empty one', {}, () => [two()[0], 'Authorization:']],
      ['two schemes', {}, () => [two()[0], 'Authorization: Bearer x']],
      ['one line, comma', {}, () => [`${two()[0]}, Basic YTpi`]],
      ['one line, comma and another scheme', {}, () => [`${two()[0]}, Digest a="b"`]],
      ['a person and a key', {}, () => two()],
      ['a person and a wrong key', {}, () => [two()[0], 'X-API-Key: x']],
      ['a wrong person and a key', {}, () => ['Authorization: Basic x', two()[1]]],
      ['two keys', {}, () => [two()[1], two()[1]]],
      ['a key in field and query', { target: '/all/?key=x' }, () => [two()[1]]],
      ['two keys in the query', { target: '/all/?key=x&key=y' }, () => []],
      ['a person and a key in the query', { target: '/all/?key=x' }, () => [two()[0]]],
      ['obsolete line folding', {}, () => [two()[0].replace('Basic ', 'Basic\r\n ')]],
      ['folding before the value', {}, () => [two()[0].replace(': ', ':\r\n ')]],
      ['a bare CR', {}, () => [two()[0].replace('Basic ', 'Basic \r')]],
      ['a blank before the colon', {}, () => [two()[0].replace(':', ' :')]],
      ['a field that CGI takes for it', {}, () => [two()[0], 'Proxy_Authorization: Basic x']],
      ['userinfo in the target', { target: 'http://alice:pw@a/all/' }, () => []],
    ])('%s: the server answers 400', async (_, more, lines) => {
      expect(await inTurn([0, 1], (server) => status(server, 'all', lines(), more))).toEqual([
        400, 400,
      ]);
    });

    test.each([
      ['comma and nothing', () => `${two()[0]},`],
      ['semicolon', () => `${two()[0]}; Basic YTpi`],
    ])('one line, %s: the server answers 401', async (_, line) => {
      const answers = await inTurn([0, 1], (server) => status(server, 'all', [line()]));
      expect(answers).toEqual([401, 401]);
    });

    test('a space may accept a key beside a person, and then the key must be valid, too', async () => {
      const own = await attacked.newKey('beside');
      const [person] = two();
      const beside = (...lines: readonly string[]) => status(1, 'beside', lines);
      expect(await beside(person)).toBe(200);
      expect(await beside(person, `X-API-Key: ${own.key}`)).toBe(200);
      expect(await beside(`X-API-Key: ${own.key}`)).toBe(401);
      expect(await beside(person, `X-API-Key: ${key}`)).toBe(401);
      expect(await beside(person, 'X-API-Key: ')).toBe(401);
      expect(await beside(person, `X-API-Key: ${own.key}`, 'X-API-Key: x')).toBe(400);
    });

    test.each([
      ['the field of a proxy', 'Proxy-Authorization'],
      ['a look-alike', 'X-Authorization'],
      ['a cookie', 'Cookie'],
    ])('%s is no credentials, and the server answers 401', async (_, name) => {
      expect(await status(0, 'basic', [`${name}: ${basic(who)[1]}`])).toBe(401);
    });

    test('the answer to a key in the query may not be cached by a shared cache or send a referrer', async () => {
      const answers = await inTurn([key, 'x'], (one, server) =>
        wire(server, 'all', [], { target: `/all/?key=${one}` }),
      );
      expect(answers.map((answer) => answer.status)).toEqual([200, 401]);
      for (const answer of answers) {
        expect(field(answer, 'Cache-Control')).toMatch(/private/);
        expect(field(answer, 'Referrer-Policy')).toBe('no-referrer');
      }
    });
  });

  describe('HTTP/1.0 (RFC 9112 section 2.6)', () => {
    const old = { version: '1.0' };

    test('the server sends challenges, and admits every scheme', async () => {
      const asked = await wire(0, 'all', [], old);
      expect(asked.status).toBe(401);
      expect(challengesOf(asked).map(({ scheme }) => scheme)).toEqual(
        challengesOf(await wire(0, 'all', [])).map(({ scheme }) => scheme),
      );
      const over = (server: number) => (request: HttpRequest) => {
        const { method, target, fields, content } = request;
        const lines = fields.map((line) => line.join(': '));
        return wire(server, 'all', lines, {
          ...old,
          method,
          target,
          content: content.toString('latin1'),
        });
      };
      const requests = [get('digest'), post('integrity', 'content')];
      for (const [server, request] of requests.entries()) {
        const { answer } = await converse(digestClient(who), request, over(server));
        expect(answer.status).toBe(200);
      }
      const client = scramClient({ ...who, hash: 'SHA-256' });
      expect((await converse(client, get('scram-256'), over(1))).answer.status).toBe(200);
      expect(await status(0, 'basic', [basic(who).join(': ')], old)).toBe(200);
      expect(await status(0, 'all', [`X-API-Key: ${key}`], old)).toBe(200);
    });

    test('chunked content, which HTTP/1.0 does not have, gets 400 before the credentials are checked', async () => {
      const lines = [basic(who).join(': '), 'Transfer-Encoding: chunked'];
      expect(await status(0, 'basic', lines, { ...old, method: 'POST' })).toBe(400);
    });
  });

  describe('long content that auth-int covers (RFC 7616 section 3.4.3)', () => {
    const LENGTH = 100_000_000;
    /** Announces content of that length, and sends none of it. */
    async function announced(
      one: Somebody,
      claims: { readonly nonce?: string } = {},
      lines: readonly string[] = [],
    ) {
      const client = digestClient({ ...one, prepare: (said) => ({ ...said, ...claims }) });
      const exchange = client.exchange(post('integrity', 'small'));
      const request = await sentBy(exchange, await send(await sentBy(exchange)));
      const fields = [
        `Authorization: ${authorization(request)}`,
        `Content-Length: ${LENGTH}`,
        ...lines,
      ];
      return wire(1, 'integrity', fields, { method: 'POST' });
    }

    test('a bad nonce gets 401 without waiting for the content', async () => {
      for (const lines of [[], ['Expect: 100-continue']]) {
        expect((await announced(who, { nonce: 'bad' }, lines)).status).toBe(401);
      }
    });

    test('a valid nonce gets 413, whether the credentials are right or not', async () => {
      const [known, wrong, nobody] = await Promise.all([
        announced(who),
        announced({ ...who, password: 'wrong' }),
        announced({ username: 'nobody', password: 'wrong' }),
      ]);
      expect(known.status).toBe(413);
      expect(masked(wrong)).toBe(masked(known));
      expect(masked(nobody)).toBe(masked(known));
    });
  });

  describe('unsafe requests from another site (Fetch Metadata section 2.3)', () => {
    const own = (): readonly Field[] => [['Origin', attacked.pair.resource]];
    const elsewhere: readonly (readonly Field[])[] = [
      [['Origin', 'https://evil.example']],
      [['Origin', 'null']],
      [['Sec-Fetch-Site', 'cross-site']],
      [
        ['Origin', 'https://evil.example'],
        ['Sec-Fetch-Site', 'same-origin'],
      ],
    ];
    const asBasic = async (request: HttpRequest, server: number) =>
      (await send({ ...request, fields: [...request.fields, basic(who)] }, server)).status;
    const asDigest = async (request: HttpRequest, server: number) =>
      (await converse(digestClient(who), request, attacked.send(server))).answer.status;

    test.each([
      ['Basic', 'basic', asBasic],
      ['Digest', 'digest', asDigest],
      ['Digest with auth-int', 'integrity', asDigest],
    ] as const)('%s: an unsafe request gets 403, and GET is admitted', async (_, realm, as) => {
      for (const [index, fields] of elsewhere.entries()) {
        expect(await as(post(realm, 'x', fields), index % 2)).toBe(403);
        expect(await as(get(realm, fields), index % 2)).toBe(200);
      }
      expect(await as(post(realm, 'x', own()), 1)).toBe(200);
      expect(await as(post(realm, 'x'), 1)).toBe(200);
      const twice = [...own(), ...own()];
      expect(await as(post(realm, 'x', twice), 1)).toBe(400);
    });

    test('the 403 does not show whether the password is right', async () => {
      const fields = elsewhere[0] ?? [];
      const answers = await inTurn([who, { ...who, password: 'wrong' }], (one, server) =>
        send(post('basic', 'x', [...fields, basic(one)]), server),
      );
      expect(answers[0]?.status).toBe(403);
      expect(answers.map(masked)[1]).toBe(answers.map(masked)[0]);
    });

    test('SCRAM is admitted, because browsers do not send it', async () => {
      const client = scramClient({ ...who, hash: 'SHA-256', unprompted: true });
      const request = post('scram-256', 'x', elsewhere[0]);
      expect((await converse(client, request, attacked.send(0))).answer.status).toBe(200);
    });
  });

  test('after these tests both servers still run, no logged error is a defect, and the log has no secret', async () => {
    await expectSound(attacked, [who.password, basic(who)[1], key.slice(-64), 'alice:pw']);
    const good = [basic(who).join(': ')];
    expect(await inTurn([0, 1], (server) => status(server, 'basic', good))).toEqual([200, 200]);
  });
});

/** Makes parameters with different names, of that length in all. */
function parameters(length: number): string {
  const all = Array.from({ length: Math.floor(length / 9) }, (_, index) => `a${100_000 + index}=b`);
  return all.join(',').slice(0, length);
}
