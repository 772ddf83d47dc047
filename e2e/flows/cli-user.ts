import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Ended } from '#shared/cli/cli.fixture.ts';
import { TestBrowser } from '../../authz-server/integration/browser.fixture.ts';
import { runCommand } from '../pair/command-line.ts';
import type { Around } from '../pair/command-line.ts';
import type { Person } from '../pair/pair.ts';
import { entryFile } from '../parts/entry.ts';
import { until } from '../parts/process.ts';
import { temporaryFolder, type TemporaryFolder } from '../parts/temporary-folder.ts';
import type { Flow } from './flow.ts';

const CLI = entryFile('shared/cli/main.ts');

/** Runs a command as a process. */
export async function runProcess(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  { hear = () => {} }: Around = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [CLI, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    hear(text);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    hear(text);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

/** A user of the command line with a HOME folder, and with a browser for approvals. */
export class CliUser implements AsyncDisposable {
  readonly #flow: Flow;
  readonly #person: Person;
  readonly #home: TemporaryFolder;
  readonly #run: typeof runCommand;

  constructor(flow: Flow, person: Person, home: TemporaryFolder, run: typeof runCommand) {
    this.#flow = flow;
    this.#person = person;
    this.#home = home;
    this.#run = run;
  }

  /** `run`: `runProcess` for tests that need a process. */
  static async start(flow: Flow, person: Person, run = runCommand): Promise<CliUser> {
    return new CliUser(flow, person, await temporaryFolder(), run);
  }

  get home(): string {
    return this.#home.path;
  }

  get #env(): NodeJS.ProcessEnv {
    return { ...this.#flow.pair.env, HOME: this.home };
  }

  /** A file of the command line in the user's HOME folder. */
  file(name: string): string {
    return join(this.home, '.config/countersign', name);
  }

  async kept(name: string): Promise<unknown> {
    return JSON.parse(await readFile(this.file(name), 'utf8')) as unknown;
  }

  /** Runs a command to its end. `said`: the output of both streams. */
  async run(...args: readonly string[]) {
    const ran = await this.#run(args, this.#env);
    return { ...ran, said: ran.stdout + ran.stderr };
  }

  /** Runs a command that asks for a sign-in, and decides on the linked page. */
  async approve(args: readonly string[], decision: 'allow' | 'deny' = 'allow') {
    let said = '';
    const ending = this.#run(args, this.#env, { hear: (text) => (said += text) });
    await until(() => said.includes('Waiting for'));
    const link = /^Open {3}(.+)$/m.exec(said)?.[1] ?? '';
    const { issuer } = this.#flow.pair;
    const browser = new TestBrowser(issuer, issuer);
    const { name, password } = this.#person;
    const asked = await browser.submit(await browser.open(link), { name, password }, '/sign-in');
    expect(asked.text).toContain(/^Code {3}(.+)$/m.exec(said)?.[1]);
    expect((await browser.submit(asked, { decision }, '/device')).status).toBe(200);
    const { code } = await ending;
    return { code, said, page: asked.text };
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#home[Symbol.asyncDispose]();
  }
}
