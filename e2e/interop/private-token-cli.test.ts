import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { runScript } from '#shared/cli/cli.fixture.ts';
import { decodeBase64url } from '#shared/private-token/base64url.ts';
import { parseToken } from '#shared/private-token/token.ts';
import { TestBrowser } from '../../authz-server/pages/browser.fixture.ts';
import { type Flow, startFlowOn, STORE_KINDS } from '../flows/flow.ts';
import type { Person } from '../parts/pair.ts';
import { startProcess } from '../parts/process.ts';
import { temporaryFolder, type TemporaryFolder } from '../parts/temporary-folder.ts';

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

  get #env(): NodeJS.ProcessEnv {
    return { ...this.#flow.pair.env, HOME: this.#home.path };
  }

  async run(...args: readonly string[]) {
    return runScript([CLI, 'private-token', ...args], this.#env);
  }

  /** Runs a command that asks for a sign-in, and decides on the page that its link leads to. */
  async approve(args: readonly string[], decision: 'allow' | 'deny' = 'allow') {
    await using waiting = await startProcess(process.execPath, [CLI, 'private-token', ...args], {
      env: this.#env,
      ready: (said) => said.includes('Waiting for'),
    });
    const link = /^Open {3}(.+)$/m.exec(waiting.output)?.[1] ?? '';
    const { issuer } = this.#flow.pair;
    const browser = new TestBrowser(issuer, issuer);
    const { name, password } = this.#person;
    const asked = await browser.submit(await browser.open(link), { name, password }, '/sign-in');
    await browser.submit(asked, { decision }, '/device');
    await waiting.exited();
    return { code: waiting.exitCode, said: waiting.output, page: asked.text };
  }

  async tokens(): Promise<readonly string[]> {
    const file = join(this.#home.path, '.config/countersign/private-tokens.json');
    const { tokens } = JSON.parse(await readFile(file, 'utf8')) as { tokens: { token: string }[] };
    return tokens.map(({ token }) => token);
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#home[Symbol.asyncDispose]();
  }
}

describe.each(STORE_KINDS)(
  'on %s: the command line and PrivateToken (RFC 9577, RFC 9578)',
  (kind) => {
    let flow: Flow;
    let person: Person;
    let url: string;
    beforeAll(async () => {
      const limits = { privateTokens: { burst: 6, per: 86_400 } };
      flow = await startFlowOn(kind, { settings: { device: { interval: 1 }, limits } });
      url = `${flow.pair.resourceTls}/schemes/private-token/`;
    }, 60_000);
    beforeEach(async () => {
      person = await flow.pair.addPerson(`person-${randomUUID()}`);
    });
    afterAll(async () => flow?.[Symbol.asyncDispose]());

    const newUser = async () => new User(flow, person, await temporaryFolder());

    test.each(['blind-rsa-2048', 'voprf-p384'])(
      '%s: got in advance, redeemed one by one',
      async (type) => {
        await using user = await newUser();
        const { code, said } = await user.approve(['get', url, '--count', '2', '--type', type]);
        expect([code, said]).toEqual([0, expect.stringContaining('2 of 2 tokens')]);
        expect(said).toContain(`${person.id}, signed in at ${flow.pair.issuer}`);
        const bytes = (await user.tokens()).map((token) => decodeBase64url(token));
        const parsed = bytes.map((token) => token && parseToken(token));

        for (const left of [1, 0]) {
          const { code: exit, stdout, stderr } = await user.run('redeem', url);
          expect([exit, stderr]).toEqual([0, expect.stringContaining('HTTP 200')]);
          expect(stdout).toContain('anonymous');
          expect(stdout).not.toContain(person.name);
          expect(await user.tokens()).toHaveLength(left);
        }

        const logs = [...flow.pair.resources, ...flow.pair.authz].map(({ log }) => log).join('');
        for (const token of parsed) {
          if (token === undefined) throw new Error('not a token');
          for (const secret of [token.nonce, token.authenticator, token.challengeDigest]) {
            for (const encoding of ['hex', 'base64', 'base64url'] as const) {
              expect(logs).not.toContain(secret.toString(encoding));
            }
          }
        }
        const { log } = flow.pair.resources[0] ?? { log: '' };
        expect(log).toContain('/schemes/private-token/');
        expect(log).not.toContain(person.id);
      },
      60_000,
    );

    test('redeem gets a token itself, at the origin in clear of this machine as well', async () => {
      await using user = await newUser();
      const clear = `${flow.pair.resource}/schemes/private-token/`;
      const { code, said } = await user.approve(['redeem', clear]);
      expect([code, said]).toEqual([0, expect.stringContaining('HTTP 200')]);
      expect(said).toContain('anonymous');
    }, 60_000);

    test('beside other schemes: /schemes/all/ takes the tokens of the same origin', async () => {
      await using user = await newUser();
      await user.approve(['get', url]);
      const all = `${flow.pair.resourceTls}/schemes/all/`;
      const { code, stdout } = await user.run('redeem', all, '--json');
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({
        status: 200,
        learned: { issuer: { asked: 'nothing' } },
      });
    }, 60_000);

    test('a quota that ends halfway (429) leaves the tokens before it', async () => {
      await using user = await newUser();
      const { code, said } = await user.approve(['get', url, '--count', '8']);
      expect([code, said]).toEqual([1, expect.stringContaining('6 of 8 tokens')]);
      expect(said).toMatch(/answers 429: no more tokens for this person now; try again in \d+ s/);
      expect(await user.tokens()).toHaveLength(6);
    }, 60_000);

    test('RFC 8628 section 3.5: denied on the page, and no token is issued', async () => {
      await using user = await newUser();
      const { code, said } = await user.approve(['get', url], 'deny');
      expect([code, said]).toEqual([1, expect.stringContaining('The request was denied.')]);
      await expect(user.tokens()).rejects.toThrow('ENOENT');
    }, 60_000);

    test('five processes at once: each its own token', async () => {
      await using user = await newUser();
      await user.approve(['get', url, '--count', '5']);
      const ended = await Promise.all(
        Array.from({ length: 5 }, async () => user.run('redeem', url)),
      );
      expect(ended.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
      expect(await user.tokens()).toEqual([]);
    }, 60_000);

    test('the files of the pair hold no token', async () => {
      await using user = await newUser();
      await user.approve(['get', url]);
      const [token = ''] = await user.tokens();
      const nonce = parseToken(decodeBase64url(token) ?? Buffer.alloc(0))?.nonce ?? Buffer.alloc(0);
      expect(nonce).toHaveLength(32);
      await user.run('redeem', url);
      const files = await readdir(flow.pair.data, { recursive: true, withFileTypes: true });
      for (const file of files.filter((one) => one.isFile())) {
        const content = await readFile(join(file.parentPath, file.name));
        for (const encoded of [nonce, nonce.toString('hex'), nonce.toString('base64url')]) {
          expect(content.includes(encoded)).toBe(false);
        }
      }
    }, 60_000);
  },
);
