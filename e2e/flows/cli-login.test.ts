import { randomUUID } from 'node:crypto';
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '#shared/clock.ts';
import { runScript } from '#shared/cli/cli.fixture.ts';
import { loadProver } from '#shared/cli/oauth/dpop.ts';
import { send } from '#shared/cli/oauth/http.ts';
import { type Login, loginSchema } from '#shared/cli/oauth/login.ts';
import { sendWithToken } from '#shared/cli/oauth/protected-request.ts';
import { systemRandom } from '#shared/random.ts';
import { TestBrowser } from '../../authz-server/pages/browser.fixture.ts';
import type { Person } from '../parts/pair.ts';
import { startProcess, until } from '../parts/process.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';
import type { TemporaryFolder } from '../parts/temporary-folder.ts';
import { startFlowOn, STORE_KINDS } from './flow.ts';
import type { Flow } from './flow.ts';

const CLI = new URL('../../shared/cli/main.ts', import.meta.url).pathname;

/** A user of the command line: a home of their own, and the browser in which they approve. */
class User implements AsyncDisposable {
  readonly #flow: Flow;
  readonly #person: Person;
  readonly #home: TemporaryFolder;

  constructor(flow: Flow, person: Person, home: TemporaryFolder) {
    this.#flow = flow;
    this.#person = person;
    this.#home = home;
  }

  get file(): string {
    return join(this.#home.path, '.config/countersign/login.json');
  }

  async login() {
    return loginSchema.parse(JSON.parse(await readFile(this.file, 'utf8')));
  }

  /** Runs a command to its end. */
  async run(...args: readonly string[]): Promise<{ code: number | null; said: string }> {
    const { code, stdout, stderr } = await runScript([CLI, ...args], this.#env);
    return { code, said: stdout + stderr };
  }

  /** Runs `login`, and decides on the page that its link leads to. */
  async logIn(
    decision: 'allow' | 'deny' = 'allow',
  ): Promise<{ code: number | null; said: string }> {
    await using waiting = await startProcess(process.execPath, [CLI, 'login'], {
      env: this.#env,
      ready: (said) => said.includes('Waiting for'),
    });
    const link = /^Open {3}(.+)$/m.exec(waiting.output)?.[1] ?? '';
    const { issuer } = this.#flow.pair;
    const browser = new TestBrowser(issuer, issuer);
    const { name, password } = this.#person;
    const asked = await browser.submit(await browser.open(link), { name, password }, '/sign-in');
    expect(asked.text).toContain(/^Code {3}(.+)$/m.exec(waiting.output)?.[1]);
    expect((await browser.submit(asked, { decision }, '/device')).status).toBe(200);
    await waiting.exited();
    return { code: waiting.exitCode, said: waiting.output };
  }

  get #env(): NodeJS.ProcessEnv {
    return { ...this.#flow.pair.env, HOME: this.#home.path };
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#home[Symbol.asyncDispose]();
  }
}

describe.each(STORE_KINDS)('on %s: the command line as a client (RFC 8628)', (kind) => {
  let flow: Flow;
  /** Somebody new for each test: the codes that one person enters are limited. */
  let person: Person;
  beforeAll(async () => {
    const settings = { tokens: { lifetime: 12, skew: 0 }, device: { interval: 1 } };
    flow = await startFlowOn(kind, { settings });
  }, 60_000);
  beforeEach(async () => {
    person = await flow.pair.addPerson(`person-${randomUUID()}`);
  });
  afterAll(async () => flow?.[Symbol.asyncDispose]());

  /** Asks for the documents with the token and key of a login, past the command line. */
  async function statusWith({ access_token: accessToken, private_jwk }: Login) {
    const url = flow.pair.documents;
    const prover = await loadProver(private_jwk, systemClock, systemRandom);
    const access = { accessToken, prover, resource: url };
    return async () => (await sendWithToken(send, { method: 'GET', url }, access)).status;
  }

  const newUser = async () => new User(flow, person, await temporaryFolder());

  test('a plain login is enough for the documents of the tour', async () => {
    await using user = await newUser();
    const { pair } = flow;
    const { code, said } = await user.logIn();
    expect([code, said]).toEqual([0, expect.stringContaining(`Logged in at ${pair.issuer}`)]);
    expect(said).toContain('a phone cannot reach 127.0.0.1');

    const who = JSON.parse((await user.run('whoami', '--json')).said) as unknown;
    expect(who).toMatchObject({
      issuer: pair.issuer,
      sub: person.id,
      name: person.name,
      client_id: 'demo-device',
      resource: pair.documents,
    });
    const url = `${pair.documents}cli-${kind}.txt`;
    const put = ['request', 'PUT', url, '--header', 'content-type: text/plain', '--data'];
    expect(await user.run(...put, 'by a person')).toMatchObject({ code: 0 });
    const got = await user.run('request', 'GET', url);
    expect(got).toMatchObject({ code: 0, said: expect.stringContaining('by a person') });
  }, 30_000);

  test('RFC 6749 section 6: a token that has expired is replaced by the next command', async () => {
    await using user = await newUser();
    await user.logIn();
    const before = await user.login();
    const status = await statusWith(before);
    await until(async () => (await status()) === 401);
    expect(await user.run('request', 'GET', flow.pair.documents)).toMatchObject({ code: 0 });
    const after = await user.login();
    expect(after.access_token).not.toBe(before.access_token);
    expect(after.private_jwk).toEqual(before.private_jwk);
  }, 40_000);

  test('RFC 7009 section 2.1: after logout its token is refused at once', async () => {
    await using user = await newUser();
    await user.logIn();
    const status = await statusWith(await user.login());
    expect(await status()).toBe(200);
    expect(await user.run('logout')).toMatchObject({ code: 0 });
    expect(await status()).toBe(401);
    expect(await user.run('whoami')).toMatchObject({
      code: 1,
      said: expect.stringContaining('run countersign login'),
    });
  }, 30_000);

  test('a second login ends the first, and only that', async () => {
    await using user = await newUser();
    await using neighbour = await newUser();
    await neighbour.logIn();
    await user.logIn();
    const status = await statusWith(await user.login());
    expect(await user.logIn()).toMatchObject({ code: 0 });
    expect(await status()).toBe(401);
    expect(await user.run('whoami')).toMatchObject({ code: 0 });
    expect(await neighbour.run('whoami')).toMatchObject({ code: 0 });
  }, 30_000);

  test('a login that the operator ended: the next command says so', async () => {
    await using user = await newUser();
    await user.logIn();
    await flow.pair.cli('user', 'end', person.name);
    expect(await user.run('whoami')).toMatchObject({
      code: 1,
      said: expect.stringContaining('has ended: run countersign login'),
    });
    expect(await user.run('logout')).toMatchObject({ code: 0 });
  }, 30_000);

  test('section 3.5: denied on the page', async () => {
    await using user = await newUser();
    const { code, said } = await user.logIn('deny');
    expect([code, said]).toEqual([1, expect.stringContaining('The request was denied.')]);
    await expect(readFile(user.file)).rejects.toThrow('ENOENT');
  }, 30_000);

  test('a file that others may read is not used', async () => {
    await using user = await newUser();
    await user.logIn();
    await chmod(user.file, 0o644);
    expect(await user.run('request', 'GET', flow.pair.documents)).toMatchObject({
      code: 1,
      said: expect.stringContaining(`chmod 600 ${user.file}`),
    });
  }, 30_000);
});
