/** @needs curl */
/** The playground under `countersign start`: separate processes, started by the first visit. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Agent, fetch } from 'undici';
import { examples } from '../pair/examples.ts';
import { type RunningProcess, until } from '../parts/process.ts';
import { home, type Home } from './home.ts';

const run = promisify(execFile);

let place: Home;
let secure: string;
let pair: RunningProcess;
beforeAll(async () => {
  place = await home((_resource, tls) => {
    secure = tls;
    return { tls: { resource: tls } };
  });
  pair = await place.start({}, '--workers', '2');
});
afterAll(async () => {
  await Promise.all(Object.values(visitors).map((agent) => agent.close()));
  await pair.kill();
  await place[Symbol.asyncDispose]();
});

/**
 * The processes of the playground (resource server and authorization server), and the folder of their
 * store.
 */
async function processes() {
  const { stdout } = await run('ps', ['-eo', 'pid=,ppid=,args=']);
  const all = stdout.split('\n').map((line) => {
    const [pid, parent, ...args] = line.trim().split(/\s+/);
    return { pid: Number(pid), parent: Number(parent), args: args.join(' ') };
  });
  const own = all.find(({ parent, args }) => parent === pair.pid && args.includes('-playground-'));
  const [, folder = ''] = / (\/\S+-playground-\S+)/.exec(own?.args ?? '') ?? [];
  const authz = all.filter(({ parent }) => parent === own?.pid);
  return { pids: [own ?? [], authz].flat().map(({ pid }) => pid), folder };
}

const isRunning = (pid: number) =>
  run('ps', ['-o', 'stat=', '-p', String(pid)]).then(
    ({ stdout }) => !stdout.startsWith('Z'),
    () => false,
  );

/** Resolves when these processes have ended and their folder is deleted. */
const gone = ({ pids, folder }: Awaited<ReturnType<typeof processes>>) =>
  until(
    async () => !(await Promise.all(pids.map(isRunning))).includes(true) && !existsSync(folder),
  );

/** Each flow has its own visitor address, because an address may run only 20 exchanges at once. */
const visitors = Object.fromEntries(
  ['client-credentials', 'authorization-code', 'device-code'].map((name, at) => [
    name,
    new Agent({ localAddress: `127.0.0.${at + 2}` }),
  ]),
);

/** Sends the form of a page of the playground. */
const send = (name: string, form: Record<string, string>) =>
  fetch(`${place.resource}/playground/${name}`, {
    method: 'POST',
    ...(visitors[name] && { dispatcher: visitors[name] }),
    headers: { Accept: 'text/html', Origin: place.resource, 'Sec-Fetch-Site': 'same-origin' },
    body: new URLSearchParams(form),
  });

/** Runs an exchange of the playground, and returns its page. */
async function perform(name: string, mistake: string): Promise<string> {
  const answer = await send(name, { mistake });
  expect(answer.status).toBe(200);
  return answer.text();
}

const PENDING = 'authorization_pending';
const REVOKED = 'access token: revoked by token';

/**
 * The flows with their mistakes: the last status, and the start of the server's reason for each failed
 * check.
 */
const FLOWS: Readonly<Record<string, Readonly<Record<string, readonly [number, ...string[]]>>>> = {
  'client-credentials': {
    '': [401, REVOKED],
    key: [401, 'invalid_client: signature verification failed'],
    audience: [401, 'invalid_client: audience'],
    replayed: [401, 'invalid_client: client assertion tokens must only be used once'],
    resource: [400, 'invalid_target'],
    scope: [400, 'invalid_scope'],
  },
  'authorization-code': {
    '': [401, REVOKED],
    replayed: [400, 'invalid_grant: authorization code already consumed'],
    verifier: [400, 'invalid_grant: code_verifier does not match code_challenge'],
    stripped: [400, 'invalid_grant: code_verifier must be provided'],
    redirect: [400, 'invalid_grant: authorization code redirect_uri mismatch'],
    callback: [400, 'invalid_request: redirect_uri did not match'],
    injected: [400, 'invalid_grant: code_verifier does not match code_challenge'],
    // The client itself refuses.
    state: [200],
    issuer: [200],
    used: [303, 'invalid_request_uri'],
    challenge: [400, 'invalid_request: code_challenge'],
  },
  'device-code': {
    '': [401, PENDING, REVOKED],
    fast: [400, PENDING, 'slow_down'],
    denied: [400, PENDING, 'access_denied'],
    guessed: [400, 'invalid_grant: device code not found'],
    // The token is revoked at the end.
    twice: [200, PENDING, 'invalid_grant: already used'],
  },
};

