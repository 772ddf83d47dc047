import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type * as z from 'zod';
import { withEnvironment } from './environment.ts';
import { issueMistakes } from './issue-mistakes.ts';
import { issueWords } from '#shared/base/issue-words.ts';
import { inFileOrder } from './file-order.ts';
import { ConfigError, type Mistake } from '#shared/base/mistake.ts';
import { parseStrictJson, StrictJsonError } from '#shared/base/strict-json.ts';
import { knownMembers } from './known-members.ts';
import {
  LISTED_PATH_SETTINGS,
  memberAt,
  PATH_SETTINGS,
  type PathSetting,
} from './path-settings.ts';
import { RULES } from './rules.ts';
import { type Config, configSchema } from './schema.ts';
import { openToDemo, withTour } from './tour.ts';
import { namedByVariable } from './variables.ts';

/** The configuration, as far as the file and the environment could be read. */
export interface ReadConfig {
  /** The settings. A setting with a mistake has its default here. */
  readonly config: Config;
  /** The mistakes, in the order of the file. */
  readonly mistakes: readonly Mistake[];
  /** Top-level members that have a mistake by themselves. */
  readonly broken: ReadonlySet<string>;
  /** The members of the file. */
  readonly members: Readonly<Record<string, unknown>>;
}

/** Reads the configuration. Throws a `ConfigError` with every mistake. */
export async function loadConfig(env: NodeJS.ProcessEnv): Promise<Config> {
  const { config, mistakes } = await readConfig(env);
  if (mistakes.length > 0) throw new ConfigError(mistakes, env['COUNTERSIGN_CONFIG']);
  return config;
}

/**
 * Reads the configuration. The environment (environment.ts) takes precedence over the JSON file that
 * `COUNTERSIGN_CONFIG` names, and that over the defaults. Without `spaces` the tour is added. `data` becomes an
 * absolute path. Throws `ConfigError` if the file is no JSON object.
 */
export async function readConfig(env: NodeJS.ProcessEnv): Promise<ReadConfig> {
  const file = await readMembers(env['COUNTERSIGN_CONFIG']);
  const environment = await withEnvironment(env, file);
  const { members } = environment;

  const issues = configSchema.safeParse(members, { error: issueWords }).error?.issues ?? [];
  const broken = new Set(issues.flatMap(brokenMembers));
  for (const member of broken) delete members[member];

  const parsed = configSchema.parse(members);
  const config = 'spaces' in members ? parsed : openToDemo(withTour(parsed));
  const mistakes = [
    ...environment.mistakes,
    ...issues.flatMap((issue) => issueMistakes(issue, membersAt)),
    ...RULES.filter((rule) => !rule.reads.some((member) => broken.has(member)))
      .flatMap((rule) => rule.check(config, env))
      .filter(({ path }) => !broken.has(path.split('.')[0] ?? '')),
  ];
  return {
    config: { ...config, data: resolve(config.data) },
    mistakes: inFileOrder(namedByVariable(mistakes, env), file),
    broken,
    members: file,
  };
}

/** Returns the names of the settings at a path. */
const membersAt = (path: readonly PropertyKey[]) => knownMembers(configSchema, path);

/** The file's members. */
async function readMembers(file: string | undefined): Promise<Record<string, unknown>> {
  if (!file) return {};
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw unread(
      `cannot read ${resolve(file)} (${error.code}): correct the path or its permissions`,
    );
  });
  const members = parseJson(file, text);
  if (typeof members !== 'object' || members === null || Array.isArray(members)) {
    throw unread(`${file} must hold one JSON object`);
  }
  return fromFolder(dirname(file), members);
}

/** Resolves the paths in the file, which are relative to its folder. */
function fromFolder(folder: string, members: object): Record<string, unknown> {
  const copy = structuredClone(members) as Record<string, unknown>;
  resolvePaths(folder, copy, PATH_SETTINGS);
  for (const [list, settings] of Object.entries(LISTED_PATH_SETTINGS)) {
    const elements: readonly unknown[] = Array.isArray(copy[list]) ? copy[list] : [];
    for (const element of elements) resolvePaths(folder, element, settings);
  }
  return copy;
}

function resolvePaths(folder: string, object: unknown, settings: readonly PathSetting[]): void {
  for (const { members } of settings) {
    const value = memberAt(object, members);
    if (typeof value !== 'string' || value === '') continue;
    const holder = memberAt(object, members.slice(0, -1)) as object;
    Object.assign(holder, { [members.at(-1) ?? '']: resolve(folder, value) });
  }
}

function parseJson(file: string, text: string): unknown {
  try {
    return parseStrictJson(text);
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    const { path, message, cause } = error;
    if (path.length > 0) throw new ConfigError([{ path: path.join('.'), message }], file);
    throw unread(`${file} ${message}: ${(cause as Error).message}`);
  }
}

const unread = (message: string) => new ConfigError([{ path: 'COUNTERSIGN_CONFIG', message }]);

/** Returns the top-level members that an issue is about. */
function brokenMembers(issue: z.core.$ZodIssue): string[] {
  if (issue.path.length > 0) return [String(issue.path[0])];
  return issue.code === 'unrecognized_keys' ? issue.keys : [];
}
