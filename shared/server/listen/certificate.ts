import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '#shared/base/clock.ts';
import { makeFolder } from '#shared/base/make-folder.ts';
import type { Random } from '#shared/base/random.ts';
import { selfSigned } from './self-signed.ts';
import type { Certificate } from './versions.ts';

/** The hosts by which a browser or a client on this machine may call the server. */
const LOOPBACK = ['localhost', '127.0.0.1', '::1'];
/** Milliseconds before its expiry in which the certificate is replaced. */
const RENEWAL = 30 * 86_400_000;
/** Milliseconds to wait for another process that is making the certificate. */
const PATIENCE = 30_000;

export interface DevelopmentCertificate {
  /**
   * The folder of `certificate.pem`, which clients trust, and `key.pem`; the function creates it if it is missing.
   */
  readonly folder: string;
  /** Hosts of the servers' origins: loopback addresses or names. */
  readonly hosts: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Returns the certificate of a server that only this machine reaches. It is self-signed, and stored in the folder. A
 * new one is made if none is stored, or if the stored certificate expires soon or does not fit. All processes that
 * start at the same time get the same certificate: an SQLite lock admits one at a time, and the system releases the
 * lock if a process dies.
 */
export function developmentCertificate(parts: DevelopmentCertificate): Certificate {
  const { folder, hosts, clock, random } = parts;
  const names = [...new Set([...LOOPBACK, ...hosts.map((host) => host.replaceAll(/[[\]]/g, ''))])];
  makeFolder(folder);
  using lock = new DatabaseSync(join(folder, '.lock'), { timeout: PATIENCE });
  lock.exec('BEGIN EXCLUSIVE');

  const files = { key: join(folder, 'key.pem'), cert: join(folder, 'certificate.pem') };
  const kept = read(files);
  if (kept && fits(kept, names, clock)) return kept;
  const made = selfSigned(names, clock, random);
  for (const part of ['key', 'cert'] as const) {
    const draft = `${files[part]}.new`;
    writeFileSync(draft, made[part], { mode: 0o600, flush: true });
    renameSync(draft, files[part]);
  }
  return made;
}

function read(files: Record<keyof Certificate, string>): Certificate | undefined {
  try {
    return { key: readFileSync(files.key), cert: readFileSync(files.cert) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function fits({ key, cert }: Certificate, names: readonly string[], clock: Clock): boolean {
  try {
    const certificate = new X509Certificate(cert);
    return (
      certificate.checkPrivateKey(createPrivateKey(key)) &&
      certificate.validFromDate.getTime() <= clock.now() &&
      certificate.validToDate.getTime() > clock.now() + RENEWAL &&
      names.every((name) =>
        isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name),
      )
    );
  } catch {
    return false; // one of the files is truncated
  }
}
