/** @needs kadmin.local kinit krb5kdc */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';
import { startProcess } from './process.ts';
import type { RunningProcess } from './process.ts';
import { memoryFolder } from './temporary-folder.ts';
import type { TemporaryFolder } from './temporary-folder.ts';

const run = promisify(execFile);
const PATH = `${process.env['PATH']}:/usr/sbin:/sbin`;

export interface KdcOptions {
  /** The first realm has the services. People of other realms reach them by trust. */
  readonly realms?: readonly [string, ...string[]];
  /** Host-based services of the first realm, such as `HTTP/localhost`. */
  readonly services?: readonly string[];
}

/** MIT Kerberos key distribution centres with their own folder, on one loopback port. */
export class Kdc implements AsyncDisposable {
  readonly realms: readonly [string, ...string[]];
  /** The keytab with the keys of all services. */
  readonly keytab: string;
  /** The environment in which programs use only these centres. */
  readonly env: NodeJS.ProcessEnv;
  readonly #folder: TemporaryFolder;
  #process: RunningProcess | undefined;
  #tickets = 0;

  constructor(folder: TemporaryFolder, realms: readonly [string, ...string[]]) {
    const file = (name: string) => join(folder.path, name);
    this.realms = realms;
    this.keytab = file('services.keytab');
    this.env = {
      PATH,
      KRB5_CONFIG: file('krb5.conf'),
      KRB5_KDC_PROFILE: file('kdc.conf'),
    };
    this.#folder = folder;
  }

  async start(): Promise<void> {
    const port = await freePort();
    const { path } = this.#folder;
    const stanzas = (lines: (realm: string) => readonly string[]) =>
      this.realms.flatMap((realm) => [`${realm} = {`, ...lines(realm), '}']);
    await writeFile(
      join(path, 'krb5.conf'),
      text(
        '[libdefaults]',
        `default_realm = ${this.realms[0]}`,
        'dns_lookup_kdc = false',
        'dns_lookup_realm = false',
        'dns_canonicalize_hostname = false',
        'rdns = false',
        'udp_preference_limit = 1',
        '[realms]',
        ...stanzas(() => [`kdc = 127.0.0.1:${port}`]),
        '[domain_realm]',
        `localhost = ${this.realms[0]}`,
        `127.0.0.1 = ${this.realms[0]}`,
      ),
    );
    await writeFile(
      join(path, 'kdc.conf'),
      text(
        '[kdcdefaults]',
        `kdc_listen = 127.0.0.1:${port}`,
        `kdc_tcp_listen = 127.0.0.1:${port}`,
        '[realms]',
        ...stanzas((realm) => [
          `database_name = ${join(path, realm, 'principal')}`,
          `key_stash_file = ${join(path, realm, 'stash')}`,
          `acl_file = ${join(path, realm, 'acl')}`,
        ]),
        '[logging]',
        'kdc = STDERR',
      ),
    );
    for (const realm of this.realms) {
      await mkdir(join(path, realm));
      await this.#run('kdb5_util', ['-r', realm, '-P', 'master', 'create', '-s']);
    }
    for (const realm of this.realms.slice(1)) await this.#trust(realm);
    this.#process = await startProcess(
      'krb5kdc',
      ['-n', ...this.realms.flatMap((realm) => ['-r', realm])],
      { env: this.env, ready: (output) => output.includes('commencing operation') },
    );
  }

  /** Lets people of `realm` get tickets for services of the first realm: both realms share a key. */
  async #trust(realm: string): Promise<void> {
    for (const side of [this.realms[0], realm]) {
      await this.#admin(side, `addprinc -pw trust krbtgt/${this.realms[0]}@${realm}`);
    }
  }

  /** Adds a service of the first realm, and its key to the keytab. */
  async addService(name: string): Promise<void> {
    await this.#admin(this.realms[0], `addprinc -randkey ${name}`);
    await this.#admin(this.realms[0], `ktadd -k ${this.keytab} ${name}`);
  }

  /**
   * Signs a person in; returns the environment of programs that use the tickets. `principal` includes its
   * realm, such as `alice@EXAMPLE.COM`, and is added if it is missing.
   */
  async signIn(principal: string): Promise<NodeJS.ProcessEnv> {
    const realm = principal.slice(principal.lastIndexOf('@') + 1);
    const keytab = join(this.#folder.path, `${encodeURIComponent(principal)}.keytab`);
    await this.#admin(realm, `addprinc -randkey ${principal}`).catch(() => undefined);
    await this.#admin(realm, `ktadd -norandkey -k ${keytab} ${principal}`);
    this.#tickets += 1;
    const env = { ...this.env, KRB5CCNAME: join(this.#folder.path, `tickets-${this.#tickets}`) };
    await run('kinit', ['-k', '-t', keytab, principal], { env });
    return env;
  }

  async #admin(realm: string, query: string): Promise<void> {
    const { stderr } = await this.#run('kadmin.local', ['-r', realm, '-q', query]);
    const failed = stderr.split('\n').filter((line) => /^[\w.]+: /.test(line));
    if (failed.length > 0) throw new Error(failed.join('\n'));
  }

  #run(command: string, args: readonly string[]) {
    return run(command, args, { env: this.env });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process?.kill();
    await this.#folder[Symbol.asyncDispose]();
  }
}

const text = (...lines: readonly string[]) => `${lines.join('\n')}\n`;

/** Starts the centres; resolves when they answer. */
export async function startKdc({
  realms = ['EXAMPLE.COM'],
  services = ['HTTP/localhost'],
}: KdcOptions = {}): Promise<Kdc> {
  const kdc = new Kdc(await memoryFolder(), realms);
  try {
    await kdc.start();
    for (const service of services) await kdc.addService(service);
    return kdc;
  } catch (error) {
    await kdc[Symbol.asyncDispose]();
    throw error;
  }
}
