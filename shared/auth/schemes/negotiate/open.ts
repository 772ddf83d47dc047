import { open } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { ROOT } from '#shared/base/entry.ts';
import { ConfigError } from '#shared/base/mistake.ts';
import type { NegotiateSettings } from './settings.ts';
import type { Log } from '#shared/base/log.ts';
import type { Gss } from '../parts/gss.ts';
import { type KerberosModule, nativeGss } from './native-gss.ts';

/** Throws if the module was not built, or if the Kerberos libraries are not installed. */
const require = createRequire(new URL('shared/auth/schemes/negotiate/module/package.json', ROOT));
const requireModule = () => require('kerberos') as KerberosModule;

/** Mode bits for writing by group and other users. Reading is not checked: in a container it may be right. */
const WRITABLE = 0o022;
const READABLE = 0o004;

/**
 * Opens the GSS-API for Negotiate. Returns undefined if the configuration does not ask for it, or if the module is
 * not built, which it logs. It writes the keytab's path to `env`, where the library reads it, so `env` must be the
 * environment of this process. Throws `ConfigError` for a keytab that cannot be read or that other users may write.
 */
export async function openGss(
  settings: NegotiateSettings | undefined,
  env: NodeJS.ProcessEnv,
  log: Log,
  load: () => KerberosModule = requireModule,
): Promise<Gss | undefined> {
  if (settings === undefined) return undefined;
  await checkKeytab(settings.keytab, log);
  try {
    const kerberos = load();
    env['KRB5_KTNAME'] = `FILE:${settings.keytab}`;
    return nativeGss(kerberos, settings.service);
  } catch (error) {
    const [reason] = String(error).split('\n');
    log.warn('negotiate.off', { reason, remedy: 'npm run kerberos, then start again' });
    return undefined;
  }
}

async function checkKeytab(file: string, log: Log): Promise<void> {
  const refusal = (message: string) =>
    new ConfigError([{ path: 'negotiate.keytab', message: `${file} ${message}` }]);
  try {
    await using handle = await open(file, 'r');
    const { mode } = await handle.stat();
    if ((mode & WRITABLE) !== 0) throw refusal('may be written by others');
    if ((mode & READABLE) !== 0) log.warn('negotiate.keytab', { reason: 'everybody may read it' });
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw refusal(`cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}
