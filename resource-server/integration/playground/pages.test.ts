import { existsSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parseChallenges } from '#shared/http/auth/challenge.ts';
import { EXCHANGES } from '../../playground/exchanges.ts';
import { PASSWORD } from '../../playground/person.ts';
import { noteOn } from '../../playground/notes.ts';
import {
  ALONE,
  checksOf,
  messagesOf,
  onePlayground,
  startPlayground,
  statusesOf,
} from './playground.fixture.ts';
import { RESOURCE } from '../resource-server.fixture.ts';

const suite = onePlayground();
const HTML = { headers: { Accept: 'text/html' } };

test('the list links to a page for each exchange, with its command and a form that needs no script', async () => {
  const { rs } = suite;
  const list = await rs.ask('GET', '/schemes/', HTML);
  expect(list.status).toBe(200);
  const home = (await rs.ask('GET', '/', HTML)).text;
  expect(home).toContain('href="/schemes/">Playground: ');
  expect(home).toMatch(/<title>[^<]*playground[^<]*<\/title>.*<h1>[^<]*playground<\/h1>/s);
  for (const { name, title } of EXCHANGES) {
    expect(list.text).toContain(`<a href="/playground/${name}">${title}</a>`);
    const page = await rs.ask('GET', `/playground/${name}`, HTML);
    expect([name, page.status]).toEqual([name, 200]);
    expect(page.text).toContain('method="post"');
  }
});

test.each(ALONE)('every field of the messages of $name has a note', async ({ name }) => {
  const { rs } = suite;
  const messages = messagesOf((await rs.perform(name)).text);
  expect(messages.length).toBeGreaterThan(1);
  const names = messages.flatMap((message) =>
    (message.split('\n\n')[0] ?? '')
      .split('\n')
      .slice(1)
      .map((line) => line.slice(0, line.indexOf(':'))),
  );
  expect(names.filter((field) => noteOn(field) === undefined)).toEqual([]);
});

test.each(ALONE.filter(({ parameters }) => parameters))(
  'every parameter of the messages of $name has a note',
  async (exchange) => {
    const { rs } = suite;
    const page = (await rs.perform(exchange.name)).text;
    const fields = messagesOf(page).flatMap((message) => {
      const [, name, value = ''] =
        /^(WWW-Authenticate|Authorization|Authentication-Info): (.*)$/m.exec(message) ?? [];
      if (name === undefined) return [];
      return [name === 'Authentication-Info' ? `${exchange.space.schemes[0]} ${value}` : value];
    });
    const params = fields.flatMap((value) => {
      const [read] = parseChallenges(value) ?? [];
      return read?.token68 === undefined ? Object.keys(read?.params ?? {}) : ['token68'];
    });
    expect(params).not.toEqual([]);
    expect(params.filter((name) => !Object.hasOwn(exchange.parameters ?? {}, name))).toEqual([]);
    for (const name of params) {
      expect(page).toContain(`<dt>${name === 'token68' ? 'after the scheme' : name}</dt>`);
    }
  },
);

test('the pages decode base64, and show what the client concludes', async () => {
  const { rs } = suite;
  expect((await rs.perform('basic')).text).toContain(`<code>playground:${PASSWORD}</code>`);
  const scram = (await rs.perform('scram-sha-256')).text;
  expect(scram).toMatch(/<code>n,,n=playground,r=[^<]+<\/code>/);
  expect(scram).toContain('The client checks v, a value of ServerKey and the messages:');
  for (const name of ['digest', 'digest-auth-int']) {
    const { text } = await rs.perform(name);
    expect(text).toContain('The client computes the same rspauth: the server knows the password.');
    expect(text).not.toContain(`${PASSWORD}!`);
  }
});

test('the document that each exchange names exists', () => {
  const docs = new URL('../../../docs/', import.meta.url);
  const missing = EXCHANGES.filter((one) => !existsSync(new URL(one.document, docs)));
  expect(missing.map(({ name, document }) => [name, document])).toEqual([]);
});