/** Runs a flow with the playground's authorization server, without a mistake and with each mistake. */
async function performFlow(name: string): Promise<void> {
  for (const [mistake, expected] of Object.entries(FLOWS[name] ?? {})) {
    const page = await perform(name, mistake);
    const [status, ...reasons] = expected;
    const begins = reasons.map((reason) => expect.stringContaining(reason));
    expect([name, mistake, resultOf(page)]).toEqual([name, mistake, [status, ...begins]]);
    const fields = [...page.matchAll(/^([A-Za-z][\w-]*): /gm)].map(([, field]) => field);
    for (const field of new Set(fields)) expect(page).toContain(`<dt>${field}</dt>`);
    // The result stands at the top. In a flow without a mistake, the final refusal is expected and is no
    // failure.
    const [, glance] = /id="results">\s*<p class="[^"]*">\s*<strong>([^<]*)/.exec(page) ?? [];
    expect([mistake, glance]).toEqual([mistake, mistake === '' ? undefined : 'Refused:']);
  }
}

/** The last status on a page, and the reason of each failed check. */
const resultOf = (page: string) => [
  Number([...page.matchAll(/<pre>HTTP\/1\.1 (\d{3}) /g)].at(-1)?.[1]),
  ...[...page.matchAll(/<br \/><strong>([^<]*)<\/strong>/g)].map(([, reason]) => reason),
];

test('the playground has no process before the first visit', async () => {
  expect((await processes()).pids).toEqual([]);
  const visits = Array.from({ length: 10 }, () => fetch(`${place.resource}/schemes/`));
  expect(new Set((await Promise.all(visits)).map(({ status }) => status))).toEqual(new Set([200]));
  expect((await processes()).pids).toHaveLength(2);
});

test.each(Object.keys(FLOWS))('%s: each mistake gives the result in the table', async (name) => {
  await performFlow(name);
});

test("the playground's account is admitted to its spaces, as docs/how-to/test-your-client.md says", async () => {
  const [commands = ''] = await examples('docs/how-to/test-your-client.md', 'sh playground');
  const here = commands.replaceAll('http://localhost:3001', place.resource).trim();
  for (const command of here.split('\n')) {
    const { stdout } = await run('bash', ['-c', command]);
    expect(JSON.parse(stdout)).toMatchObject({ principal: { name: 'playground' } });
  }
});

test("the page Explain checks the signature of a token of the operator's authorization server", async () => {
  const tour = await readFile(place.firstStart, 'utf8');
  const [, secret = ''] = /demo-machine:(\S+)/.exec(tour) ?? [];
  const form = { grant_type: 'client_credentials', resource: `${place.resource}/documents/` };
  const issued = await fetch(`${place.issuer}/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${Buffer.from(`demo-machine:${secret}`).toString('base64')}` },
    body: new URLSearchParams({ ...form, scope: 'documents:read' }),
  });
  const { access_token: token } = (await issued.json()) as { access_token: string };
  const resultsOf = async (text: string) => {
    const page = await (await send('explain', { text })).text();
    return [...page.matchAll(/<span class="tag[^"]*">([^<]*)</g)]
      .slice(0, 3)
      .map(([, result]) => result);
  };
  expect(await resultsOf(token)).toEqual(['right', 'right', 'right']);
  const changed = token.replace(/\.[^.]*$/, `.${'A'.repeat(86)}`);
  expect(await resultsOf(changed)).toEqual(['right', 'right', 'wrong']);
  // The playground's authorization server has the same name, but this server accepts none of its tokens.
  const page = await perform('client-credentials', '');
  const [, namesake = ''] = /&quot;access_token&quot;:&quot;(ey[^&]+)/.exec(page) ?? [];
  const open = 'only the server can tell';
  expect(await resultsOf(namesake)).toEqual(['right', open, open]);
});

