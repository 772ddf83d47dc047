/** @needs openssl psql */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';
import { startProcess, until } from './process.ts';
import type { RunningProcess } from './process.ts';
import type { Relay } from './relay.ts';
import { memoryFolder } from './temporary-folder.ts';
import type { TemporaryFolder } from './temporary-folder.ts';

const run = promisify(execFile);

/** The folder of Debian's server programs, which are not in PATH. */
const BIN = '/usr/lib/postgresql/15/bin';

const ROOT = process.getuid?.() === 0;

/** An empty cluster, for this user to copy. */
const EMPTY = new URL(
  `../../node_modules/.cache/postgres-15-${process.getuid?.()}`,
  import.meta.url,
).pathname;

export interface PostgresOptions {
  /** The primary that this standby copies and then follows. */
  readonly standbyOf?: Postgres;
  /** The relay to that primary. */
  readonly through?: Relay;
  /** Further lines of postgresql.conf. */
  readonly settings?: readonly string[];
  /** The superuser's password for SCRAM; default: there is none. A standby has its primary's. */
  readonly password?: string;
  /** Use TLS with a self-signed certificate for `localhost` (`certificate`). */
  readonly tls?: boolean;
  /** The language of messages, such as `de`; default: English. */
  readonly language?: string;
  /** Put only the tables on a separate disk of this many MiB, which is lost after `kill`. */
  readonly disk?: number;
}

/** A PostgreSQL server on a loopback port with its own folder. Commits wait for the disk. */
export class Postgres implements AsyncDisposable {
  readonly port: number;
  /** The superuser's URL. */
  readonly url: string;
  /** The name of this standby for `synchronous_standby_names`. */
  readonly name: string;
  readonly #folder: TemporaryFolder;
  readonly #disk: number | undefined;
  readonly #language: string;
  #process: RunningProcess | undefined;

  constructor(
    port: number,
    folder: TemporaryFolder,
    { password, disk, language = 'en' }: PostgresOptions,
  ) {
    this.port = port;
    const user = password === undefined ? 'postgres' : `postgres:${password}`;
    this.url = `postgres://${user}@127.0.0.1:${port}/postgres`;
    this.name = `standby_${port}`;
    this.#folder = folder;
    this.#disk = disk;
    this.#language = language;
  }

