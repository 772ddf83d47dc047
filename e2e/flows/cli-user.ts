import { expect } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runScript } from '#shared/cli/cli.fixture.ts';
import { TestBrowser } from '../../authz-server/pages/browser.fixture.ts';
import type { Person } from '../pair/pair.ts';
import { entryFile } from '../parts/entry.ts';
import { startProcess } from '../parts/process.ts';
import { temporaryFolder, type TemporaryFolder } from '../parts/temporary-folder.ts';
import type { Flow } from './flow.ts';

const CLI = entryFile('shared/cli/main.ts');

/** A user of the command line: a home of their own, and the browser in which they approve. */
export class CliUser implements AsyncDisposable {
  readonly #flow: Flow;
  readonly #person: Person;
  readonly #home: TemporaryFolder;

  constructor(flow: Flow, person: Person, home: TemporaryFolder) {
    this.#flow = flow;
    this.#person = person;
    this.#home = home;
  }

  static async start(flow: Flow, person: Person): Promise<CliUser> {
    return new CliUser(flow, person, await temporaryFolder());
  }

  get #env(): NodeJS.ProcessEnv {
    return { ...this.#flow.pair.env, HOME: this.#home.path };
  }

  /** Where the command line keeps something of this user. */
  file(name: string): string {
    return join(this.#home.path, '.config/countersign', name);
  }

  async kept(name: string): Promise<unknown> {
    return JSON.parse(await readFile(this.file(name), 'utf8')) as unknown;
  }

  /** Runs a command to its end. `said`: to whichever stream. */
  async run(...args: readonly string[]) {
    const ran = await runScript([CLI, ...args], this.#env);
    return { ...ran, said: ran.stdout + ran.stderr };
  }

  /** Runs a command that asks for a sign-in, and decides on the page that its link leads to. */
  async approve(args: readonly string[], decision: 'allow' | 'deny' = 'allow') {
    await using waiting = await startProcess(process.execPath, [CLI, ...args], {
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
    return { code: waiting.exitCode, said: waiting.output, page: asked.text };
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#home[Symbol.asyncDispose]();
  }
}
