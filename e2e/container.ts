/** @needs ip curl */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Image } from './image.ts';
import { type RunningProcess, startProcess, until } from './parts/process.ts';
import { temporaryFolder } from './parts/temporary-folder.ts';

const run = promisify(execFile);

/** The options of `docker run` that the tests use. */
export interface ContainerOptions {
  /** In place of the image's command. */
  readonly command?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** By default the user of the image. */
  readonly user?: number;
  /** A folder that is mounted at /data. */
  readonly volume: string;
  readonly volumeReadOnly?: boolean;
}

/**
 * Prepares the files of the image as an engine for containers does, read-only but for the volume and /tmp, waits for the
 * network, and becomes the command.
 */
const PREPARE = `
mount --bind "$FILES" "$FILES"
mount --rbind /dev "$FILES/dev"
mount -t proc proc "$FILES/proc"
mount -t tmpfs tmpfs "$FILES/tmp"
mount --bind "$VOLUME" "$FILES/data"
[ "$READ_ONLY" = no ] || mount -o remount,ro,bind "$FILES/data"
mount -o remount,ro,bind "$FILES"
ip link set lo up
echo prepared
until [ -e "$GO" ]; do sleep 0.05; done
exec chroot --userspec="$OWNER:$OWNER" --groups= "$FILES" "$@"
`;

/** The address that its client reaches a container by: 198.18.0.0/15 is for tests of networks (RFC 2544). */
const ADDRESS = '198.18.0.2';

/** A container of the image: processes with files, a network and numbers of their own, of which ours is number 1. */
export class Container implements AsyncDisposable {
  readonly #outside: RunningProcess;
  readonly #image: Image;
  readonly #user: number;
  readonly #env: readonly string[];
  readonly #client: RunningProcess;

  constructor(
    outside: RunningProcess,
    client: RunningProcess,
    image: Image,
    { user, env }: { user: number; env: readonly string[] },
  ) {
    this.#outside = outside;
    this.#client = client;
    this.#image = image;
    this.#user = user;
    this.#env = env;
  }

  get output(): string {
    return this.#outside.output;
  }

  get exitCode(): number | null {
    return this.#outside.exitCode;
  }

  /** `docker stop`, without its patience. */
  async stop(): Promise<void> {
    process.kill(await firstOf(this.#outside), 'SIGTERM');
    await this.#outside.exited();
  }

  async exited(): Promise<void> {
    await this.#outside.exited();
  }

  /** `docker exec`: resolves to the output; rejects if the command fails. */
  async exec(command: readonly string[]): Promise<string> {
    const user = String(this.#user);
    const inside = [
      '--target',
      String(await firstOf(this.#outside)),
      '--mount',
      '--net',
      '--pid',
      '--root',
    ];
    const { WorkingDir: folder } = this.#image.settings;
    const { stdout } = await run(
      'nsenter',
      [...inside, '-S', user, '-G', user, 'env', '-i', '-C', folder, ...this.#env, ...command],
      { env: { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin' } },
    );
    return stdout;
  }

  /** Asks from the network of the client, as a client of a published port does. */
  async ask(port: number, path: string, headers: Readonly<Record<string, string>> = {}, form = '') {
    const fields = Object.entries({ host: `localhost:${port}`, ...headers });
    const { stdout } = await run('nsenter', [
      `--target=${this.#client.pid}`,
      '--net',
      'curl',
      '--silent',
      '--show-error',
      '--write-out',
      '\n%{http_code}',
      ...fields.flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
      ...(form === '' ? [] : ['--data', form]),
      `http://${ADDRESS}:${port}${path}`,
    ]);
    const at = stdout.lastIndexOf('\n');
    return { status: Number(stdout.slice(at + 1)), text: stdout.slice(0, at) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await end(this.#outside);
    await this.#client.kill();
  }
}

/** The number on this machine of the process that is number 1 in the container; 0 if there is none. */
async function firstOf({ pid = 0 }: RunningProcess): Promise<number> {
  return Number(await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => ''));
}

/** With number 1 all processes of the container end. They would outlive the one that started it. */
async function end(outside: RunningProcess): Promise<void> {
  const first = await firstOf(outside);
  if (outside.running && first !== 0) process.kill(first, 'SIGKILL');
  await outside.kill();
}

/** Runs the image as `docker run` does. Resolves once its command runs. */
export async function runImage(image: Image, options: ContainerOptions): Promise<Container> {
  const { User, Entrypoint, Cmd, WorkingDir, Env } = image.settings;
  const user = options.user ?? Number(User === 'node' ? 1000 : User);
  const env = [
    ...Env,
    ...Object.entries(options.env ?? {}).map(([name, value]) => `${name}=${value}`),
  ];
  await using told = await temporaryFolder();
  const go = join(told.path, 'go');
  const command = [...Entrypoint, ...(options.command ?? Cmd)];
  const namespaces = ['--mount', '--net', '--pid', '--fork'];
  const inside = ['env', '-i', '-C', WorkingDir, ...env, ...command];
  const outside = await startProcess(
    'unshare',
    [...namespaces, 'sh', '-ec', PREPARE, 'sh', ...inside],
    {
      env: {
        PATH: process.env['PATH'],
        FILES: image.files,
        VOLUME: options.volume,
        READ_ONLY: options.volumeReadOnly ? 'yes' : 'no',
        GO: go,
        OWNER: String(user),
      },
      ready: (output) => output.includes('prepared'),
    },
  );
  const client = await startProcess('unshare', ['--net', 'sh', '-c', 'echo there; exec sleep 1h'], {
    ready: (output) => output.includes('there'),
  });
  try {
    await connect(client.pid ?? 0, outside.pid ?? 0);
    await writeFile(go, '');
    await until(async () => {
      const first = await firstOf(outside);
      const name = await readFile(`/proc/${first}/comm`, 'utf8').catch(() => 'ended');
      return !['sh', 'chroot', 'env', 'sleep'].includes(name.trim());
    });
    return new Container(outside, client, image, { user, env });
  } catch (error) {
    await end(outside);
    await client.kill();
    throw error;
  }
}

/**
 * Connects the networks of two processes, neither of which is the machine's: Chromium breaks off its requests when a
 * network of the machine changes, those of other tests, too. Linux removes both ends with the processes.
 */
async function connect(client: number, container: number): Promise<void> {
  const within = (pid: number, ...args: readonly string[]) =>
    run('nsenter', ['--target', String(pid), '--net', 'ip', ...args]);
  const there = String(container);
  await within(client, 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'eth0', 'netns', there);
  await within(client, 'addr', 'add', '198.18.0.1/30', 'dev', 'eth0');
  await within(client, 'link', 'set', 'eth0', 'up');
  await within(container, 'addr', 'add', `${ADDRESS}/30`, 'dev', 'eth0');
  await within(container, 'link', 'set', 'eth0', 'up');
}