test.each([
  ['dpop', ['DPoP proof: nonce is missing']],
  ['connect', ['no credentials']],
])('a request of %s before the challenge is not marked as a mistake', async (name, reasons) => {
  const found = checksOf((await suite.rs.perform(name)).text).flat();
  expect(found.filter(({ result }) => result === 'wrong')).toEqual([]);
  const early = found.filter(({ result }) => result === 'not yet');
  expect(early.map(({ reason }) => reason)).toEqual(reasons);
});

test('the frame of a page is German for a German browser', async () => {
  const { rs } = suite;
  const page = await rs.perform('basic', '', { 'Accept-Language': 'de' });
  expect(page.text).toContain('Der Server antwortet');
  expect(page.text).toContain('Die Texte über das Protokoll sind englisch');
});

test('TRACE echoes the request without credentials and cookies (RFC 9110 section 9.3.8)', async () => {
  const { rs } = suite;
  const [, answer = ''] = messagesOf((await rs.perform('trace')).text);
  const [, content = ''] = answer.split('\n\n');
  expect(content).toContain('TRACE /playground/at/trace/ HTTP/1.1');
  expect(content).not.toMatch(/Basic|secret/);
});

/** The words at the arrows of a diagram. */
const pictured = (page: string): readonly string[] =>
  [...page.matchAll(/<text\s+class="words".*?<\/text/gs)].map(([text]) =>
    [...text.matchAll(/<tspan[^>]*>([^<]*)</g)].map(([, line]) => line).join(' '),
  );