test("the playground's pages and spaces are also at the TLS origin, over HTTP/1.1 and HTTP/2", async () => {
  const own = [`Origin: ${secure}`, 'Sec-Fetch-Site: same-origin', 'Accept: text/html'];
  const curl = async (...args: readonly string[]) =>
    (await run('curl', ['-sk', '-o', '/dev/null', '-w', '%{http_version} %{http_code}', ...args]))
      .stdout;
  for (const [option, version] of [
    ['--http1.1', '1.1'],
    ['--http2', '2'],
  ] as const) {
    const form = own.flatMap((field) => ['-H', field]);
    expect(await curl(option, `${secure}/schemes/`)).toBe(`${version} 200`);
    expect(await curl(option, ...form, '-d', '', `${secure}/playground/hoba`)).toBe(
      `${version} 200`,
    );
    const credentials = ['-u', 'playground:let-me-play'];
    const space = `${secure}/playground/at/basic/`;
    expect(await curl(option, ...credentials, space)).toBe(`${version} 200`);
    expect(await curl(option, space)).toBe(`${version} 401`);
  }
  // A page of the other origin cannot submit the form.
  const foreign = own.with(0, `Origin: ${place.resource}`).flatMap((field) => ['-H', field]);
  expect(await curl(...foreign, '-d', '', `${secure}/playground/hoba`)).toMatch(/ 403$/);
});

test("the playground's process gets the visitor's address from the server only", async () => {
  const forged = [
    'X-Forwarded-For: 192.0.2.1',
    'X-Real-IP: 192.0.2.1',
    'Forwarded: for=192.0.2.1',
    'X-Request-Id: forged',
  ];
  const fields = forged.flatMap((field) => ['-H', field]);
  const url = `${place.resource}/playground/at/trace/`;
  const { stdout } = await run('curl', [
    '-s',
    '-X',
    'TRACE',
    '-u',
    'playground:let-me-play',
    ...fields,
    url,
  ]);
  const received = stdout.split('\r\n').filter((line) => /^(?:x-|forwarded|via)/i.test(line));
  expect(received).toEqual([
    'X-Forwarded-For: 127.0.0.1',
    'X-Forwarded-Proto: https',
    expect.stringMatching(/^X-Request-Id: [\w-]{22}$/),
  ]);
});

test("the operator's store contains nothing of the playground", async () => {
  const clients = await run(process.execPath, ['shared/cli/countersign.js', 'client', 'list'], {
    env: place.env,
  });
  expect(clients.stdout).toContain('demo');
  expect(clients.stdout).not.toContain('layground');
});

test('if its process is killed, the next visit starts the playground again', async () => {
  const before = await processes();
  process.kill(before.pids[0] ?? 0, 'SIGKILL');
  await gone(before);
  await until(async () => (await fetch(`${place.resource}/schemes/`)).status === 200);
  expect((await processes()).pids).toHaveLength(2);
  expect(pair.output).toContain('"event":"playground.ended"');
});

test('if the playground cannot start, its pages answer 503, and the log has the reason', async () => {
  await using other = await home();
  await using running = await other.start({ TMPDIR: `${other.data}/missing` });
  const answer = await fetch(`${other.resource}/schemes/`);
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
  await until(async () => running.output.includes('"event":"playground.ended","reason":"ENOENT'));
  expect((await fetch(other.resource)).status).toBe(200);
});

test('the playground ends with its parent process, even if the parent is killed', async () => {
  const before = await processes();
  expect(before.pids).toHaveLength(2);
  await pair.kill('SIGKILL');
  await gone(before);
});
