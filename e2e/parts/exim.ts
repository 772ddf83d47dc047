/** @needs exim4 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { type RunningProcess, startProcess } from './process.ts';
import { temporaryFolder, type TemporaryFolder } from './temporary-folder.ts';

const USER = { name: 'countersign', password: 'that-of-the-mail-server' };

/** Delivers no mail: accepted messages stay in the queue. */
const configuration = (path: string, port: number) => `
exim_user = ${userInfo().uid}
exim_group = ${userInfo().gid}
spool_directory = ${path}/spool
log_file_path = ${path}/spool/%slog
pid_file_path = ${path}/exim.pid
primary_hostname = localhost
keep_environment =
queue_only = true
local_interfaces = 127.0.0.1
daemon_smtp_ports = ${port}
tls_on_connect_ports = ${port}
tls_advertise_hosts = *
tls_certificate = ${path}/cert.pem
tls_privatekey = ${path}/key.pem
auth_advertise_hosts = *
acl_smtp_rcpt = rcpt
acl_smtp_data = accept

begin acl
rcpt:
  require authenticated = *
  defer condition = \${if exists{${path}/later}}
  deny local_parts = refused
  accept

begin routers
none:
  driver = accept
  transport = none

begin transports
none:
  driver = appendfile
  file = /dev/null

begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_condition = \${if and{{eq{$auth2}{${USER.name}}}{eq{$auth3}{${USER.password}}}}}
`;

/** The certificate of `localhost` and its key, in PEM. */
interface Certificate {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

/**
 * Debian's Exim as a mail server with TLS and AUTH on a loopback port, with its own configuration and
 * queue.
 */
export class Exim implements AsyncDisposable {
  /** The setting `mail` for this server. */
  readonly mail: Readonly<Record<string, unknown>>;
  readonly #folder: TemporaryFolder;
  #process: RunningProcess | undefined;

  constructor(folder: TemporaryFolder, port: number) {
    this.#folder = folder;
    this.mail = {
      host: 'localhost',
      port,
      tls: 'implicit',
      ca: join(folder.path, 'cert.pem'),
      user: USER.name,
      passwordFile: join(folder.path, 'password'),
      from: 'accounts@example.com',
    };
  }

  /** Starts the server, also after `kill`, with the same port and queue. */
  async start(): Promise<void> {
    const configured = join(this.#folder.path, 'exim.conf');
    this.#process = await startProcess('/usr/sbin/exim4', ['-C', configured, '-bdf', '-v'], {
      ready: (output) => output.includes('daemon started'),
    });
  }

  async kill(): Promise<void> {
    await this.#process?.kill('SIGKILL');
  }

  /** Sends SIGSTOP: the kernel accepts connections, but no answer comes. */
  hang(): void {
    this.#process?.signal('SIGSTOP');
  }

  /** Sends SIGCONT. */
  wake(): void {
    this.#process?.signal('SIGCONT');
  }

  /** Makes the server answer 4xx to every recipient, or not. */
  async defer(defers: boolean): Promise<void> {
    const file = join(this.#folder.path, 'later');
    await (defers ? writeFile(file, '') : rm(file, { force: true }));
  }

  /** The accepted messages to an address: envelope, fields and text. */
  async messagesTo(address: string): Promise<readonly string[]> {
    const queue = join(this.#folder.path, 'spool', 'input');
    const names = await readdir(queue).catch(() => []);
    const all = await Promise.all(
      names
        .filter((name) => name.endsWith('-H'))
        .map(async (name) => {
          const files = [name, name.replace(/H$/, 'D')].map((file) => join(queue, file));
          return (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join('\n');
        }),
    );
    return all.filter((text) => text.split('\n').includes(address));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process?.[Symbol.asyncDispose]();
    await this.#folder[Symbol.asyncDispose]();
  }
}

export async function startExim({ cert, key }: Certificate): Promise<Exim> {
  const folder = await temporaryFolder();
  const port = await freePort();
  await mkdir(join(folder.path, 'spool'));
  const files = {
    'cert.pem': cert,
    'key.pem': key,
    password: USER.password,
    'exim.conf': configuration(folder.path, port),
  };
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder.path, name), text, { mode: 0o600 });
  }
  const exim = new Exim(folder, port);
  await exim.start();
  return exim;
}