  /** Starts the server, also after `kill`, with the same port and data. */
  async start(): Promise<void> {
    const [command, ...args] = this.#command;
    this.#process = await startProcess(command, args, {
      env: { ...process.env, LANGUAGE: this.#language },
      ready: async () => (await this.sql('SELECT 1')) === '1',
    });
    if (this.#disk === undefined) return;
    await this.sql(`CREATE TABLESPACE disk LOCATION '${this.#ownDisk}'`);
    await this.sql('ALTER DATABASE postgres SET default_tablespace = disk');
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** Like a crash of the machine, except that the disk keeps everything given to the system. */
  async kill(): Promise<void> {
    const children = await this.#children();
    await this.#process?.kill('SIGKILL');
    for (const pid of children) end(pid, 'SIGKILL');
    await until(async () => (await Promise.all(children.map(isGone))).every(Boolean));
  }

  /** Sends SIGSTOP to all its processes: the kernel accepts connections, but no answer comes. */
  async hang(): Promise<void> {
    this.#process?.signal('SIGSTOP');
    for (const pid of await this.#children()) end(pid, 'SIGSTOP');
  }

  /** Sends SIGCONT to all its processes. */
  async wake(): Promise<void> {
    for (const pid of await this.#children()) end(pid, 'SIGCONT');
    this.#process?.signal('SIGCONT');
  }

  /** Runs a statement as the superuser (`psql`). */
  sql(statement: string): Promise<string> {
    return psql(this.url, statement);
  }

  /** Makes a standby the primary, whatever the former primary does. */
  async promote(): Promise<void> {
    await this.sql('SELECT pg_promote()');
  }

  /** From now on each commit waits until this standby has written it to disk. */
  async waitFor(standby: Postgres): Promise<void> {
    await this.sql(`ALTER SYSTEM SET synchronous_standby_names = '${standby.name}'`);
    await this.sql('SELECT pg_reload_conf()');
    const states = `SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'`;
    await until(async () => (await this.sql(states)) === '1');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await this.#folder[Symbol.asyncDispose]();
  }

  /** The file of its certificate. */
  get certificate(): string {
    return join(this.#folder.path, 'server.crt');
  }

  get #data(): string {
    return join(this.#folder.path, 'data');
  }

  get #ownDisk(): string {
    return join(this.#folder.path, 'disk');
  }

  get #command(): [string, ...string[]] {
    const server = [join(BIN, 'postgres'), '-D', this.#data] as const;
    if (this.#disk === undefined) return asPostgres(...server);
    const mount = 'mkdir "$1" && mount -t tmpfs -o "size=$2m" tmpfs "$1"';
    // In a name space without root it is ours as root, and then as ourselves.
    const [alone, own, after] = ROOT
      ? [[], ' && chown postgres "$1"', asPostgres(...server)]
      : [['--map-root-user'], '', ['unshare', '--map-user=1000', ...server]];
    const script = `${mount}${own} && shift 2 && exec "$@"`;
    const first = ['sh', '-c', script, 'sh', this.#ownDisk, String(this.#disk)];
    return ['unshare', '--mount', ...alone, ...first, ...after];
  }

  async #children(): Promise<number[]> {
    const pid = this.#process?.running === true ? this.#process.pid : undefined;
    if (pid === undefined) return [];
    const list = await readFile(`/proc/${pid}/task/${pid}/children`, 'latin1');
    return list.split(' ').filter(Boolean).map(Number);
  }

  /** Makes its data: an empty cluster, or a copy of a primary. */
  async make({ standbyOf, through, settings = [], password, tls }: PostgresOptions): Promise<void> {
    // The server refuses to run as root.
    if (ROOT) await run('chown', ['postgres', this.#folder.path]);
    const port = through === undefined ? standbyOf?.port : new URL(through.url).port;
    if (standbyOf === undefined) await this.#makeEmpty(password);
    else {
      const url = `postgres://postgres@127.0.0.1:${port}/postgres?application_name=${this.name}`;
      await carryOut('pg_basebackup', '-D', this.#data, '-R', '-c', 'fast', '-d', url);
    }
    const ssl = tls === true ? await this.#certified() : [];
    const lines = [
      `port = ${this.port}`,
      "listen_addresses = '127.0.0.1'",
      "unix_socket_directories = ''",
      'shared_buffers = 32MB',
      // Only `C` has no translations.
      "lc_messages = 'C.UTF-8'",
      // Shared memory in its folder, because a killed server would leave other shared memory behind.
      'dynamic_shared_memory_type = mmap',
      ...ssl,
      ...settings,
    ];
    await appendFile(join(this.#data, 'postgresql.conf'), `${lines.join('\n')}\n`);
  }

  /** Copies the first cluster if there is no password, because making a cluster takes ten times as long. */
  async #makeEmpty(password: string | undefined): Promise<void> {
    if (password === undefined && existsSync(EMPTY)) {
      await run('cp', ['-a', EMPTY, this.#data]);
      return;
    }
    const file = password && (await this.#file('password', password));
    const asking = file === undefined ? [] : ['-A', 'scram-sha-256', '--pwfile', file];
    const form = ['--no-sync', '-E', 'UTF8', '--locale=C'];
    await carryOut('initdb', '-D', this.#data, ...form, ...asking);
    if (password !== undefined) return;
    const own = `${EMPTY}-${process.pid}`;
    await mkdir(dirname(own), { recursive: true });
    await run('cp', ['-a', this.#data, own]);
    // Another process may have made it first.
    await rename(own, EMPTY).catch(() => rm(own, { recursive: true }));
  }

  /** Makes a certificate. Resolves to the settings that name it and its key. */
  async #certified(): Promise<readonly string[]> {
    const key = await this.#file('server.key', '');
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc'];
    const about = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    const files = ['-keyout', key, '-out', this.certificate];
    await run('openssl', ['req', '-x509', ...kind, ...about, ...files]);
    return ['ssl = on', `ssl_key_file = '${key}'`, `ssl_cert_file = '${this.certificate}'`];
  }

  /** Writes a file that only the server can read. Resolves to its path. */
  async #file(name: string, content: string): Promise<string> {
    const path = join(this.#folder.path, name);
    await writeFile(path, content, { mode: 0o600 });
    if (ROOT) await run('chown', ['postgres', path]);
    return path;
  }
}

/**
 * Runs a statement by a URL. Returns psql's output without headings: `|` between columns, a line for each
 * row.
 */
export async function psql(url: string, statement: string): Promise<string> {
  // Debian's /usr/bin/psql is a script that first looks for a server.
  const { stdout } = await run(join(BIN, 'psql'), ['-XAtq', '-c', statement, url]);
  return stdout.trimEnd();
}

export async function startPostgres(options: PostgresOptions = {}): Promise<Postgres> {
  const postgres = new Postgres(await freePort(), await memoryFolder(), options);
  try {
    await postgres.make(options);
    await postgres.start();
    return postgres;
  } catch (error) {
    await postgres[Symbol.asyncDispose]();
    throw error;
  }
}

/** The command under the user of Debian's package, if this process is root. */
function asPostgres(command: string, ...args: readonly string[]): [string, ...string[]] {
  if (!ROOT) return [command, ...args];
  return ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', command, ...args];
}

/** Runs one of the server's programs. */
async function carryOut(program: string, ...args: readonly string[]): Promise<void> {
  const [command, ...all] = asPostgres(join(BIN, program), ...args);
  await run(command, all);
}

/** Sends the signal, if the process exists. */
function end(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended.
  }
}

/** Whether a process has ended, even if its parent does not know yet (proc(5)). */
const isGone = (pid: number): Promise<boolean> =>
  readFile(`/proc/${pid}/stat`, 'latin1').then(
    (stat) => stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z'),
    () => true,
  );
