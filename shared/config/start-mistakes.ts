import { createPrivateKey, X509Certificate } from 'node:crypto';
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigError, type Mistake } from '#shared/base/mistake.ts';
import {
  type Holds,
  LISTED_PATH_SETTINGS,
  memberAt,
  PATH_SETTINGS,
  type PathSetting,
} from './path-settings.ts';
import type { Config } from './schema.ts';
import { findMasterSecret } from './secret.ts';
import type { ServerName } from './server-name.ts';
import { namedByVariable } from './variables.ts';

/**
 * Returns the mistakes that keep these servers from starting on this machine although the configuration is right by
 * itself: files and folders that are missing, cannot be read or hold something else, and the master secret. Creates
 * nothing. `broken`: top-level members that have mistakes of their own, of which nothing is told here.
 */
export async function startMistakes(
  config: Config,
  env: NodeJS.ProcessEnv,
  servers: readonly ServerName[],
  broken: ReadonlySet<string> = new Set(),
): Promise<readonly Mistake[]> {
  const here = ({ openedBy }: PathSetting) => openedBy === undefined || servers.includes(openedBy);
  const wrong = (settings: readonly PathSetting[], object: unknown, prefix = '') =>
    settings.filter(here).flatMap(({ members, holds }) => {
      const path = memberAt(object, members);
      const message = typeof path === 'string' ? CHECKS[holds](path) : undefined;
      return message === undefined ? [] : [{ path: prefix + members.join('.'), message }];
    });
  const files = [
    ...wrong(PATH_SETTINGS, config),
    ...(['spaces', 'sources'] as const).flatMap((list) =>
      config[list].flatMap((element, index) =>
        wrong(LISTED_PATH_SETTINGS[list], element, `${list}.${index}.`),
      ),
    ),
    ...unfitKeys(config, here),
  ];
  // Members with mistakes may decide whether a secret is needed.
  const secret = SECRET_READS.some((member) => broken.has(member))
    ? []
    : await secretMistakes(config, env);
  const found = [...files.filter(({ path }) => !broken.has(path.split('.')[0] ?? '')), ...secret];
  return namedByVariable(found, env);
}

const SECRET_READS = ['data', 'issuer', 'resource', 'listen', 'tls', 'privateTokens'] as const;

/** Throws `ConfigError` with what keeps a server from starting. */
export async function checkStart(...parts: Parameters<typeof startMistakes>): Promise<void> {
  const mistakes = await startMistakes(...parts);
  if (mistakes.length > 0) throw new ConfigError(mistakes);
}

/** Checks a path by the kind that it must lead to. Returns the mistake, or undefined. */
const CHECKS: Readonly<Record<Holds, (path: string) => string | undefined>> = {
  folder: noFolder,
  file: (path) => unreadable(path),
  certificate: (path) =>
    unreadable(path, (content) => new X509Certificate(content), 'no certificate'),
  key: (path) => unreadable(path, (content) => createPrivateKey(content), 'no private key'),
};

function unreadable(
  file: string,
  parse: (content: Buffer) => unknown = () => {},
  none = '',
): string | undefined {
  let content: Buffer;
  try {
    content = readFileSync(file);
  } catch (error) {
    return `is ${file}, which cannot be read (${codeOf(error)}): correct the path or its permissions`;
  }
  try {
    parse(content);
  } catch {
    return `is ${file}, in which ${none} can be read: name a file with one in PEM`;
  }
  return undefined;
}

/** Says why the start could not make a missing folder within its nearest existing parent. */
function noFolder(folder: string): string | undefined {
  try {
    if (!statSync(folder).isDirectory()) return `is ${folder}, which is a file: name a folder`;
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return noFolder(dirname(folder));
    return code === 'ENOTDIR'
      ? `is within a file: ${dirname(folder)} is no folder`
      : `needs ${folder}, which cannot be written (${code}): correct its permissions`;
  }
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? String(error);

/** Returns a mistake for each private key that does not match its certificate. */
function unfitKeys(config: Config, here: (setting: PathSetting) => boolean): readonly Mistake[] {
  return PATH_SETTINGS.filter((setting) => setting.holds === 'key' && here(setting)).flatMap(
    ({ members }) => {
      const certificate = memberAt(config, [...members.slice(0, -1), 'certificate']);
      const key = memberAt(config, members);
      if (typeof certificate !== 'string' || typeof key !== 'string') return [];
      if (CHECKS.certificate(certificate) || CHECKS.key(key)) return [];
      const fits = new X509Certificate(readFileSync(certificate)).checkPrivateKey(
        createPrivateKey(readFileSync(key)),
      );
      const message = `is ${key}, which is not the key of ${certificate}: name the two that belong together`;
      return fits ? [] : [{ path: members.join('.'), message }];
    },
  );
}

async function secretMistakes(config: Config, env: NodeJS.ProcessEnv): Promise<readonly Mistake[]> {
  try {
    await findMasterSecret(config, env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes;
    throw error;
  }
}
