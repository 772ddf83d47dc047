import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import type { TokenType } from '#shared/private-token/token-types.ts';
import type { Redis } from '../parts/redis.ts';

const FOLDER = join(import.meta.dirname, 'from-8fcad38');

/** Milliseconds since the epoch: when the code of before wrote it. */
export const WRITTEN_AT = 1_800_000_000_000;

interface Device {
  readonly device_code: string;
  readonly user_code: string;
}

/** The codes, tokens and cookies of clients and browsers for a store. */
export interface Held {
  readonly epoch: string;
  readonly kids: readonly string[];
  readonly people: { readonly alice: string; readonly bob: string };
  readonly password: string;
  readonly apiKey: { readonly id: string; readonly key: string };
  readonly tokenKeys: readonly { readonly type: TokenType; readonly id: string }[];
  readonly refreshTokens: Readonly<Record<'unused' | 'used' | 'successor' | 'ended', string>>;
  readonly codes: Readonly<Record<'unused' | 'used', string>>;
  readonly devices: Readonly<Record<'allowed' | 'denied' | 'pending', Device>>;
  readonly requestUri: string;
  readonly interaction: string;
  readonly interactionCookies: readonly string[];
  readonly sessionCookies: readonly string[];
  readonly bobsCookies: readonly string[];
  readonly accessTokens: Readonly<Record<'person' | 'machine' | 'revoked' | 'ended', string>>;
  readonly query: string;
}

export const held = (store: 'sqlite' | 'redis'): Held =>
  JSON.parse(readFileSync(join(FOLDER, `${store}.json`), 'utf8')) as Held;

/** A folder with the files of the embedded store. */
export async function formerFolder(): Promise<string> {
  const data = await temporaryFolder();
  for (const file of ['state.db', 'transient.db']) {
    copyFileSync(join(FOLDER, file), join(data, file));
  }
  return data;
}

/** A key of Redis as it was written. */
export interface FormerKey {
  readonly key: string;
  /** That it has left; undefined: it stays. */
  readonly milliseconds?: number;
  readonly commands: readonly (readonly string[])[];
}

export const formerKeys = (): FormerKey[] =>
  readFileSync(join(FOLDER, 'redis.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as FormerKey);

/** Writes all keys, each to the server that has its slot. */
export async function loadFormerKeys(owner: (key: string) => Promise<Redis>): Promise<void> {
  const now = Date.now();
  const moment = (_: string, after: string, micro?: string) =>
    String(micro ? now * 1000 + Number(after) : now + Number(after));
  for (const { key, milliseconds, commands } of formerKeys()) {
    const server = await owner(key);
    for (const command of commands) {
      await server.cli(...command.map((arg) => arg.replace(/^\+(\d+)(us)?$/, moment)));
    }
    if (milliseconds !== undefined) await server.cli('PEXPIRE', key, String(milliseconds));
  }
}
