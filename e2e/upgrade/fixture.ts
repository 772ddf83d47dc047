import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import type { TokenType } from '#shared/private-token/token-types.ts';
import type { PublicKeyRecord } from '#shared/stores/credentials/public-keys.ts';
import type { Redis } from '../parts/redis.ts';

/** The commits whose code has written a store, each in a folder `from-COMMIT`. */
export type Commit = '8fcad38' | 'f9bf1a6';

/** Milliseconds since the epoch: when the code of before wrote it. */
export const WRITTEN_AT = 1_800_000_000_000;

const fileOf = (commit: Commit, name: string) => join(import.meta.dirname, `from-${commit}`, name);

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

/** The same, with the kinds of rows that commit f9bf1a6 knows and 8fcad38 does not. */
export interface HeldSince extends Held {
  readonly gatewayKids: readonly string[];
  readonly publicKey: PublicKeyRecord;
}

export const held = (commit: Commit, store: 'sqlite' | 'redis'): Held =>
  JSON.parse(readFileSync(fileOf(commit, `${store}.json`), 'utf8')) as Held;

/** A client with a key, which the code of those commits would have written so. Its `x` has a leading zero. */
export const KEYED = {
  client_id: 'robot',
  record: JSON.stringify({
    client_id: 'robot',
    client_name: 'Robot',
    grant_types: ['client_credentials'],
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: {
      keys: [
        {
          kty: 'EC',
          crv: 'P-256',
          alg: 'ES256',
          x: 'AAAAf83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
          y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
        },
      ],
    },
    scope: 'documents:read',
    created_at: 0,
  }),
};

/** A folder with the files of the embedded store. */
export async function formerFolder(commit: Commit): Promise<string> {
  const data = await temporaryFolder();
  for (const file of ['state.db', 'transient.db']) {
    copyFileSync(fileOf(commit, file), join(data, file));
  }
  using state = new DatabaseSync(join(data, 'state.db'));
  state.prepare('INSERT INTO client VALUES (?, ?)').run(KEYED.client_id, KEYED.record);
  return data;
}

/** A key of Redis as it was written. */
export interface FormerKey {
  readonly key: string;
  /** That it has left; undefined: it stays. */
  readonly milliseconds?: number;
  readonly commands: readonly (readonly string[])[];
}

export const formerKeys = (commit: Commit): FormerKey[] =>
  readFileSync(fileOf(commit, 'redis.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as FormerKey);

/** Writes all keys, each to the server that has its slot. */
export async function loadFormerKeys(
  commit: Commit,
  owner: (key: string) => Promise<Redis>,
): Promise<void> {
  await (await owner('cs:clients')).cli('HSET', 'cs:clients', KEYED.client_id, KEYED.record);
  const now = Date.now();
  const moment = (_: string, after: string, micro?: string) =>
    String(micro ? now * 1000 + Number(after) : now + Number(after));
  for (const { key, milliseconds, commands } of formerKeys(commit)) {
    const server = await owner(key);
    for (const command of commands) {
      await server.cli(...command.map((arg) => arg.replace(/^\+(\d+)(us)?$/, moment)));
    }
    if (milliseconds !== undefined) await server.cli('PEXPIRE', key, String(milliseconds));
  }
}