/** The positions where the arrows of a diagram begin and end. */
const arrowsOf = (page: string) =>
  [...page.matchAll(/<path\s+d="M(\d+) \d+H(\d+)/g)].map(([, from, to]) => [from, to]);

test('the diagram shows both messages of each leg, with the important fields', async () => {
  const { rs } = suite;
  const page = (await rs.perform('dpop')).text;
  expect(pictured(page)).toEqual([
    '1. GET',
    '401, WWW-Authenticate: DPoP, Bearer',
    '2. GET, Authorization: DPoP, DPoP',
    '401, DPoP-Nonce, WWW-Authenticate: DPoP, Bearer',
    '3. GET, Authorization: DPoP, DPoP',
    '200, DPoP-Nonce',
  ]);
});

test('the page of PrivateToken shows the issuer as a third party, and what each side learns (RFC 9576 section 3.3)', async () => {
  const { rs } = suite;
  const { text } = await rs.perform('private-token');
  expect(text).toMatch(/<text x="350"[^>]*>Issuer<\/text>/);
  expect([...text.matchAll(/The (issuer|site) learns that/g)].map(([, party]) => party)).toEqual([
    'issuer',
    'site',
  ]);
  expect(text.match(/<h3>The issuer answers</g)).toHaveLength(2);
  const [, , , directory = '', request = '', response = ''] = messagesOf(text);
  expect(directory).toContain('"issuer-request-uri":"/private-token/request"');
  expect(request).toMatch(/^POST \/private-token\/request HTTP\/1.1\nHost: issuer\.example\n/);
  expect(request).not.toContain('rs.example');
  expect(response).toMatch(/\n\n(?:[0-9a-f]{64}\n){7}[0-9a-f]{64}$/);
  expect(pictured(text)).toContain('3. POST /private-token/request, Authorization: Bearer');
  expect(checksOf(text)[0]?.map(({ result }) => result)).toEqual(Array(12).fill('right'));
  expect(text).toContain('The token request is for a current key of the issuer.');
  // The request and the answer each have this note.
  expect(text.match(/The content is not text\./g)).toHaveLength(2);
  expect(text).toContain('issuer_name issuer.example, redemption_context of 0 octets');
});

test('an address with Concealed answers like a missing one, even to a wrong proof (RFC 9729 section 6.4)', async () => {
  const { rs } = suite;
  const alike =
    /(?:This answer and the one where nothing is|The first answer and this answer) are the same/g;
  const right = (await rs.perform('concealed')).text;
  expect([statusesOf(right), right.match(alike)?.length]).toEqual([[404, 404, 200], 1]);
  for (const mistake of ['key', 'replayed', 'cut']) {
    const { text } = await rs.perform('concealed', `mistake=${mistake}`);
    expect([mistake, statusesOf(text).at(-1), text.match(alike)?.length]).toEqual([
      mistake,
      404,
      2,
    ]);
    expect(text).not.toContain('The answer differs');
  }
});

test('exchanges that need TLS are listed only if the server has an https origin', async () => {
  const clear = { issuer: 'http://localhost:3000', resource: 'http://localhost:3001', spaces: [] };
  await using rs = await startPlayground({ ...clear, trustedProxies: [] });
  const list = await rs.ask('GET', '/schemes/', HTML);
  for (const { name, overTls } of EXCHANGES) {
    expect([name, list.text.includes(`/playground/${name}"`)]).toEqual([name, !overTls]);
    const status = overTls ? 404 : 200;
    expect((await rs.ask('GET', `/playground/${name}`, HTML)).status).toBe(status);
  }
});

test('a browser does not send the request of a page from an unlisted origin (Fetch section 3.3)', async () => {
  const { rs } = suite;
  expect((await rs.perform('preflight')).text).toContain('The browser sends the request');
  const refused = (await rs.perform('preflight', 'mistake=origin')).text;
  expect(refused).toContain('The browser does not send the request');
  expect(messagesOf(refused)[1]).not.toContain('other.example');
});

test.each(ALONE.filter(({ checks }) => checks))(
  'a request that $name accepts has a list of checks, and all of them are right',
  async ({ name, inside, ofApplication }) => {
    const { rs } = suite;
    const page = (await rs.perform(name)).text;
    expect([200, 204]).toContain(statusesOf(page).at(-1));
    const last = checksOf(page).at(-1) ?? [];
    expect(last.length).toBeGreaterThan(1);
    // A cache without a stored answer asks the application. This is not a refusal.
    const fine = ofApplication ? ['right', 'no'] : ['right'];
    expect(last.filter(({ result }) => !fine.includes(result))).toEqual([]);
    // Some answers differ because of conditions, but none is a refusal.
    if (inside)
      expect(
        checksOf(page)
          .flat()
          .filter(({ result }) => !['right', 'no'].includes(result)),
      ).toEqual([]);
    expect(page).toMatch(/id="results">\s*<p class="note good">\s*<strong>Accepted\./);
    expect(page).toContain(`action="/playground/${name}#results"`);
  },
);

const OVER_TLS = ALONE.filter(({ overTls }) => overTls);

test.each(OVER_TLS)(
  'over HTTP/2 the messages of $name are lists of fields, with the same notes and checks (RFC 9113 section 8.3)',
  async ({ name, mistakes }) => {
    const { rs } = suite;
    const before = await rs.ask('GET', `/playground/${name}`, HTML);
    expect(before.text).toContain('<option value="2">HTTP/2</option>');
    for (const mistake of ['', ...Object.keys(mistakes)]) {
      const one = (await rs.perform(name, `mistake=${mistake}`)).text;
      const two = (await rs.perform(name, `mistake=${mistake}&version=2`)).text;
      expect(two).toContain('<option value="2" selected>HTTP/2</option>');
      expect(two).toContain('These messages went over HTTP/2.');
      const messages = messagesOf(two);
      for (const message of messages) {
        expect(message).toMatch(/^:(?:method: [A-Z]+\n:scheme|path|status): /);
        const names = (message.split('\n\n')[0] ?? '')
          .split('\n')
          .map((line) => line.slice(0, line.indexOf(':', 1)));
        expect(names.filter((field) => noteOn(field) === undefined)).toEqual([]);
        expect(names.filter((field) => /[A-Z]|^connection$/.test(field))).toEqual([]);
      }
      const results = (page: string) =>
        checksOf(page).map((list) => list.map(({ result }) => result));
      expect([mistake, results(two)]).toEqual([mistake, results(one)]);
      // Over HTTP/2, server push replaces events.
      const pushed = two.split('The server promises this request').length - 1;
      expect(pushed).toBe(name === 'vapid' && mistake === '' ? 1 : 0);
      const statuses = statusesOf(two).toSpliced(3, pushed);
      expect([mistake, statuses]).toEqual([mistake, statusesOf(one)]);
    }
  },
);

test('a message by server push is the answer to a promised request (RFC 8030 section 6)', async () => {
  const { rs } = suite;
  const { text } = await rs.perform('vapid', 'version=2');
  const [, , , , , whole, promise, pushed] = messagesOf(text);
  expect(whole).toMatch(/^:status: 200\n/);
  expect(promise).toMatch(/^:path: \/playground\/at\/vapid\/message\/[\w-]{22}$/m);
  expect(promise).toContain(':method: GET');
  expect(pushed).toMatch(/^:status: 200\n.*\n\nHello$/s);
  // The server sends both messages of the fourth leg.
  const [asks, answer, ...later] = arrowsOf(text).slice(4);
  expect(later.slice(0, 2)).toEqual([answer, answer]);
  expect(asks).toEqual(answer?.toReversed());
});

test('a vapid token can be used again, and the page says so (RFC 8292 section 2)', async () => {
  const { rs } = suite;
  const { text } = await rs.perform('vapid', 'mistake=replayed');
  expect(statusesOf(text)).toEqual([201, 201, 201, 204]);
  expect(text).toContain('it is valid for every message to this push service');
});

test('a condition that changes the answer is not a refusal (RFC 9110 section 13.1.2)', async () => {
  const { rs } = suite;
  const page = (await rs.perform('conditions')).text;
  expect(statusesOf(page)).toContain(304);
  const found = checksOf(page)
    .flat()
    .filter(({ result }) => result === 'no');
  expect(found.map(({ reason }) => reason)).toEqual([
    'the version is the same, so the answer is 304 without content',
  ]);
});

test.each([
  ['dpop', 'replayed', 4],
  ['patch', 'test', 3],
  ['private-token', 'forged', 4],
])('the page of %s marks the mistake %s at step %d', async (name, mistake, step) => {
  const { text } = await suite.rs.perform(name, `mistake=${mistake}`);
  const [before = '', after = '', ...more] = text.split('Here the client makes its mistake:');
  expect([before.match(/<h2 id="leg-/g)?.length, more]).toEqual([step, []]);
  const words = EXCHANGES.find((one) => one.name === name)?.mistakes[mistake];
  expect(after).toMatch(new RegExp(`^</strong>\\s*<span lang="en">${words}</span>`));
  expect((await suite.rs.perform(name)).text).not.toContain('Here the client makes its mistake:');
});

test('SCRAM shows the shorter exchange with sr (RFC 7804 section 5.1)', async () => {
  const { rs } = suite;
  const { text } = await rs.perform('scram-sha-256');
  expect(statusesOf(text)).toEqual([401, 401, 200, 200]);
  expect(text).toContain('The exchange continues: the client answers the challenge.');
  expect(messagesOf(text)[3]).toContain('The exchange goes on: answer the challenge.');
});

test('the steps link to their messages, and the outcome at the top links to that of the mistake', async () => {
  const { rs } = suite;
  const { text } = await rs.perform('patch', 'mistake=test');
  const linked = [...text.matchAll(/<li><a href="#(leg-\d)">([^<]+)<\/a>/g)];
  const headings = [...text.matchAll(/<h2 id="(leg-\d)">\d\. <span lang="en">([^<]+)</g)];
  expect(linked.map(([, id, title]) => [id, title])).toEqual(
    headings.map(([, id, title]) => [id, title]),
  );
  // The document is removed afterwards, which is accepted.
  expect([headings.length, /\(<a href="#(leg-\d)">Step \d<\/a>\)/.exec(text)?.[1]]).toEqual([
    4,
    'leg-3',
  ]);
});

test('a note shows code in a code font', async () => {
  const { text } = await suite.rs.perform('basic');
  expect(text).toContain('The media types that the client reads; <code>*/*</code> is any.');
  expect(text).not.toContain('`');
});

test('a note appears only once on a page', async () => {
  const { rs } = suite;
  const { text } = await rs.perform('dpop');
  for (const name of ['Host', 'Date', 'Connection', 'algs']) {
    expect([name, text.split(`<dt>${name}</dt>`).length - 1]).toEqual([name, 1]);
  }
});

test('a decoded value appears only once on a page, with a line for each JSON member', async () => {
  const { rs } = suite;
  const { text } = await rs.perform('conditions');
  expect(text.split(`<code>playground:${PASSWORD}</code>`)).toHaveLength(2);
  const dpop = (await rs.perform('dpop')).text;
  // A page has one token and two proofs.
  expect(dpop.match(/^ {2}&quot;typ&quot;: &quot;at\+jwt&quot;,$/gm)).toHaveLength(1);
  expect(dpop.match(/^ {2}&quot;htm&quot;: &quot;GET&quot;,$/gm)).toHaveLength(2);
});

test('the proxy asks for separate credentials, and passes none on (RFC 9110 sections 9.3.6 and 11.7)', async () => {
  const { rs } = suite;
  const { text } = await rs.perform('connect');
  expect(statusesOf(text)).toEqual([407, 200, 200]);
  const [, challenge = '', connect = '', , through = ''] = messagesOf(text);
  expect(challenge).toContain('Proxy-Authenticate: Basic realm="playground proxy"');
  expect(connect).toContain('CONNECT rs.example:443 HTTP/1.1\nHost: rs.example:443\n');
  expect(through).toMatch(/^GET \/playground\/at\/connect\/ HTTP/);
  expect(through).not.toContain('Proxy-');
  expect(text).toMatch(/<text x="250"[^>]*>Proxy<\/text>\s*<text x="350"[^>]*>Server<\/text>/);
});

test('the cache answers until PURGE or BAN removes its entry (RFC 9111, RFC 9211)', async () => {
  await using rs = await startPlayground();
  const { text } = await rs.perform('cache');
  expect(statusesOf(text)).toEqual([200, 200, 200, 200, 200, 200, 200]);
  const kept = /Cache-Status: \S+; ?(hit|fwd=[a-z-]+)/g;
  const handled = [...messagesOf(text).join('\n').matchAll(kept)];
  expect(handled.map(([, how]) => how)).toEqual([
    'fwd=uri-miss',
    'hit',
    'fwd=uri-miss',
    'fwd=uri-miss',
  ]);
  const asked = [
    ...messagesOf(text)
      .join('\n')
      .matchAll(/"asked":(\d+)/g),
  ].map(([, count]) => count);
  expect(asked).toEqual(['1', '1', '2', '3']);
  // Operators do not see the bans of visitors.
  expect(await rs.stores.invalidations.list('ban', 1)).toEqual([]);
  const told = checksOf(text).flatMap((list) => list.filter(({ result }) => result === 'no'));
  expect(told.map(({ reason }) => reason)).toEqual(
    Array.from({ length: 3 }, () => 'no answer is stored, so the cache asks the application'),
  );
});

test('the content of QUERY is part of the cache key (RFC 10008 section 2.7)', async () => {
  await using rs = await startPlayground();
  const { text } = await rs.perform('query-cache');
  const answers = messagesOf(text).filter((message) => message.includes('"names"'));
  expect(answers.map((message) => message.split('\n\n')[1])).toEqual([
    '{"names":["Alice"],"asked":1}',
    '{"names":["Alice"],"asked":1}',
    '{"names":["Alice","Bob"],"asked":2}',
  ]);
  expect(text.match(/The cache has answered by itself, without the application\./g)).toHaveLength(
    1,
  );
});

test('the messages of vapid name a user agent and an application server as senders (RFC 8030 section 2)', async () => {
  const { rs } = suite;
  const { text } = await rs.perform('vapid');
  const names = [...text.matchAll(/<text x="(\d+)"[^>]*>([^<]+)<\/text>/g)];
  expect(names.map(([, , name]) => name)).toEqual([
    'User agent',
    'Push service',
    'Application server',
  ]);
  const [[agent] = [], , [sender] = []] = arrowsOf(text);
  expect(Number(agent)).toBeLessThan(Number(sender));
  expect([...text.matchAll(/<h3>The (\w+ \w+) sends</g)].map(([, name]) => name)).toEqual([
    'user agent',
    'application server',
    'user agent',
    'user agent',
    'user agent',
  ]);
  expect(text.match(/<h3>The push service answers</g)).toHaveLength(5);
});

test('a page explains its terms, and the abbreviation in its title', async () => {
  const { rs } = suite;
  const before = (await rs.ask('GET', '/playground/scram-sha-256', HTML)).text;
  expect(before).toContain('Salted Challenge Response Authentication Mechanism');
  expect(before).not.toContain('<dt>PBKDF2</dt>');
  expect((await rs.perform('scram-sha-256')).text).toContain('<dt>PBKDF2</dt>');
  expect((await rs.perform('basic')).text).not.toContain('<dt>PBKDF2</dt>');
});

test('the checks of GNAP name the type of the token (RFC 9635 section 7.2)', async () => {
  const { text } = await suite.rs.perform('gnap');
  expect(text).toContain('The token is a JWT of the type gnap-at+jwt');
  expect(text).not.toContain('RFC 9449');
});

test('a page has a shell command if the server has a space in which the command works', async () => {
  const { rs } = suite;
  const lines = async (name: string, server = rs) => {
    const { text } = await server.ask('GET', `/playground/${name}`, HTML);
    return /<h2 id="command">.*?<pre>([^<]*)<\/pre>/s.exec(text)?.[1];
  };
  expect(await lines('trace')).toMatch(/^curl -si -X TRACE -u playground:\S+ /);
  expect(await lines('preflight')).toContain(`${RESOURCE}/playground/at/preflight/`);
  const url = `${RESOURCE}/papers/`;
  const spaces = [{ url, realm: 'papers', schemes: ['DPoP', 'Bearer'] }];
  await using papers = await startPlayground({ spaces });
  expect(await lines('query', papers)).toContain(
    `-X QUERY \\\n-H &#39;Content-Type: application/jsonpath&#39; \\\n-d &#39;$[?@.age &gt; 30].name&#39; \\\n${url}people.json`,
  );
  expect(await lines('client-credentials', papers)).toMatch(
    /-u CLIENT_ID:CLIENT_SECRET .*resource=\S+\/papers\//s,
  );
  expect(await lines('dpop', papers)).toBeUndefined();
  const origin = 'http://localhost:3001';
  const local = { issuer: 'http://localhost:3000', resource: origin, trustedProxies: [] };
  const trees = [{ url: `${origin}/papers/`, realm: 'papers', schemes: ['Bearer'] }];
  await using development = await startPlayground({ ...local, spaces: trees });
  expect(await lines('device-code', development)).toMatch(/ login http:\S+\/papers\/$/);
  expect(await lines('dpop', development)).toMatch(/ request GET http:\S+\/papers\/$/);
  expect(await lines('client-credentials', development)).toMatch(/^\. .*\n.* -u demo-machine:/);
  await using none = await startPlayground({ spaces: [] });
  expect(await lines('query', none)).toBeUndefined();
});

test('the list also accepts another spelling of its address, and names the schemes that it does not show', async () => {
  const { rs } = suite;
  const moved = await rs.ask('GET', '/schemes');
  expect([moved.status, moved.headers.location]).toEqual([308, '/schemes/']);
  const { text } = await rs.ask('GET', '/schemes/');
  expect(text).toMatch(/Schemes that are not shown here: [^<]*Negotiate/);
});

test('the name of a document is a link if the operator configures where the documents are', async () => {
  await using plain = await startPlayground();
  expect((await plain.ask('GET', '/playground/basic')).text).not.toContain('/basic.md"');
  await using rs = await startPlayground({ brand: { docs: 'https://docs.example/v1/' } });
  expect((await rs.ask('GET', '/playground/basic')).text).toContain(
    '<a href="https://docs.example/v1/how-to/schemes/basic.md">',
  );
});
